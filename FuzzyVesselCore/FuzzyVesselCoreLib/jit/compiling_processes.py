"""Functions compiled by processes, as numba compiles in one thread of a process at a time.

Each process runs recipes: functions without arguments that call what is to be compiled. numba keeps
it in its cache on disk, where the other processes, and this one, find it.
"""

import atexit
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ..threads import usable_cores

CODE = "import sys; from FuzzyVesselCoreLib.jit.compiling_processes import main; main(sys.argv[1:])"

# Python looks for cycles among its objects whenever so many were made, by default 700. numba makes
# millions of them, and most stay: looking rarely saves a tenth of the seconds of compiling.
OBJECTS_BETWEEN_COLLECTIONS = 50_000

_going_on: set[subprocess.Popen] = set()


@contextmanager
def compiling_beside(recipes: Sequence[str]) -> Iterator[None]:
    """Run recipes in processes while the body of the `with` statement compiles the same.

    The body calls all that is to be compiled, and the recipes do so from other places on; what a
    process has compiled the body loads. There are as many processes as cores beside the body's;
    they end with it. None is started on a single core, or where Python is not found or does not
    start.

    Parameters
    ----------
    recipes : sequence of str
        ``"module:function"`` each; none: everything is compiled already.
    """
    beside = min(usable_cores() - 1, len(recipes))
    python = python_executable()
    processes: list[subprocess.Popen] = []
    if beside and python is not None:
        with suppress(OSError):  # no more processes: those that began, and the body, compile
            for n in range(beside):
                processes.append(_start(python, recipes[n::beside]))
    try:
        with _rare_collections() if recipes else nullcontext():
            yield
    finally:
        _end(processes)


@contextmanager
def _rare_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def going_on() -> tuple[subprocess.Popen, ...]:
    """The processes that compile now; they end with this one."""
    return tuple(_going_on)


@atexit.register
def _end_all() -> None:
    _end(going_on())


def _end(processes: Sequence[subprocess.Popen]) -> None:
    """End processes; numba writes each file of its cache as a whole or not at all."""
    for process in processes:
        process.kill()
        process.wait()
        _going_on.discard(process)


def python_executable() -> str | None:
    """Path of the Python that runs this, of Slicer the one that starts without its window."""
    if "python" in Path(sys.executable or "").name.lower():
        return sys.executable
    return shutil.which("PythonSlicer")


def is_cached(function: Any) -> bool:
    """Whether a function that numba compiles is in its cache on disk, as it is now.

    Parameters
    ----------
    function : numba's Dispatcher
        Of ``cache=True``.
    """
    code, source = function.py_func.__code__, Path(function.py_func.__code__.co_filename)
    names = f"{source.stem}.{function.py_func.__qualname__}-{code.co_firstlineno}.*.nbi"
    found = list(Path(function.stats.cache_path).glob(names))
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in found)


def main(recipes: Sequence[str]) -> None:
    """Run recipes in this process; one that fails leaves the others alone."""
    with _rare_collections():
        for recipe in recipes:
            module, function = recipe.split(":")
            with suppress(Exception):
                getattr(import_module(module), function)()


def _start(python_of_ours: str, recipes: Sequence[str]) -> subprocess.Popen:
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [python_of_ours, "-c", CODE, *recipes],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # of Windows alone
    )
    _going_on.add(process)
    return process
