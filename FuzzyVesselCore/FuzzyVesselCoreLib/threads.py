"""Number of threads to work with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

MAX_COPY_THREADS = 8  # more are bound by the memory
SMALL_VOLUME = 1 << 17  # voxels, below which waking threads takes longer than the work


def thread_count() -> int:
    """Return the number of threads for copying and converting large arrays."""
    return min(usable_cores(), MAX_COPY_THREADS)


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def single_threaded_if_small(shape: tuple[int, ...]) -> Iterator[None]:
    """Run numba's parallel loops in the calling thread if a volume of this shape is small."""
    from numba import get_num_threads, set_num_threads

    threads = get_num_threads()
    if prod(shape) < SMALL_VOLUME:
        set_num_threads(1)
    try:
        yield
    finally:
        set_num_threads(threads)
