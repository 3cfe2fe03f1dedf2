"""The stand-in that runs CUDA kernels on the CPU, tested by kernels whose results are known."""

import numpy as np
import pytest

from emulators.cuda import EmulatedDevice, KernelFault, what_is_missing

pytestmark = pytest.mark.skipif(bool(what_is_missing()), reason=str(what_is_missing()))


@pytest.fixture
def build(tmp_path):
    """Write a kernel's source and take the kernel `k` from it, on a device of the wanted order."""

    def build(source, order="ascending", defines=()):
        path = tmp_path / "k.cu"
        path.write_text(source)
        return EmulatedDevice(order).kernel(path, "k", defines)

    return build


def run(kernel, threads, *args, grid=(1,)):
    """Launch with one int32 array for the results, a number per thread; return it."""
    out = EmulatedDevice().xp.zeros(threads * int(np.prod(grid)), np.int32)
    kernel(grid, (threads,), (*args, out))
    return out


def test_missing_barrier_shows_in_one_order(build):
    shift = """
    extern "C" __global__ void k(int* out)
    {
        __shared__ int kept[64];
        kept[threadIdx.x] = threadIdx.x;
        out[threadIdx.x] = threadIdx.x ? kept[threadIdx.x - 1] : 0;
    }"""
    right = np.maximum(np.arange(64) - 1, 0)
    np.testing.assert_array_equal(run(build(shift, "ascending"), 64), right)
    assert (run(build(shift, "descending"), 64) != right).any()


# ---- blocks that run at a time


def test_a_race_between_blocks_shows(tmp_path):
    (tmp_path / "k.cu").write_text("""
    extern "C" __global__ void k(volatile int* out)
    {
        for (int n = 0; n < 10; n++) *out = *out + 1;
    }""")

    def count(resident_blocks):
        device = EmulatedDevice(1, interleave=2, resident_blocks=resident_blocks)
        out = device.xp.zeros(1, np.int32)
        device.kernel(tmp_path / "k.cu", "k")((4,), (1,), (out,))
        return out[0]

    assert count(resident_blocks=1) == 40
    assert count(resident_blocks=4) < 40


# ---- threads that do not meet


@pytest.mark.parametrize(("index", "where"), [(-1, "byte -2 of"), (10, "byte 20 of")])
def test_read_outside_of_an_array_is_reported(tmp_path, index, where):
    device = EmulatedDevice(interleave=4)
    (tmp_path / "k.cu").write_text(
        'extern "C" __global__ void k(const short* in, int i, int* out) { *out = in[i]; }'
    )
    kernel = device.kernel(tmp_path / "k.cu", "k")
    out = device.xp.zeros(1, np.int32)
    with pytest.raises(KernelFault, match=where):
        kernel((1,), (1,), (device.xp.zeros(10, np.int16), np.int32(index), out))
