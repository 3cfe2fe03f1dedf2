"""Number of threads to work with, and work on parts of a volume by threads.

The threads stay for the next call: to begin sixteen of them takes as long as a small volume's work.
"""

import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

MAX_COPY_THREADS = 8  # more are bound by the memory
SMALL_VOLUME = 1 << 17  # voxels, below which waking threads takes longer than the work
PARTS = 4  # for each thread: one that is held up leaves its next ones to others
MOST_PARTS = 2  # for each SMALL_VOLUME: handing over a smaller part takes as long as its work

Found = TypeVar("Found")


def thread_count() -> int:
    """Return the number of threads for copying and converting large arrays."""
    return min(usable_cores(), MAX_COPY_THREADS)


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parts(work: Callable[[int, int], Found], count: int, voxels: int) -> list[Found]:
    """Work on parts of ``range(count)``, by threads unless there is little to do.

    Compiled code that releases the GIL (``nogil``) is called by it: `numba.prange` makes numba
    compile twice as long, and its threads must not be used by two threads at a time everywhere.

    Parameters
    ----------
    work : callable
        Called with the first number of a part and its end.
    count : int
        For example planes.
    voxels : int
        How many there are in all of them: fewer than `SMALL_VOLUME` are one part.

    Returns
    -------
    list
        What `work` returned, in the order of the parts.

    Examples
    --------
    >>> in_parts(lambda first, last: last - first, 7, 0)
    [7]
    >>> sum(in_parts(lambda first, last: last - first, 7, 1 << 20))
    7
    """
    threads = 1 if voxels < SMALL_VOLUME else usable_cores()
    most = max(MOST_PARTS * voxels // max(SMALL_VOLUME, 1), 1)
    parts = min(PARTS * threads, most, count) if threads > 1 else min(count, 1)
    bounds = list(pairwise(count * n // max(parts, 1) for n in range(parts + 1)))
    if len(bounds) < 2:
        return [work(first, last) for first, last in bounds]
    if getattr(_this_thread, "is_kept", False):  # which the others may all be waiting for
        with ThreadPoolExecutor(min(threads, len(bounds)), "parts", *_MARKING) as pool:
            return list(pool.map(lambda part: work(*part), bounds))
    waiting: list[Future[Found]] = []
    try:
        for part in bounds:
            waiting.append(kept_threads(threads, "parts").submit(work, *part))
        wait(waiting)  # also where one of them fails: no thread works on when this returns
    except BaseException:  # such as Ctrl+C
        for found in waiting:
            found.cancel()
        wait(waiting)
        raise
    return [found.result() for found in waiting]


def by_planes(work: Callable[[int], None], volume: "np.ndarray") -> None:
    """Work on each plane of a volume, by threads: NumPy's passes then stay in a core's cache.

    Parameters
    ----------
    work : callable
        Called with the number of each plane.
    volume : ndarray, shape (K, J, I)

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.zeros((3, 1, 2))
    >>> by_planes(lambda k: volume[k].fill(k), volume)
    >>> volume[:, 0, 1]
    array([0., 1., 2.])
    """

    def planes(first: int, last: int) -> None:
        for k in range(first, last):
            work(k)

    in_parts(planes, len(volume), volume.size)


_this_thread = threading.local()
_MARKING = setattr, (_this_thread, "is_kept", True)  # also of those that parts of parts are given


@functools.cache
def kept_threads(count: int, purpose: str) -> ThreadPoolExecutor:
    """Return threads that wait for work of a purpose, and are never ended.

    As many as ever had work at a time are begun. Work of a purpose must not wait for other work of
    the same purpose.
    """
    return ThreadPoolExecutor(count, purpose, *_MARKING)


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=kept_threads.cache_clear)
