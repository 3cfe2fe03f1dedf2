"""Compiled code in numba's cache that is older than the project's sources is forgotten.

numba compares a function with the file that it stands in. What was compiled into it from other
files, functions and constants, would stay as it was after an update that leaves that file alone.
"""

import functools
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec

PACKAGES = ("FuzzyVesselCoreLib", "FuzzyConnectedGPULib", "PotentialSkeletonLib")


@functools.cache  # sources that change while a process runs do not change what it has imported
def forget_stale_code() -> None:
    """Remove what numba has cached of the project before its newest source was written."""
    specs = [find_spec(package) for package in PACKAGES]
    for path in stale_files([spec.submodule_search_locations[0] for spec in specs if spec]):
        with suppress(OSError):  # nothing may be written there, or another process was faster
            os.unlink(path)


def stale_files(folders: Sequence[str]) -> list[str]:
    """Indices of numba's cache (``.nbi``) in folders that are older than the newest source.

    Sources of the future, by a clock that was wrong, do not count: all would be stale for ever.

    Parameters
    ----------
    folders : sequence of str
        Of packages; with all that is in them.

    Examples
    --------
    >>> stale_files([])
    []
    """
    now, newest, indices = time.time(), 0.0, []
    for entry in _files(folders):
        if entry.name.endswith(".py"):
            written = entry.stat().st_mtime
            newest = max(newest, written if written <= now else 0.0)
        elif entry.name.endswith(".nbi"):
            indices.append((entry.stat().st_mtime, entry.path))
    return [path for written, path in indices if written < newest]


def _files(folders: Sequence[str]) -> Iterator[os.DirEntry[str]]:
    waiting = list(folders)
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:  # may be removed meanwhile
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield entry
