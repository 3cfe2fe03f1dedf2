"""Number of threads to work with, and work on parts of a volume by threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

SMALL_VOLUME = 1 << 17  # voxels, below which starting threads takes longer than the work
PARTS = 4  # for each thread: one that is held up leaves its next ones to others

Found = TypeVar("Found")


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parts(work: Callable[[int, int], Found], count: int, voxels: int) -> list[Found]:
    """Work on parts of ``range(count)``, by threads unless there is little to do.

    Compiled code that releases the GIL (``nogil``) is called by it: `numba.prange` makes numba
    compile twice as long, and its threads must not be used by two threads at a time everywhere.
    ``work(first, last)`` is called for each part; fewer `voxels` than `SMALL_VOLUME` are one part.
    What it returned comes back in the order of the parts.
    """
    threads = min(usable_cores(), 2 * voxels // SMALL_VOLUME)
    if threads < 2 or count < 2:
        return [work(0, count)] if count else []
    parts = min(PARTS * threads, 2 * voxels // SMALL_VOLUME, count)
    bounds = [count * n // parts for n in range(parts + 1)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, bounds[:-1], bounds[1:]))
