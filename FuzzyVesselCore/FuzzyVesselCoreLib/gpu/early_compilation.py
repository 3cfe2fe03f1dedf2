"""Kernels that are compiled by threads while CuPy is imported and the device is opened."""

import ctypes
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from .availability import TRIAL, driver_library, driver_version
from .nvrtc import (
    architecture_for,
    compile_kernels,
    compiled_early,
    compiling,
    finished,
    read_source,
)
from .nvrtc_library import nvrtc_library

MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...

_one_at_a_time = threading.Lock()
_opened: dict[int, Future] = {}  # by the device's number: its compute capability
PAUSE = 1.0  # s; a process that ends after one run must not wait for a compilation
_finishing: list[threading.Thread] = []  # compile for speed what is a draft by now, or wait to

File = tuple[Path, tuple[str, ...]]  # with its macros


def compile_early(ordinal: int, files: Sequence[File], drafts: Sequence[File] = ()) -> None:
    """Begin to compile `.cu` files, each once in a process; whoever needs one waits for it.

    So does the end of the process, as NVRTC must not be unloaded while it compiles.
    An error is told where the kernel is used, by compiling it again.

    CuPy is not imported: two threads that import it at the same time each meet the other's half of
    it. What finds NVRTC is imported by the caller's thread, before any other one begins; the
    threads call NVRTC and the driver by `ctypes`, and import nothing.

    Parameters
    ----------
    ordinal : int
        The device's number; nothing is done where there is none.
    files : sequence of (Path, tuple of str)
        With their macros. The trial kernel is compiled, too.
    drafts : sequence of (Path, tuple of str)
        Files that a first run would wait for: it gets drafts of them, which take half the time to
        compile, and later runs what is compiled for speed. They have no `__constant__` arrays.
    """
    with _one_at_a_time:
        wanted = [*drafts, *files, (TRIAL, ())]
        missing = [file for file in wanted if (ordinal, *file) not in compiling]
        if not missing or driver_version() is None:
            return
        with suppress(Exception):  # no CuPy, no NVRTC, no more threads: the run tells
            opened = _opening(ordinal)
            nvrtc_library()
            _begin(ordinal, missing, opened, drafts)


def open_early(ordinal: int) -> None:
    """Begin to open a device, in a thread, before it is known which files are compiled for it."""
    with _one_at_a_time, suppress(Exception):
        if ordinal not in _opened and driver_version() is not None:
            _opening(ordinal)


def wait_for_drafts() -> None:
    """Wait until no file that was begun here is a draft any more: for measuring kernels."""
    for thread in [*compiling.values()]:
        thread.join()
    while _finishing:
        _finishing.pop().join()


def _begin_anew() -> None:
    """A forked process has none of the threads: what they have not done, nobody waits for."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()
    for ordinal in [ordinal for ordinal, opened in _opened.items() if not opened.done()]:
        del _opened[ordinal]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _opening(ordinal: int) -> Future:
    if ordinal not in _opened:
        opened: Future = Future()
        threading.Thread(target=_open, args=(ordinal, opened)).start()
        _opened[ordinal] = opened
    return _opened[ordinal]


def _open(ordinal: int, opened: Future) -> None:
    try:
        opened.set_result(compute_capability(ordinal))
        open_context(ordinal)
    except BaseException as error:
        if not opened.done():
            opened.set_exception(error)


def _begin(
    ordinal: int, files: Sequence[File], opened: Future, drafts: Sequence[File] = ()
) -> None:
    for path, defines in files:
        work = _compile_draft if (path, defines) in drafts else _compile
        thread = threading.Thread(target=work, args=(ordinal, path, defines, opened))
        thread.start()  # before anybody can wait for it: it fails where threads are used up
        compiling[ordinal, path, defines] = thread


def _compile(
    ordinal: int, path: Path, defines: tuple[str, ...], opened: Future, draft: bool = False
) -> bool:
    """Whether it compiles: not without a device, and no draft where NVRTC knows none."""
    with suppress(Exception):
        capability = opened.result()
        if capability is not None:
            key = read_source(path), architecture_for(capability), defines
            compiled_early[*key, draft] = compile_kernels(*key, draft)[0]
            return True
    return False


def _compile_draft(ordinal: int, path: Path, defines: tuple[str, ...], opened: Future) -> None:
    arguments = ordinal, path, defines, opened
    if not _compile(*arguments, draft=True):
        _compile(*arguments)
        return
    with suppress(RuntimeError):  # no more threads: the draft stays
        pause = threading.Timer(PAUSE, _begin_to_finish, arguments)
        pause.daemon = True
        pause.start()
        _finishing.append(pause)


def _begin_to_finish(*arguments: Any) -> None:
    if not threading.main_thread().is_alive():
        return  # the process ends: NVRTC may be unloaded while a thread compiles that nobody joins
    with suppress(RuntimeError):  # no more threads: the draft stays
        thread = threading.Thread(target=_finish, args=arguments)
        thread.start()
        _finishing.append(thread)


def _finish(ordinal: int, path: Path, defines: tuple[str, ...], opened: Future) -> None:
    if _compile(ordinal, path, defines, opened):
        finished.add((ordinal, path, defines))


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


def open_context(ordinal: int) -> None:
    """Begin the device's context, which CuPy then finds open; it stays until the process ends."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    with suppress(OSError, AttributeError):
        driver = driver_library()
        if not driver.cuDeviceGet(ctypes.byref(device), ordinal):
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
