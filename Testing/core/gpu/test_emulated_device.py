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


# What each of 64 threads gets from a barrier or a warp function; t is the thread's number.
MEETINGS = {
    "__syncthreads_or(t == 17)": lambda t: t * 0 + 1,
    "__syncthreads_or(t > 99)": lambda t: t * 0,
    "__syncthreads_count(t < 17)": lambda t: t * 0 + 17,
    "__shfl_sync(~0u, t, 5)": lambda t: t // 32 * 32 + 5,
    "__shfl_sync(~0u, t, 5, 8)": lambda t: t // 8 * 8 + 5,
    "__shfl_up_sync(~0u, t, 3)": lambda t: np.where(t % 32 < 3, t, t - 3),
    "__shfl_down_sync(~0u, t, 3)": lambda t: np.where(t % 32 > 28, t, t + 3),
    "__shfl_down_sync(~0u, t, 3, 16)": lambda t: np.where(t % 16 > 12, t, t + 3),
    "__shfl_xor_sync(~0u, t, 9)": lambda t: t ^ 9,
    "__ballot_sync(~0u, t % 5 == 0) != 0": lambda t: t * 0 + 1,
    "__popc(__ballot_sync(~0u, t < 40))": lambda t: np.where(t < 32, 32, 8),
    "__any_sync(~0u, t == 40)": lambda t: t // 32,
}


@pytest.mark.parametrize("order", ORDERS)
def test_meetings(build, order):
    calls = "\n".join(f"out[{64 * i} + t] = {call};" for i, call in enumerate(MEETINGS))
    kernel = build(
        f'extern "C" __global__ void k(int* out) {{ int t = threadIdx.x; {calls} }}', order
    )
    out = np.zeros((len(MEETINGS), 64), np.int32)
    kernel((1,), (64,), (out,))
    for row, (call, right) in zip(out, MEETINGS.items()):
        np.testing.assert_array_equal(row, right(np.arange(64)), err_msg=call)


@pytest.mark.parametrize("type_", [np.int32, np.uint32, np.uint64])
def test_atomics(build, type_):
    name = {np.int32: "int", np.uint32: "unsigned", np.uint64: "unsigned long long"}[type_]
    kernel = build(
        """
    extern "C" __global__ void k(T* out)
    {
        T v = threadIdx.x + blockIdx.x * blockDim.x + 1;
        atomicAdd(&out[0], v);
        atomicMax(&out[1], v);
        atomicMin(&out[2], v);
        atomicOr(&out[3], v);
        atomicAnd(&out[4], v | 8);
        T seen = out[5], before;
        while ((before = atomicCAS(&out[5], seen, seen + 2 * v)) != seen)
            seen = before;
        out[7 + v] = atomicExch(&out[6], v);
    }""",
        1,
        [f"T={name}"],
    )
    out = np.zeros(8 + 96, type_)
    out[2] = out[4] = 127
    kernel((3,), (32,), (out,))
    numbers = np.arange(1, 97)
    total = numbers.sum()
    assert out[:6].tolist() == [total, 96, 1, np.bitwise_or.reduce(numbers), 8, 2 * total]
    # What was exchanged went from hand to hand: each number came out once, one is still inside.
    assert sorted([*out[8:], out[6]]) == list(range(97))


def test_products_and_sums_are_rounded_one_by_one(build):
    kernel = build("""
    extern "C" __global__ void k(const float* a, float* out)
    {
        out[0] = a[0] * a[1] + a[2];
        out[1] = __fadd_rn(__fmul_rn(a[0], a[1]), a[2]);
        out[2] = __fmaf_rn(a[0], a[1], a[2]);
        out[3] = a[3] * 0.5f;  // subnormal
    }""")
    a = np.array([1 + 2**-12, 1 + 2**-12, -1 - 2**-11, 2**-140], np.float32)
    out = np.zeros(4, np.float32)
    kernel((1,), (1,), (a, out))
    assert out.tolist() == [0, 0, 2.0**-24, 2.0**-141]


EXPRESSIONS = {
    "__float_as_uint(1.0f)": 0x3F800000,
    "__int_as_float(0x40000000) == 2": 1,
    "__popc(0xf0f0)": 8,
    "__ffs(8)": 4,
    "__ffs(0)": 0,
    "__clz(1)": 31,
    "__clz(0)": 32,
    "min(3, 5u)": 3,
    "max(-1, 2u) == 0xffffffffu": 1,
    "max(1.5f, 1) == 1.5f": 1,
}


COPY = 'extern "C" __global__ void __launch_bounds__(64) k(const short* in, float s, short* out) {}'


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
