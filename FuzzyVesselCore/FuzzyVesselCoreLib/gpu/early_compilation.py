"""Kernels that are compiled by threads while CuPy is imported and the device is opened."""

import ctypes
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .availability import driver_library
from .nvrtc import architecture_for, compile_kernels, compiled_early, compiling, read_source

MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...

_one_at_a_time = threading.Lock()


def compile_early(ordinal: int, files: Sequence[tuple[Path, tuple[str, ...]]]) -> None:
    """Begin to compile `.cu` files, each once in a process; whoever needs one waits for it.

    So does the end of the process, as NVRTC must not be unloaded while it compiles.
    An error is told where the kernel is used, by compiling it again.

    Parameters
    ----------
    ordinal : int
        The device's number; nothing is done where there is none.
    files : sequence of (Path, tuple of str)
        With their macros.
    """
    for path, defines in files:
        key = ordinal, path, defines
        with _one_at_a_time:
            if key not in compiling:
                compiling[key] = threading.Thread(target=_compile, args=key)
                compiling[key].start()


def _compile(ordinal: int, path: Path, defines: tuple[str, ...]) -> None:
    capability = compute_capability(ordinal)
    if capability is not None:
        with suppress(Exception):
            key = read_source(path), architecture_for(capability), defines
            compiled_early[key] = compile_kernels(*key)[0]


def compute_capability(ordinal: int) -> int | None:
    """Of a device, such as 90, as the driver tells it before CuPy is imported; None without one."""
    number, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    try:
        driver = driver_library()
        failed = driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(number), ordinal)
        for attribute, value in ((MAJOR, major), (MINOR, minor)):
            failed = failed or driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, number)
    except (OSError, AttributeError):
        return None
    return None if failed else 10 * major.value + minor.value
