"""Errors of CuPy and CUDA: how they are recognized, and the `DeviceError` raised instead."""

import traceback

from ..errors import DeviceError
from .nvrtc_library import NvrtcError


def is_cuda_error(error: BaseException | None) -> bool:
    """Whether an error comes from CuPy or CUDA: not our own, nor a progress callback's."""
    if isinstance(error, NvrtcError):
        return True
    if isinstance(error, ImportError):
        return (error.name or "").startswith("cupy")
    return type(error).__module__.startswith("cupy") or str(error).startswith("CuPy failed to load")


def device_failed(name: str, error: BaseException) -> DeviceError:
    """The error to raise where a device stopped working because of one of CuPy's errors."""
    if type(error).__name__ == "CompileException":
        return DeviceError(
            f"{name} has no kernels of CuPy's own, which do not compile ({first_line(error)}). "
            f"Usually the CUDA headers are missing: {install_with_toolkit()}, or use device 'cpu'."
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


def wheel_for(cuda_major: int) -> str:
    """CuPy's pip package for a major version of CUDA."""
    return f"cupy-cuda{min(max(cuda_major, 12), 13)}x"


def install_with_toolkit() -> str:
    """The command that installs the present CuPy together with NVRTC and the CUDA headers."""
    import cupy

    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    return f'pip install "{wheel_for(major)}[ctk]"'


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or its type where there is none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
