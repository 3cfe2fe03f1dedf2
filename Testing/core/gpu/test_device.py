"""Device selection, the messages where CUDA cannot be used, and the memory of a run."""

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import DeviceError, DeviceMemoryError
from FuzzyVesselCoreLib.gpu import device as device_module
from FuzzyVesselCoreLib.gpu import kernels
from FuzzyVesselCoreLib.gpu.device import choose_device, on_device_or_cpu, reset_cuda_status
from FuzzyVesselCoreLib.gpu.kernels import architecture_for, compile_kernels, read_source


@pytest.fixture(autouse=True)
def _no_cached_status():
    reset_cuda_status()
    yield
    reset_cuda_status()


class CUDARuntimeError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


class FakePool:
    """A memory pool that gives everything."""

    malloc = free_all_blocks = total_bytes = used_bytes = free_bytes = lambda self, *_: 0


@pytest.fixture
def fake_cupy(monkeypatch):
    """CuPy for CUDA 13 on a machine with two GPUs."""
    cupy = ModuleType("cupy")

    def make_device(ordinal):
        device = nullcontext()
        device.mem_info = (1000, 1000)
        return device

    runtime = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=lambda: 2,
        runtimeGetVersion=lambda: 13020,
        getDeviceProperties=lambda ordinal: {"name": b"Test Card"},
    )
    cupy.cuda = SimpleNamespace(
        runtime=runtime,
        MemoryPool=FakePool,
        Device=make_device,
        using_allocator=lambda allocate: nullcontext(),
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(device_module, "driver_version", lambda: 13000)
    return cupy


# ---- which device


def test_auto_falls_back_to_the_cpu(monkeypatch):
    monkeypatch.setattr(device_module, "driver_version", lambda: None)
    assert choose_device("auto") == "cpu"
    assert choose_device("cpu") == "cpu"


def test_auto_and_cuda_choose_the_gpu(fake_cupy):
    assert choose_device("auto").name == "cuda:0 (Test Card)"
    assert choose_device("cuda").ordinal == 0
    assert choose_device("cuda:1").ordinal == 1


def test_where_the_device_fails_the_cpu_is_used(fake_cupy):
    def work(gpu):
        used.append(gpu and gpu.name)
        if gpu is not None and fails:
            raise DeviceMemoryError("full")
        return len(used)

    used, fails = [], True
    assert on_device_or_cpu("auto", work) == (2, ("The CPU was used: full",))
    with pytest.raises(DeviceMemoryError, match="full"):
        on_device_or_cpu("cuda:1", work)
    used, fails = [], False
    assert on_device_or_cpu("cuda:1", work) == (1, ())
    assert used == ["cuda:1 (Test Card)"]
    used = []
    assert on_device_or_cpu("cpu", work) == (1, ())
    assert used == [None]


# ---- what is missing


def refusal(device="cuda"):
    with pytest.raises(DeviceError) as caught:
        choose_device(device)
    return str(caught.value)


@pytest.mark.parametrize(
    ("driver", "wheel"),
    [(14000, "cuda13"), (12040, "cuda12"), (None, "cuda13")],
)
def test_missing_cupy_names_the_wheel_for_the_driver(monkeypatch, driver, wheel):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(device_module, "driver_version", lambda: driver)
    monkeypatch.setattr(sys, "platform", "linux")
    message = refusal()
    assert "CuPy is not installed" in message
    assert f'pip install "fuzzy-vessel-gpu[{wheel}]"' in message
    assert f"'cupy-{wheel}x[ctk]>=14,<15' 'cuda-core" in message
    assert ("no NVIDIA driver" in message) == (driver is None)


@pytest.mark.parametrize(
    ("driver", "remedy"),
    [(12040, "'cupy-cuda12x[ctk]>=14,<15' instead"), (11080, "use device 'cpu'")],
)
def test_driver_older_than_cupy(fake_cupy, monkeypatch, driver, remedy):
    monkeypatch.setattr(device_module, "driver_version", lambda: driver)
    message = refusal()
    assert f"for CUDA {driver // 1000}.{driver % 1000 // 10} and the installed CuPy" in message
    assert remedy in message


def test_compiler_message_names_file_and_line(tmp_path):
    pytest.importorskip("cuda.core", reason="cuda-core is not installed")
    (tmp_path / "a.cu").write_text('#include "b.cuh"\nint a;\n')
    (tmp_path / "b.cuh").write_text("\nint wrong = ;\n")
    with pytest.raises(Exception, match=r"b\.cuh\(2\): error"):
        compile_kernels(read_source(tmp_path / "a.cu"), "sm_90")


def test_newer_cards_get_ptx_and_older_ones_a_message(monkeypatch):
    monkeypatch.setattr(kernels, "architectures", lambda: [75, 80, 90])
    assert [architecture_for(n) for n in (75, 86, 90, 120)] == [
        "sm_75", "compute_80", "sm_90", "compute_90",
    ]  # fmt: skip
    with pytest.raises(DeviceError, match=r"capability 7.0, which is older"):
        architecture_for(70)


# ---- structs by value

STRUCTS = """
struct Inner { char c; double d; };
struct Outer {
    bool flag; const float* values; const short* none; short step; Inner inner; int count;
};
extern "C" __global__ void use(Outer o, double* out)
{
    out[0] = o.flag; out[1] = o.none == 0; out[2] = o.step; out[3] = o.inner.c; out[4] = o.inner.d;
    out[5] = 0;
    for (int n = 0; n < o.count; n++) out[5] += o.values[n];
}
"""


def check_structs(device, folder):
    path = folder / "use.cu"
    path.write_text(STRUCTS)
    out = device.xp.zeros(6)
    inner = device.record(np.int8(-3), np.float64(0.1))
    values = device.put(np.arange(5, dtype=np.float32))
    outer = device.record(np.bool_(True), values, None, np.int16(-7), inner, np.int32(5))
    del values  # the struct holds it
    device.kernel(path, "use")((1,), (1,), (outer, out))
    assert device.get(out).tolist() == [1, 1, -7, -3, 0.1, 10]


def test_a_struct_has_the_layout_of_the_compiler(cpu_cuda, tmp_path):
    check_structs(cpu_cuda, tmp_path)


# ---- transfers, on a fake CuPy


@pytest.fixture
def copying_cupy(monkeypatch):
    """NumPy in the role of CuPy, whose arrays are copied by streams."""

    class Array(np.ndarray):
        def set(self, values, stream=None):
            np.copyto(self, values)

        def get(self, out, stream, blocking):
            np.copyto(out, self)

    stream = SimpleNamespace(
        record=lambda: None, wait_event=lambda event: None, synchronize=lambda: None
    )
    cupy = SimpleNamespace(
        cuda=SimpleNamespace(
            Device=lambda: SimpleNamespace(use=lambda: None),
            Stream=lambda non_blocking: stream,
            get_current_stream=lambda: stream,
        ),
        empty=lambda shape, dtype: np.full(shape, 7, dtype).view(Array),
        asnumpy=np.array,
    )
    pinned = SimpleNamespace(empty_pinned=np.empty)
    monkeypatch.setitem(sys.modules, "cupyx", pinned)
    monkeypatch.setattr(device_module, "CHUNK_BYTES", 64)
    monkeypatch.setattr(device_module, "PINNED_THRESHOLD", 256)
    return cupy


def check_transfers(xp, array):
    gpu = SimpleNamespace(xp=xp, _kept={})
    there = device_module.CudaDevice.put(gpu, array)
    np.testing.assert_array_equal(device_module.CudaDevice.get(gpu, there), array)


@pytest.mark.parametrize("shape", [(0, 3), (8,), (13, 11, 17)])
def test_arrays_come_back_as_they_went(copying_cupy, shape):
    array = np.random.default_rng(0).integers(0, 99, shape).astype(np.int16)
    check_transfers(copying_cupy, array)
    check_transfers(copying_cupy, array.T)


def test_a_copy_that_is_kept_is_put_once(fake_cupy, copying_cupy):
    fake_cupy.empty = copying_cupy.empty
    array, other = np.zeros(3), np.zeros(3)
    with choose_device("cuda") as gpu:
        copy = gpu.put(array)
        assert gpu.put(array) is not copy
        assert gpu.keep(array, copy) is array
        assert gpu.put(array) is copy
        assert gpu.put(other) is not copy
        gpu.drop(array, None)
        assert gpu.put(array) is not copy
        gpu.keep(array, copy)
    with gpu:
        assert gpu.put(array) is not copy


# ---- a real GPU


TRIAL = """
extern "C" __global__ void trial(const float* a, const float* b, float* out, int count) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) out[n] = a[n] * b[n] + a[n];
}
"""


@pytest.mark.gpu
def test_real_gpu_rounds_like_the_cpu(gpu, tmp_path):
    (tmp_path / "trial.cu").write_text(TRIAL)
    random = np.random.default_rng(0)
    a = (random.standard_normal(100_000) * 10.0 ** random.integers(-38, 19, 100_000)).astype("f4")
    b = random.standard_normal(100_000).astype("f4")
    out = gpu.xp.empty(a.size, np.float32)
    kernel = gpu.kernel(tmp_path / "trial.cu", "trial")
    kernel((a.size // 100,), (100,), (gpu.put(a), gpu.put(b), out, np.int32(a.size)))
    np.testing.assert_array_equal(gpu.get(out).view("u4"), (a * b + a).view("u4"))


@pytest.mark.gpu
def test_structs_and_transfers_on_a_real_gpu(gpu, tmp_path):
    check_structs(gpu, tmp_path)
    for shape in ((0, 3), (1,), (40, 512, 512), (33, 511, 513), (1, 1 << 24)):
        array = np.random.default_rng(2).integers(0, 65536, shape).astype(np.uint16)
        check_transfers(gpu.xp, array)
    large = np.random.default_rng(3).integers(0, 99, (40, 700, 700)).astype(np.float32)
    check_transfers(gpu.xp, large[3:33, 1:640, 5:650])


@pytest.mark.gpu
def test_real_gpu_with_too_little_memory(gpu):
    with pytest.raises(DeviceError, match="too little memory"):
        gpu.xp.empty(2 * gpu.free_memory(), np.uint8)
