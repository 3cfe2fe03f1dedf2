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


def test_shared_memory_is_garbage_at_first(build):
    kernel = build("""
    extern "C" __global__ void k(int* out)
    {
        __shared__ int kept[32];
        out[threadIdx.x + 32 * blockIdx.x] = kept[threadIdx.x];
        kept[threadIdx.x] = 0;
    }""")
    assert (run(kernel, 32, grid=(2,)) != 0).all()


# ---- blocks that run at a time


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("interleave", [0, 3])
def test_each_block_has_its_own_shared_memory(tmp_path, order, interleave):
    (tmp_path / "k.cu").write_text("""
    template <class T> __device__ T& sum() { __shared__ T all; return all; }
    extern "C" __global__ void k(int* out)
    {
        extern __shared__ int kept[];
        __shared__ int own;
        if (threadIdx.x == 0) own = sum<int>() = blockIdx.x;
        kept[threadIdx.x] = 0;
        for (int n = 0; n < 5; n++) {
            int share = __syncthreads_count(threadIdx.x <= blockIdx.x);
            kept[threadIdx.x] += share * own;
            atomicAdd(&sum<int>(), __shfl_sync(~0u, own, 3));
        }
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = kept[threadIdx.x] + sum<int>();
    }""")
    device = EmulatedDevice(order, interleave=interleave, resident_blocks=4)
    out = device.xp.zeros((9, 40), np.int32)
    device.kernel(tmp_path / "k.cu", "k")((9,), (40,), (out,), shared_mem=160)
    block = np.arange(9)
    right = 5 * (block + 1) * block + block + 5 * 40 * block
    np.testing.assert_array_equal(out, np.repeat(right[:, None], 40, axis=1))


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


def test_warp_function_with_other_masks_is_divergent(build):
    kernel = build("""
    extern "C" __global__ void k(int* out)
    {
        out[threadIdx.x] = __ballot_sync(threadIdx.x < 16 ? 0xffffffff : 0xffff0000, 1);
        __syncthreads();
    }""")
    with pytest.raises(KernelFault, match="divergent barrier"):
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


def test_dynamic_shared_memory_and_constants(build):
    kernel = build("""
    __constant__ int offset[2] = {10, 20};
    extern "C" __global__ void k(int* out)
    {
        extern __shared__ int kept[];
        kept[threadIdx.x] = threadIdx.x + offset[threadIdx.x & 1];
        __syncthreads();
        out[threadIdx.x] = kept[threadIdx.x ^ 1];
    }""")
    out = np.zeros(8, np.int32)
    kernel((1,), (8,), (out,), shared_mem=32)
    assert out.tolist() == [21, 10, 23, 12, 25, 14, 27, 16]
    with pytest.raises(KernelFault, match="28 bytes of dynamic shared memory"):
        kernel((1,), (8,), (out,), shared_mem=28)


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


def test_arithmetic(build):
    lines = "\n".join(f"out[{i}] = {expression};" for i, expression in enumerate(EXPRESSIONS))
    results = np.zeros(len(EXPRESSIONS), np.int32)
    build(f'extern "C" __global__ void k(int* out) {{ {lines} }}')((1,), (1,), (results,))
    assert dict(zip(EXPRESSIONS, results.tolist())) == EXPRESSIONS


def test_grid_and_block_in_three_dimensions(build):
    kernel = build("""
    extern "C" __global__ void k(int* out)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
        int n = blockIdx.z * blockDim.z + threadIdx.z;
        int ni = gridDim.x * blockDim.x, nj = gridDim.y * blockDim.y;
        out[(n * nj + j) * ni + i] += 100 * n + 10 * j + i;
    }""")
    out = np.zeros((2, 6, 8), np.int32)
    kernel((2, 3, 1), (4, 2, 2), (out,))
    n, j, i = np.indices(out.shape)
    np.testing.assert_array_equal(out, 100 * n + 10 * j + i)


COPY = 'extern "C" __global__ void __launch_bounds__(64) k(const short* in, float s, short* out) {}'


@pytest.mark.parametrize(
    ("args", "culprit"),
    [
        ((np.zeros(4, np.int16), np.float32(1)), "takes 3 arguments"),
        ((np.zeros(4, np.int32), np.float32(1), np.zeros(4, np.int16)), "argument 0"),
        ((np.zeros(4, np.int16), 1.0, np.zeros(4, np.int16)), "argument 1"),
        ((np.zeros(4, np.int16), np.int32(1), np.zeros(4, np.int16)), "argument 1"),
        ((np.zeros(4, np.int16), np.float32(1), np.zeros(4, np.float16)), "argument 2"),
        ((np.zeros(8, np.int16)[::2], np.float32(1), None), "not contiguous"),
    ],
)
def test_wrong_arguments_are_refused(build, args, culprit):
    with pytest.raises(TypeError, match=culprit):
        build(COPY)((1,), (1,), args)


@pytest.mark.parametrize(("grid", "block"), [((1,), (65,)), ((0,), (1,)), ((1, 70000), (1,))])
def test_impossible_launches_are_refused(build, grid, block):
    with pytest.raises(ValueError, match="k:"):
        build(COPY)(grid, block, (None, np.float32(1), None))


@pytest.mark.parametrize("index", [-1, 10])
def test_write_outside_of_an_array_is_reported(build, index):
    kernel = build('extern "C" __global__ void k(short* out, int i) { out[i] = 7; }')
    with pytest.raises(KernelFault, match="outside of its argument 0"):
        kernel((1,), (1,), (EmulatedDevice().xp.zeros(10, np.int16), np.int32(index)))


def test_arrays_of_the_device(cpu_cuda):
    volume = np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-1]
    there = cpu_cuda.put(volume)
    assert there.flags.c_contiguous
    there += 1
    np.testing.assert_array_equal(cpu_cuda.get(there), volume + 1)
    assert (cpu_cuda.xp.empty(50, np.uint8) != 0).all()
    assert cpu_cuda.xp.zeros((2, 3), np.float32).sum() == 0
    assert cpu_cuda.xp.full(3, 7, np.int64).tolist() == [7, 7, 7]


def test_source_that_does_not_compile(build):
    with pytest.raises(RuntimeError, match=r"k\.cu:1.*undeclared"):
        build('extern "C" __global__ void k(int* out) { undeclared = 1; }')


@pytest.mark.parametrize("seed", range(3))
def test_interleaved_threads_lose_updates(tmp_path, seed):
    """Without atomics two threads read the same number, and one of their additions is lost."""
    (tmp_path / "k.cu").write_text("""
    extern "C" __global__ void k(int* racy, int* safe)
    {
        racy[0] = racy[0] + 1;
        atomicAdd(safe, 1);
    }""")
    results = []
    for interleave in (0, 2):
        device = EmulatedDevice(seed, interleave=interleave)
        racy, safe = device.xp.zeros((2, 1), np.int32)
        device.kernel(tmp_path / "k.cu", "k")((1,), (256,), (racy, safe))
        assert safe[0] == 256
        results.append(racy[0])
    assert results[0] == 256
    assert results[1] < 256


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
