"""Whether CUDA can be used on this machine, and if not, what is missing."""

import ctypes
import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import NoCuda
from .failures import first_line, install_with_toolkit, wheel_for

TRIAL = Path(__file__).with_name("trial.cu")


@functools.cache
def cuda_status(ordinal: int = 0) -> NoCuda | None:
    """None if the GPU can be used, else the reason and how to fix it.

    Checked once per process; `reset_cuda_status` makes the next call check again.
    """
    return (
        _cupy_problem() or _driver_problem() or _device_problem(ordinal) or _trial_problem(ordinal)
    )


def reset_cuda_status() -> None:
    """Check again at the next call, for example after CuPy was installed."""
    cuda_status.cache_clear()
    _properties.cache_clear()


def device_properties(cupy: Any, ordinal: int) -> dict[str, Any]:
    """Properties of a device; the driver takes a millisecond for them, so they are cached, too."""
    return _properties(_Runtime(cupy.cuda.runtime), ordinal)


class _Runtime:
    """CUDA's runtime as a key of a cache."""

    def __init__(self, runtime: Any) -> None:
        self.runtime = runtime

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Runtime) and other.runtime is self.runtime

    def __hash__(self) -> int:
        return id(self.runtime)


@functools.cache
def _properties(runtime: _Runtime, ordinal: int) -> dict[str, Any]:
    return runtime.runtime.getDeviceProperties(ordinal)


def driver_version() -> int | None:
    """The CUDA version of the NVIDIA driver (12.4 is 12040), or None where there is no driver."""
    version = ctypes.c_int()
    try:
        failed = driver_library().cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return None
    return None if failed else version.value


def driver_library() -> ctypes.CDLL:
    """The NVIDIA driver's library; `OSError` where there is none."""
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def cupy_wheel() -> str:
    """The pip package of CuPy that suits the NVIDIA driver; the newest where there is none."""
    return wheel_for((driver_version() or 13000) // 1000)


def _cupy_problem() -> NoCuda | None:
    try:
        import cupy  # noqa: F401
    except ImportError as error:
        if sys.platform == "darwin":
            return NoCuda("macos", "macOS has no CUDA. Use device 'cpu'.")
        wheel = cupy_wheel()
        extra = f"fuzzy-vessel-gpu[{wheel.removeprefix('cupy-').removesuffix('x')}]"
        install = f'Install it: pip install "{wheel}[ctk]" (or "{extra}").'
        if not isinstance(error, ModuleNotFoundError) or error.name != "cupy":
            text = f"CuPy cannot be imported ({first_line(error)}). {install}"
            return NoCuda("cupy broken", text)
        driver = "" if driver_version() else " There is no NVIDIA driver either."
        return NoCuda("cupy missing", f"CuPy is not installed. {install}{driver}")
    return None


def _driver_problem() -> NoCuda | None:
    import cupy

    version = driver_version()
    if not version:
        return NoCuda(
            "driver missing",
            "the NVIDIA driver is missing or does not work. Install it from nvidia.com (in a "
            "container: start it with --gpus all), or use device 'cpu'.",
        )
    needed = cupy.cuda.runtime.runtimeGetVersion() // 1000
    if version // 1000 < needed:
        remedy = f'install "{wheel_for(version // 1000)}[ctk]" instead of the present CuPy'
        if version < 12000:
            remedy = "use device 'cpu'"
        return NoCuda(
            "driver old",
            f"the NVIDIA driver is for CUDA {version // 1000}.{version % 1000 // 10} and the "
            f"installed CuPy for CUDA {needed}. Update the driver, or {remedy}.",
        )
    return None


def _device_problem(ordinal: int) -> NoCuda | None:
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "NoDevice" not in str(error):
            text = f"the NVIDIA driver reports {first_line(error)}. Restart the machine."
            return NoCuda("driver fails", text)
        count = 0
    if ordinal < count:
        return None
    if count == 0:
        text = "there is no CUDA device, or CUDA_VISIBLE_DEVICES hides it. Use device 'cpu'."
        return NoCuda("no device", text)
    present = (
        "1 CUDA device (cuda:0)" if count == 1 else f"{count} CUDA devices (to cuda:{count - 1})"
    )
    return NoCuda("no such device", f"there is no cuda:{ordinal}; this machine has {present}.")


def _trial_problem(ordinal: int) -> NoCuda | None:
    """Run one of our own kernels; CuPy's own take long to compile for the first time."""
    from .device import CudaDevice

    a = np.array([3.14159, -1e-20, 1e38, 1e-39, 7.0], dtype=np.float32)
    b = np.array([2.71828, 1e-20, 2.0, 0.5, 1 / 3], dtype=np.float32)
    try:
        with CudaDevice(ordinal) as device:
            result = device.xp.zeros(len(a), dtype=np.float32)
            args = (device.put(a), device.put(b), result, np.int32(len(a)))
            device.kernel(TRIAL, "trial")((1,), (32,), args)
            found = device.get(result)
    except Exception as error:
        return NoCuda(
            "kernel fails",
            f"a trial kernel does not run ({first_line(error)}). Usually NVRTC is missing: "
            f"{install_with_toolkit()}.",
        )
    with np.errstate(over="ignore"):
        right = np.array_equal(found, a * b + a)
    if not right:
        text = "a trial kernel gives a wrong result: the GPU or its driver is faulty."
        return NoCuda("kernel wrong", text)
    return None
