"""Whether CUDA can be used, and the device: its memory for a run, copies, and kernels."""

import ctypes
import re
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import numpy as np

from ..errors import CpuUsedNote, DeviceError, DeviceMemoryError, InputError, NoCudaError
from ..progress import by_threads, usable_cores
from .kernels import Record, load_kernel, make_record

Found = TypeVar("Found")
DeviceArray = Any  # an array of CuPy, or of the emulated device


# ---- can CUDA be used, and if not, what is missing


@cache
def cuda_status(ordinal: int = 0) -> str | None:
    """None if the GPU can be used, else the reason and how to fix it.

    Checked once per process; `reset_cuda_status` makes the next call check again.
    """
    return _package_problem() or _driver_problem() or _device_problem(ordinal)


def reset_cuda_status() -> None:
    """Check again at the next call, for example after CuPy was installed."""
    cuda_status.cache_clear()


def driver_version() -> int | None:
    """The CUDA version of the NVIDIA driver (12.4 is 12040), or None where there is no driver."""
    version = ctypes.c_int()
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        failed = library.cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return None
    return None if failed else version.value


def cuda_packages(cuda_major: int | None = None) -> tuple[str, ...]:
    """What pip installs for CUDA (by default the driver's version): CuPy and cuda.core."""
    major = min(max(cuda_major or (driver_version() or 13000) // 1000, 12), 13)
    return f"cupy-cuda{major}x[ctk]>=14,<15", "cuda-core>=1.2,<2", f"cuda-bindings=={major}.*"


def _install(cuda_major: int | None = None) -> str:
    packages = cuda_packages(cuda_major)
    extra = packages[0].removeprefix("cupy-").split("x[")[0]
    return f'pip install "fuzzy-vessel-gpu[{extra}]" (or {" ".join(map(repr, packages))})'


def _package_problem() -> str | None:
    if sys.platform == "darwin":
        return "macOS has no CUDA. Use device 'cpu'."
    try:
        import cuda.core  # noqa: F401
        import cupy  # noqa: F401
    except ImportError as error:
        name = error.name or ""
        if type(error) is not ModuleNotFoundError or name.split(".")[0] not in ("cupy", "cuda"):
            return f"CuPy cannot be imported ({first_line(error)}). Install it: {_install()}."
        missing = "CuPy" if name == "cupy" else "cuda-core"
        driver = "" if driver_version() else " There is no NVIDIA driver either."
        return f"{missing} is not installed. Install it: {_install()}.{driver}"
    return None


def _driver_problem() -> str | None:
    import cupy

    version = driver_version()
    if not version:
        return (
            "the NVIDIA driver is missing or does not work. Install it from nvidia.com (in a "
            "container: start it with --gpus all), or use device 'cpu'."
        )
    needed = cupy.cuda.runtime.runtimeGetVersion() // 1000
    if version // 1000 >= needed:
        return None
    remedy = "use device 'cpu'"
    if version >= 12000:
        remedy = f"install {cuda_packages(version // 1000)[0]!r} instead of the present CuPy"
    return (
        f"the NVIDIA driver is for CUDA {version // 1000}.{version % 1000 // 10} and the "
        f"installed CuPy for CUDA {needed}. Update the driver, or {remedy}."
    )


def _device_problem(ordinal: int) -> str | None:
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "NoDevice" not in str(error):
            return f"the NVIDIA driver reports {first_line(error)}. Restart the machine."
        count = 0
    if ordinal < count:
        return None
    if count:
        last = f"cuda:{count - 1}"
        return f"there is no cuda:{ordinal}; the last CUDA device of this machine is {last}."
    return "there is no CUDA device, or CUDA_VISIBLE_DEVICES hides it. Use device 'cpu'."


# ---- errors of CuPy and CUDA


def is_cuda_error(error: BaseException | None) -> bool:
    """Whether an error comes from CuPy or CUDA: not our own, nor a progress callback's."""
    if isinstance(error, ImportError):
        return (error.name or "").startswith(("cupy", "cuda"))
    return type(error).__module__.startswith(("cupy", "cuda.")) or str(error).startswith(
        "CuPy failed to load"
    )


def device_failed(name: str, error: BaseException) -> DeviceError:
    """The error to raise where a device stopped working because of an error of CuPy or CUDA."""
    if type(error).__name__ == "CompileException":
        import cupy

        install = _install(cupy.cuda.runtime.runtimeGetVersion() // 1000)
        return DeviceError(
            f"{name} has no kernels of CuPy's own, which do not compile ({first_line(error)}). "
            f"Usually the CUDA headers are missing: {install}, or use device 'cpu'."
        )
    return DeviceError(
        f"{name} stopped working ({first_line(error)}). Use device 'cpu'; if it happens again, "
        "restart the program and update the GPU driver."
    )


def clear_frames(error: BaseException | None) -> None:
    """Clear the frames of an exception: they hold arrays, and these hold device memory."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or its type where there is none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# ---- a device for the length of a run


class CudaDevice:
    """One CUDA device for the length of a `with` block.

    Inside the block it is the current device of this thread, and every array that CuPy makes in
    this thread comes from a memory pool of its own: other users of CuPy are not disturbed, and when
    the block is left, also by an exception, the pool's memory is returned to the device.

    `xp` is CuPy: its own floating-point operations round differently from the CPU's, and what must
    be equal bit for bit is computed by our kernels. `name` is like "cuda:0 (NVIDIA H200)",
    `properties` are those of CUDA's `cudaDeviceProp`, `peak_bytes` the most memory that the last
    block held at a time. `pool` is the memory of the block: an array that outlives it needs it.
    """

    def __init__(self, ordinal: int = 0) -> None:
        import cupy

        self.xp = cupy
        self.ordinal = ordinal
        self.properties = cupy.cuda.runtime.getDeviceProperties(ordinal)
        self.name = f"cuda:{ordinal} ({self.properties['name'].decode()})"
        self.peak_bytes = 0
        self.pool: Any = None
        self._kept: dict[int, tuple[np.ndarray, DeviceArray]] = {}  # by the arrays' identities
        self._leave = ExitStack()

    def __enter__(self) -> Self:
        self.peak_bytes = 0
        self._leave.enter_context(self.xp.cuda.Device(self.ordinal))
        self.pool = self.xp.cuda.MemoryPool()
        self._leave.enter_context(self.xp.cuda.using_allocator(self._allocate))
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        clear_frames(error)
        self._kept.clear()
        lost = error if is_cuda_error(error) else None
        try:
            with self._leave:
                self.synchronize()
                self.pool.free_all_blocks()
        except Exception as failure:  # a device that was lost in the block cannot be left in order
            lost = failure if error is None else lost
        self.pool = None
        if lost is not None:
            reset_cuda_status()
            raise device_failed(self.name, lost) from lost

    def _allocate(self, size: int) -> Any:
        out_of_memory = self.xp.cuda.memory.OutOfMemoryError
        try:
            try:
                memory = self.pool.malloc(size)
            except out_of_memory:
                for keeper in list(_keepers):
                    keeper.free_device_memory()
                memory = self.pool.malloc(size)
        except out_of_memory as error:
            raise DeviceMemoryError(
                f"{self.name} has too little memory: {_megabytes(size)} more were needed beside "
                f"{_megabytes(self.pool.used_bytes())} already in use, and "
                f"{_megabytes(self.free_memory())} are free. Close other programs that use the "
                "GPU, raise the cut, work on a smaller region, or use device 'cpu'."
            ) from error
        self.peak_bytes = max(self.peak_bytes, self.pool.total_bytes())
        return memory

    @property
    def ndimage(self) -> Any:
        """What `scipy.ndimage` is for the device's arrays."""
        from cupyx.scipy import ndimage

        return ndimage

    def keep(self, array: np.ndarray, copy: DeviceArray) -> np.ndarray:
        """Let `put` give this copy of an array until the block ends; neither may be written."""
        self._kept[id(array)] = array, copy
        return array

    def drop(self, *arrays: np.ndarray | None) -> None:
        """Keep the copies of arrays no longer: they may be written, or their memory used."""
        for array in arrays:
            self._kept.pop(id(array), None)

    def put(self, array: np.ndarray) -> DeviceArray:
        """Copy a numpy array, also a box of a larger one, to the device (C order)."""
        if id(array) in self._kept:
            return self._kept[id(array)][1]
        device = self.xp.empty(array.shape, array.dtype)
        if array.nbytes < PINNED_THRESHOLD:
            device.set(np.ascontiguousarray(array))
            return device

        def move(part: slice, buffer: np.ndarray, stream: Any) -> None:
            np.copyto(buffer, array[part])
            device[part].set(buffer, stream=stream)

        _by_chunks(self.xp, array.shape, array.dtype, move)
        return device

    def get(self, array: DeviceArray) -> np.ndarray:
        """Copy a device array into a new numpy array."""
        if array.nbytes < PINNED_THRESHOLD:
            return self.xp.asnumpy(array)
        array = array if array.flags.c_contiguous else array.copy()
        host = np.empty(array.shape, array.dtype)

        def move(part: slice, buffer: np.ndarray, stream: Any) -> None:
            array[part].get(out=buffer, stream=stream, blocking=True)
            np.copyto(host[part], buffer)

        _by_chunks(self.xp, array.shape, array.dtype, move)
        return host

    def synchronize(self) -> None:
        """Wait until everything that was launched has ended."""
        self.xp.cuda.get_current_stream().synchronize()

    def free_unused_memory(self) -> None:
        """Return what no array uses to the device, as where other sizes are needed from now on."""
        self.pool.free_all_blocks()

    def free_memory(self) -> int:
        """Bytes that this run can still allocate: free on the device, or in the pool."""
        free = self.xp.cuda.Device(self.ordinal).mem_info[0]
        return free + (self.pool.free_bytes() if self.pool else 0)

    def kernel(self, path: Path, name: str, defines: Sequence[str] = ()) -> Any:
        """Compile a `.cu` file for this device (once) and return one of its kernels.

        It is declared `extern "C" __global__`; `defines` are macros such as "VOXEL=short". Called
        as ``kernel(grid, block, args, shared_mem=0)``: tuples, bytes (at most 48 KiB); numpy
        scalars must have the parameters' types; structs are made by `record`.
        """
        return load_kernel(self.ordinal, path, name, tuple(defines))

    def record(self, *values: Any) -> Record:
        """A struct by value for a kernel's arguments.

        The values are the fields in the order of the struct's declaration: contiguous device arrays
        (pointers), None (a null pointer), numpy scalars of the fields' types, records (nested
        structs).
        ``struct Volume { const short* voxels; const char* mask; int nk, nj, ni; };`` is given by
        ``gpu.record(voxels, None, *int32s(voxels.shape))``.
        """
        return make_record(values, lambda array: array.data.ptr)

    def resources(self, kernel: Any) -> tuple[int, int]:
        """Registers per thread, and bytes of static shared memory per block, of a kernel."""
        driver = self.xp.cuda.driver
        return (
            driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.ptr),
            driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.ptr),
        )

    def set_constant(self, kernel: Any, name: str, array: Any) -> None:
        """Copy a device array to a kernel's `__constant__` array, after what was launched."""
        runtime = self.xp.cuda.runtime
        to_device = runtime.memcpyDeviceToDevice
        where, stream = int(kernel.module.get_global_var(name)), self.xp.cuda.get_current_stream()
        runtime.memcpyAsync(where, array.data.ptr, array.nbytes, to_device, stream.ptr)


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"


# ---- copies of large arrays
# They are fast only from and to pinned memory. So each of several threads copies chunks through a
# pinned buffer of its own: while the device copies one, others are filled or emptied.

CHUNK_BYTES = 8 << 20
MAX_THREADS = 8  # more are bound by the memory
PINNED_THRESHOLD = 16 << 20  # bytes; smaller arrays are copied as fast without buffers


def _by_chunks(xp: Any, shape: tuple[int, ...], dtype: np.dtype, move: Callable) -> None:
    """Call ``move(part, buffer, stream)`` by threads for parts along the first axis."""
    import cupyx

    plane = int(np.prod(shape[1:], dtype=np.int64))
    step = max(1, CHUNK_BYTES // (plane * dtype.itemsize))
    parts = [slice(n, min(n + step, shape[0])) for n in range(0, shape[0], step)]
    launched, use_device = xp.cuda.get_current_stream().record(), xp.cuda.Device().use
    own = threading.local()

    def work(part: slice) -> None:
        if not hasattr(own, "stream"):
            use_device()  # threads have the first one by default
            own.stream = xp.cuda.Stream(non_blocking=True)
            own.stream.wait_event(launched)  # whatever uses the memory until now
            own.buffer = cupyx.empty_pinned((step, *shape[1:]), dtype)
        move(part, own.buffer[: part.stop - part.start], own.stream)
        own.stream.synchronize()

    by_threads(min(usable_cores(), MAX_THREADS), work, parts)


# ---- memory that is kept from run to run, until a run has too little


_keepers: "weakref.WeakSet[Any]" = weakref.WeakSet()


def keeps_device_memory(keeper: Any) -> None:
    """Have ``keeper.free_device_memory()`` called when a run needs the memory that it keeps.

    It then drops every reference to it. The keeper is not kept alive by this.
    """
    _keepers.add(keeper)


# ---- The device that a user's word names: "auto", "cpu", "cuda" or "cuda:1"


def choose_device(device: str = "auto") -> CudaDevice | Literal["cpu"]:
    """The device that a user's word names.

    That is "auto" (CUDA where it can be used, else the CPU), "cpu", "cuda" (the first GPU) or
    "cuda:1". `InputError` for other words; `DeviceError` says what CUDA lacks if it was asked for.
    """
    if device == "cpu":
        return "cpu"
    if device == "auto":
        with suppress(DeviceError):
            return choose_device("cuda")
        return "cpu"
    named = re.fullmatch(r"cuda(?::(\d+))?", device) if isinstance(device, str) else None
    if not named:
        raise InputError(f"unknown device {device!r}: use auto, cpu, cuda or cuda:N (N from 0)")
    ordinal = int(named[1] or 0)
    reason = cuda_status(ordinal)
    if reason:
        raise NoCudaError(device, reason)
    try:
        return CudaDevice(ordinal)
    except Exception as error:  # it worked when it was checked
        if not is_cuda_error(error):
            raise
        reset_cuda_status()
        raise device_failed(f"cuda:{ordinal}", error) from error


def on_device_or_cpu(
    device: str, work: Callable[[CudaDevice | None], Found]
) -> tuple[Found, tuple[CpuUsedNote, ...]]:
    """What ``work(gpu)`` returns in the device's block or, with None, on the CPU.

    Where the device of "auto" fails, as likely as not because its memory is full, the CPU begins
    anew, and a note says why; `DeviceError` if the device was asked for.
    """
    gpu = choose_device(device)
    notes: tuple[CpuUsedNote, ...] = ()
    if gpu != "cpu":
        try:
            with gpu:
                return work(gpu), ()
        except DeviceError as error:
            if device != "auto":
                raise
            notes = (CpuUsedNote(error),)
    return work(None), notes
