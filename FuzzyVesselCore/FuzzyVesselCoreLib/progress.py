"""Long work: its progress, its cancellation, and parts of a volume worked on by threads."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar

import numpy as np

from .errors import Cancelled

# Called with the share done, 0 to 1; False cancels the run, None and True let it go on.
ProgressCallback = Callable[[float], bool | None]

POLL_INTERVAL = 0.05  # seconds between two calls of the callback while compiled code runs


class Progress:
    """Share of a run that is done, reported to ``callback(share) -> bool or None``; False cancels.

    `carry_out` works in another thread where ``in_thread(work, progress)`` is given: it returns
    ``work(told)``, whose ``told(share)`` is called like the callback, and meanwhile calls
    `progress`.

    Examples
    --------
    >>> shares = []
    >>> progress = Progress(shares.append)
    >>> progress.part(0.5, 1.0).advance(0.5)
    >>> progress.check()
    >>> shares
    [0.75, 0.75]
    """

    def __init__(self, callback: ProgressCallback | None = None, in_thread: Any = None) -> None:
        self._root = self
        self._callback, self._in_thread = callback, in_thread
        self._share = 0.0  # of the whole run; it never falls
        self._start, self._span = 0.0, 1.0

    @classmethod
    def of(cls, progress: "Progress | ProgressCallback | None") -> "Progress":
        """Return a `Progress` for what a public function was given as ``progress``."""
        return progress if isinstance(progress, Progress) else cls(progress)

    def part(self, start: float, end: float) -> "Progress":
        """Progress of the part of this run between two of its shares."""
        part = Progress()
        part._root = self._root
        part._start = self._start + start * self._span
        part._span = (end - start) * self._span
        return part

    def advance(self, share: float) -> None:
        """Report the share of this part that is done; raises `Cancelled` on False."""
        share = min(max(float(self._start + share * self._span), 0.0), 1.0)
        self._root._share = max(self._root._share, share)
        self.check()

    def check(self) -> None:
        """Report the last share again, so that the run can be cancelled; raises `Cancelled`."""
        root = self._root
        if root._callback is None:
            return
        go_on = root._callback(root._share)
        if go_on is not None and not go_on:  # numpy's False is not Python's
            raise Cancelled("Cancelled; nothing was changed.")

    def __call__(self, share: float) -> bool:
        """`advance`, as a callback for a function that reports shares of its own."""
        self.advance(share)
        return True

    def carry_out(self, work: Callable[["Progress"], Any]) -> Any:
        """Return ``work(progress)``, of another thread where the run has one."""
        self.check()
        in_thread = self._root._in_thread
        return in_thread(lambda told: work(Progress(told)), self) if in_thread else work(self)

    def wait_for(self, work: Callable[..., Any], *args: Any) -> Any:
        """Return ``work(*args, stop)``, which runs in a thread while the callback is called.

        The work is compiled code that releases the interpreter lock. It must return early when
        ``stop[0]``, of an array of uint8, is not 0: then `Cancelled` is raised.
        """
        stop = np.zeros(1, np.uint8)
        if self._root._callback is None:  # it cannot be cancelled
            return work(*args, stop)
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(work, *args, stop)
            try:
                while True:
                    try:
                        return result.result(POLL_INTERVAL)
                    except TimeoutError:
                        self.check()
            except BaseException:
                stop[0] = 1
                raise


# ---- parts of a volume, by threads

SMALL_PART = 1 << 13  # voxels, below which handing work over takes longer than doing it
PARTS = 4  # for each thread: one that is held up leaves its next ones to others

Found = TypeVar("Found")


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool_of(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: starting sixteen for each piece of work takes milliseconds each time."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool_of.cache_clear)  # a forked process has no threads


def by_threads(threads: int, work: Callable[..., Found], *arguments: Iterable) -> list[Found]:
    """Return ``list(map(work, *arguments))``, computed by so many threads.

    The work must not call this function. After an error nothing is at work any more: memory that it
    used can be freed.
    """
    calls = [_pool_of(threads).submit(work, *each) for each in zip(*arguments)]
    try:
        return [call.result() for call in calls]
    finally:
        for call in calls:
            call.cancel()
        wait(calls)


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
    return by_threads(threads, work, bounds[:-1], bounds[1:])
