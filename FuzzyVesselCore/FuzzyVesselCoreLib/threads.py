"""Number of threads to work with, and work on parts of a volume by threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

SMALL_PART = 1 << 13  # voxels, below which handing work over takes longer than doing it
PARTS = 4  # for each thread: one that is held up leaves its next ones to others

Found = TypeVar("Found")


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: starting sixteen for each piece of work takes milliseconds each time."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has no threads


def in_parts(work: Callable[[int, int], Found], count: int, voxels: int) -> list[Found]:
    """Work on parts of ``range(count)``, by threads unless there is little to do.

    Compiled code that releases the GIL (``nogil``) is called by it: `numba.prange` makes numba
    compile twice as long, and its threads must not be used by two threads at a time everywhere.
    ``work(first, last)`` is called for each part of at least `SMALL_PART` voxels, and must not call
    this function. What it returned comes back in the order of the parts.
    """
    threads = usable_cores()
    parts = min(PARTS * threads, voxels // SMALL_PART, count)
    if threads < 2 or parts < 2:
        return [work(0, count)] if count else []
    bounds = [count * n // parts for n in range(parts + 1)]
    return list(_pool(threads).map(work, bounds[:-1], bounds[1:]))
