"""Whether CUDA can be used on this machine, and if not, what is missing."""

import ctypes
import functools
import sys
import traceback

from ..errors import DeviceError


@functools.cache
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
