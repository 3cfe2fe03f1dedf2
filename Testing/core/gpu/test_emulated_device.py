"""The stand-in that runs CUDA kernels on the CPU, tested by kernels whose results are known."""

import numpy as np
import pytest

from emulators.cuda import EmulatedDevice, KernelFault, what_is_missing

pytestmark = pytest.mark.skipif(bool(what_is_missing()), reason=str(what_is_missing()))

ORDERS = ("ascending", "descending", 1, 2)


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


REVERSE = """
extern "C" __global__ void k(int* out)
{
    __shared__ int kept[64];
    kept[threadIdx.x] = threadIdx.x;
    BARRIER;
    out[threadIdx.x] = kept[63 - threadIdx.x];
}"""


@pytest.mark.parametrize("order", ORDERS)
def test_barrier_separates_writes_from_reads(build, order):
    kernel = build(REVERSE, order, ["BARRIER=__syncthreads()"])
    np.testing.assert_array_equal(run(kernel, 64), np.arange(64)[::-1])


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


def test_divergent_barrier_is_reported(build):
    kernel = build("""
    extern "C" __global__ void k(int* out)
    {
        if (threadIdx.x < 3)
            __syncthreads();
        out[threadIdx.x] = 1;
    }""")
    with pytest.raises(KernelFault, match=r"29 returned, thread 0 at __syncthreads \(line 5\)"):
        run(kernel, 32)
    with pytest.raises(KernelFault):  # the fault leaves nothing behind
        run(kernel, 32)


def test_products_and_sums_are_rounded_one_by_one(build):
    kernel = build("""
    extern "C" __global__ void k(const float* a, float* out)
    {
        out[0] = a[0] * a[1] + a[2];
        out[1] = __fadd_rn(__fmul_rn(a[0], a[1]), a[2]);
        out[2] = (float)__fma_rn(a[0], a[1], a[2]);
        out[3] = a[3] * 0.5f;  // subnormal
    }""")
    a = np.array([1 + 2**-12, 1 + 2**-12, -1 - 2**-11, 2**-140], np.float32)
    out = np.zeros(4, np.float32)
    kernel((1,), (1,), (a, out))
    assert out.tolist() == [0, 0, 2.0**-24, 2.0**-141]


@pytest.mark.parametrize("index", [-1, 10])
def test_write_outside_of_an_array_is_reported(build, index):
    kernel = build('extern "C" __global__ void k(short* out, int i) { out[i] = 7; }')
    with pytest.raises(KernelFault, match="outside of its argument 0"):
        kernel((1,), (1,), (EmulatedDevice().xp.zeros(10, np.int16), np.int32(index)))


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
