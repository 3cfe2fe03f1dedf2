"""The stand-in that runs CUDA kernels on the CPU, tested by kernels whose results are known."""

import numpy as np
import pytest

from emulators.cuda import EmulatedDevice, KernelFault, what_is_missing

pytestmark = pytest.mark.skipif(bool(what_is_missing()), reason=str(what_is_missing()))


def run(folder, source, *args, descending=False):
    """Run the kernel `k` of a source with one int32 array for the results of 64 threads."""
    (folder / "k.cu").write_text(source)
    device = EmulatedDevice(descending)
    out = device.xp.zeros(64, np.int32)
    device.kernel(folder / "k.cu", "k")((1,), (64,), (*args, out))
    return out


def test_missing_barrier_shows_in_one_order(tmp_path):
    shift = """
    extern "C" __global__ void k(int* out)
    {
        __shared__ int kept[64];
        kept[threadIdx.x] = threadIdx.x;
        out[threadIdx.x] = threadIdx.x ? kept[threadIdx.x - 1] : 0;
    }"""
    right = np.maximum(np.arange(64) - 1, 0)
    np.testing.assert_array_equal(run(tmp_path, shift), right)
    assert (run(tmp_path, shift, descending=True) != right).any()


def test_write_outside_of_an_array_is_reported(tmp_path):
    source = 'extern "C" __global__ void k(int i, int* out) { out[i] = 1; }'
    for at in (-1, 64):
        with pytest.raises(KernelFault, match="outside of its argument 1"):
            run(tmp_path, source, np.int32(at))
