"""The CUDA device: whether it can be used, its kernels and its memory.

Importing this file imports no CuPy.
"""

import ctypes
import functools
import re
import sys
import traceback
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ..errors import DeviceError, InputError, NoRoomError
from .nvrtc import load_kernel
from .transfers import from_card, to_card

_TRIAL = Path(__file__).with_name("trial.cu")


class CudaDevice:
    """One CUDA card for the length of a `with` block.

    Inside the block the card is the current device of this thread, and every array that CuPy makes
    in this thread comes from a memory pool of its own: other users of CuPy are not disturbed, and
    when the block is left, also by an exception, the pool's memory goes back to the card.

    Parameters
    ----------
    ordinal : int
        The card's number, from 0.

    Attributes
    ----------
    xp : module
        `cupy`. Its own floating-point operations round differently from the CPU's; what must be
        equal bit for bit is computed by kernels.
    name : str
        For example "cuda:0 (NVIDIA H200)".
    properties : dict
        The card's, by the names of CUDA's `cudaDeviceProp`.
    peak_bytes : int
        The most that the last `with` block occupied on the card at a time.
    """

    def __init__(self, ordinal=0):
        import cupy

        self.xp = cupy
        self.ordinal = ordinal
        self.properties = cupy.cuda.runtime.getDeviceProperties(ordinal)
        self.name = f"cuda:{ordinal} ({self.properties['name'].decode()})"
        self.peak_bytes = 0
        self._pool = None
        self._leave = ExitStack()

    def __enter__(self):
        if self._pool is not None:
            raise RuntimeError(f"{self.name} is already in use by this object")
        self.peak_bytes = 0
        self._leave.enter_context(self.xp.cuda.Device(self.ordinal))
        self._pool = self.xp.cuda.MemoryPool()
        self._leave.enter_context(self.xp.cuda.using_allocator(self._allocate))
        return self

    def __exit__(self, kind, error, trace):
        _clear_frames(error)
        lost = error if _is_of_cuda(error) else None
        self.forget_plans()
        try:
            with self._leave:
                self.synchronize()
                self._pool.free_all_blocks()
        except Exception as failure:  # a card that was lost in the block cannot be left in order
            lost = failure if error is None else lost
        self._pool = None
        if lost is not None:
            forget_cuda_status()
            raise _stopped_working(self.name, lost) from lost

    def _allocate(self, size):
        try:
            memory = self._pool.malloc(size)
        except self.xp.cuda.memory.OutOfMemoryError as error:
            raise NoRoomError(
                f"{self.name} has too little memory: {_megabytes(size)} more were needed beside "
                f"{_megabytes(self._pool.used_bytes())} already in use, and "
                f"{_megabytes(self.free_memory())} are free. Close other programs that use the "
                "card, raise the cut, work on a smaller region, or use device 'cpu'."
            ) from error
        self.peak_bytes = max(self.peak_bytes, self._pool.total_bytes())
        return memory

    def kernel(self, path, name, defines=()):
        """Compile a `.cu` file for this card (once) and return one of its kernels.

        Parameters
        ----------
        path : str or Path
            The file.
        name : str
            The kernel, declared `extern "C" __global__`.
        defines : sequence of str
            Macros such as "VOXEL=short".

        Returns
        -------
        callable
            ``kernel(grid, block, args, shared_mem=0)`` with tuples and bytes (at most 48 KiB);
            numpy scalars among `args` go as they are, and must have the parameter's type.
        """
        return load_kernel(self.ordinal, path, name, tuple(defines))

    def launch_together(self, kernel, blocks, threads, args):
        """Launch a kernel whose blocks wait for one another (`grid_sync.cuh`).

        Parameters
        ----------
        kernel : callable
            Does its work with any number of blocks; uses no dynamic shared memory.
        blocks : int
            More than the card holds at a time are not launched; one only, where the card or its
            driver cannot promise to run several at the same time.
        threads : int
            Of a block.
        args : sequence
        """
        count = min(blocks, self._held_together(kernel, threads))
        kernel((count,), (threads,), args, enable_cooperative_groups=count > 1)

    @functools.cached_property
    def runs_blocks_together(self):
        """Whether the card and its driver promise to run several blocks at the same time."""
        runtime = self.xp.cuda.runtime
        return bool(runtime.deviceGetAttribute(runtime.cudaDevAttrCooperativeLaunch, self.ordinal))

    def _held_together(self, kernel, threads):
        if not self.runs_blocks_together:
            return 1
        held = self.xp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, threads, 0)
        return held * self.properties["multiProcessorCount"]

    def resources(self, kernel):
        """Registers of a thread, and bytes of static shared memory of a block, of a kernel."""
        driver = self.xp.cuda.driver
        attributes = (driver.CU_FUNC_ATTRIBUTE_NUM_REGS, driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
        return tuple(driver.funcGetAttribute(attribute, kernel.ptr) for attribute in attributes)

    def set_constant(self, kernel, name, array):
        """Copy an array of the card to the start of a kernel's `__constant__` array `name`.

        The copy waits for the kernels that were launched before, as every launch does.
        """
        runtime = self.xp.cuda.runtime
        runtime.memcpyAsync(
            int(kernel.module.get_global_var(name)),
            array.data.ptr,
            array.nbytes,
            runtime.memcpyDeviceToDevice,
            self.xp.cuda.get_current_stream().ptr,
        )

    @functools.cached_property
    def fourier(self):
        """Fourier transforms on this card, up to `forget_plans`; see `cuda_fourier`."""
        from .fourier import Fourier

        return Fourier()

    def forget_plans(self):
        """Give back to the pool the memory that the plans of `fourier` hold; it makes new ones."""
        self.__dict__.pop("fourier", None)

    def put(self, array):
        """Copy a numpy array to the card (C order)."""
        return to_card(self.xp, np.ascontiguousarray(array))

    def get(self, array):
        """Copy an array of the card into a new numpy array."""
        return from_card(self.xp, array if array.flags.c_contiguous else array.copy())

    def synchronize(self):
        """Wait until everything that was launched has ended."""
        self.xp.cuda.get_current_stream().synchronize()

    def free_memory(self):
        """Bytes that this run can still have: free on the card, or kept in the pool."""
        free = self.xp.cuda.Device(self.ordinal).mem_info[0]
        return free + (self._pool.free_bytes() if self._pool else 0)


def choose_device(device="auto"):
    """The device that a user's word means.

    Parameters
    ----------
    device : str
        "auto" (CUDA where it can be used, else the CPU), "cpu", "cuda" (the first card), "cuda:1".

    Returns
    -------
    "cpu" or CudaDevice

    Raises
    ------
    InputError
        There is no such word.
    DeviceError
        CUDA was asked for and cannot be used; the message says what is missing.
    """
    if device == "cpu":
        return "cpu"
    if device == "auto":
        try:
            return "cpu" if cuda_status() else _card(0)
        except DeviceError:
            return "cpu"
    wanted = re.fullmatch(r"cuda(?::(\d+))?", device) if isinstance(device, str) else None
    if not wanted:
        raise InputError(f"unknown device {device!r}: use auto, cpu, cuda or cuda:N (N from 0)")
    ordinal = int(wanted[1] or 0)
    reason = cuda_status(ordinal)
    if reason:
        raise DeviceError(f"{device} cannot be used: {reason}")
    return _card(ordinal)


def _card(ordinal):
    """The card, which worked when it was looked at; `DeviceError` if it does not any more."""
    try:
        return CudaDevice(ordinal)
    except Exception as error:
        if not _is_of_cuda(error):
            raise
        forget_cuda_status()
        raise _stopped_working(f"cuda:{ordinal}", error) from error


@functools.cache
def cuda_status(ordinal=0):
    """None if the card can be used, else the reason (str) with the way out.

    It is found once in a process; `forget_cuda_status` makes the next call look again.
    """
    return _cupy_problem() or _driver_problem() or _card_problem(ordinal) or _trial_problem(ordinal)


def forget_cuda_status():
    """Look again at the next question, for example after CuPy was installed."""
    cuda_status.cache_clear()


def driver_version():
    """The CUDA version of the NVIDIA driver (12.4 is 12040), or None where there is no driver."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    version = ctypes.c_int()
    try:
        failed = ctypes.CDLL(library).cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return None
    return None if failed else version.value


def cupy_wheel():
    """The pip package of CuPy that suits the NVIDIA driver; the newest where there is none."""
    return _wheel((driver_version() or 13000) // 1000)


def _wheel(major):
    return f"cupy-cuda{min(max(major, 12), 13)}x"


def _cupy_problem():
    try:
        import cupy  # noqa: F401
    except ImportError as error:
        if sys.platform == "darwin":
            return "macOS has no CUDA. Use device 'cpu'."
        wheel = cupy_wheel()
        extra = f"fuzzy-vessel-gpu[{wheel.removeprefix('cupy-').removesuffix('x')}]"
        install = f'Install it: pip install "{wheel}[ctk]" (or "{extra}").'
        if not isinstance(error, ModuleNotFoundError) or error.name != "cupy":
            return f"CuPy cannot be imported ({_first_line(error)}). {install}"
        driver = "" if driver_version() else " There is no NVIDIA driver either."
        return f"CuPy is not installed. {install}{driver}"
    return None


def _driver_problem():
    import cupy

    version = driver_version()
    if not version:
        return (
            "the NVIDIA driver is missing or does not work. Install it from nvidia.com (in a "
            "container: start it with --gpus all), or use device 'cpu'."
        )
    needed = cupy.cuda.runtime.runtimeGetVersion() // 1000
    if version // 1000 < needed:
        remedy = f'install "{_wheel(version // 1000)}[ctk]" instead of the CuPy that is there'
        if version < 12000:
            remedy = "use device 'cpu'"
        return (
            f"the NVIDIA driver is for CUDA {version // 1000}.{version % 1000 // 10} and the "
            f"installed CuPy for CUDA {needed}. Update the driver, or {remedy}."
        )
    return None


def _card_problem(ordinal):
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "NoDevice" not in str(error):
            return f"the NVIDIA driver reports {_first_line(error)}. Restart the machine."
        count = 0
    if ordinal < count:
        return None
    if count == 0:
        return "there is no CUDA card, or CUDA_VISIBLE_DEVICES hides it. Use device 'cpu'."
    cards = "1 CUDA card (cuda:0)" if count == 1 else f"{count} CUDA cards (to cuda:{count - 1})"
    return f"there is no cuda:{ordinal}; this machine has {cards}."


def _trial_problem(ordinal):
    """Run a kernel of ours; none of CuPy's, as these take long to compile for the first time."""
    a = np.array([3.14159, -1e-20, 1e38, 1e-39, 7.0], dtype=np.float32)
    b = np.array([2.71828, 1e-20, 2.0, 0.5, 1 / 3], dtype=np.float32)
    try:
        with CudaDevice(ordinal) as device:
            result = device.xp.zeros(len(a), dtype=np.float32)
            args = (device.put(a), device.put(b), result, np.int32(len(a)))
            device.kernel(_TRIAL, "trial")((1,), (32,), args)
            ours = device.get(result)
    except Exception as error:
        return (
            f"a trial kernel does not run ({_first_line(error)}). Mostly NVRTC is missing: "
            f"{_with_toolkit()}."
        )
    with np.errstate(over="ignore"):
        right = np.array_equal(ours, a * b + a)
    if not right:
        return "a trial kernel gives a wrong result: the card or its driver is faulty."
    return None


def _is_of_cuda(error):
    """Whether an error comes from CuPy or CUDA: not our own, nor a progress callback's."""
    if isinstance(error, ImportError):
        return (error.name or "").startswith("cupy")
    return type(error).__module__.startswith("cupy") or str(error).startswith("CuPy failed to load")


def _stopped_working(name, error):
    if type(error).__name__ == "CompileException":
        return DeviceError(
            f"{name} has no kernels of CuPy's own, which do not compile ({_first_line(error)}). "
            f"Mostly the CUDA headers are missing: {_with_toolkit()}, or use device 'cpu'."
        )
    return DeviceError(
        f"{name} stopped working ({_first_line(error)}). Use device 'cpu'; if it happens again, "
        "restart the program, and update the card's driver."
    )


def _clear_frames(error):
    # The frames that an exception has left still hold their arrays, and these the memory.
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _with_toolkit():
    """How to install the installed CuPy together with NVRTC and the CUDA headers."""
    import cupy

    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    return f'pip install "{_wheel(major)}[ctk]"'


def _first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _megabytes(size):
    return f"{size / 2**20:,.1f} MiB"
