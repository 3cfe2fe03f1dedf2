"""Kernels that are compiled by threads while the device is opened."""

import ctypes
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from .availability import driver_library, driver_version
from .nvrtc import architecture_for, compile_kernels, compiled_early, compiling, read_source

MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...

_one_at_a_time = threading.Lock()


def compile_early(ordinal: int, files: Sequence[tuple[Path, tuple[str, ...]]]) -> None:
    """Begin to compile `.cu` files, each once in a process; whoever needs one waits for it.

    So does the end of the process, as NVRTC must not be unloaded while it compiles.
    An error is told where the kernel is used, by compiling it again.

    CuPy is imported, and NVRTC loaded, by the caller's thread and before any other one begins: two
    threads that import CuPy at the same time each meet the other's half of it. The threads compile
    and do nothing else; the driver is asked for the compute capability by `ctypes` alone.

    Parameters
    ----------
    ordinal : int
        The device's number; nothing is done where there is none.
    files : sequence of (Path, tuple of str)
        With their macros.
    """
    with _one_at_a_time:
        missing = [file for file in files if (ordinal, *file) not in compiling]
        if not missing or driver_version() is None:
            return
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(compute_capability, ordinal)
            with suppress(Exception):  # no CuPy, no NVRTC, an old device: the run tells
                import cupy  # noqa: F401
                from cupy.cuda import nvrtc

                nvrtc.getVersion()  # loads the library
                capability = asked.result()
                if capability is not None:
                    _begin(ordinal, missing, architecture_for(capability))


def _begin(ordinal: int, files: Sequence[tuple[Path, tuple[str, ...]]], architecture: str) -> None:
    for path, defines in files:
        key = read_source(path), architecture, defines
        thread = threading.Thread(target=_compile, args=key)
        thread.start()  # before anybody can wait for it: it fails where threads are used up
        compiling[ordinal, path, defines] = thread


def _compile(source: str, architecture: str, defines: tuple[str, ...]) -> None:
    with suppress(Exception):
        binary, _ = compile_kernels(source, architecture, defines)
        compiled_early[source, architecture, defines] = binary


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
