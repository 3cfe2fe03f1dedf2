"""Memory of a large array, made by threads while the processor waits for a device."""

from collections.abc import Iterator
from concurrent.futures import Future, wait
from typing import Any, Self

import numpy as np

from ..threads import kept_threads, thread_count

PAGE_BYTES = 4096  # the smallest page of memory: one byte of each is written to make it
PAGES = 1024  # that a thread makes at a time


class MemorySoon:
    """An array without values. Its pages are made from `begin` on, until it is asked for.

    To make pages takes the memory's whole bandwidth: while a volume is copied to a card it would
    only slow that down. Those that are not made yet are made when they are written. A context
    manager: at its end no thread works for it.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    given : ndarray, optional
        An array of the caller's of this shape and type, to be taken instead of a new one.

    Examples
    --------
    >>> with MemorySoon((2, 3), "uint8") as memory:
    ...     memory.begin()
    ...     memory.result().shape
    (2, 3)
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, given: np.ndarray | None = None) -> None:
        self._array = np.empty(shape, dtype) if given is None else given
        self._has_pages = given is not None  # at most, those of an array never written are missing
        self._making: list[Future[None]] = []
        self._wanted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._wanted = True
        wait(self._making)

    def begin(self) -> None:
        """Let threads make the pages of a new array; once."""
        if self._making or self._has_pages:
            return
        pages = self._array.reshape(-1).view(np.uint8)[::PAGE_BYTES]
        parts = iter([pages[n : n + PAGES] for n in range(0, pages.size, PAGES)])
        threads = thread_count()
        pool = kept_threads(threads, "pages")
        self._making = [pool.submit(self._make, parts) for _ in range(threads)]

    def result(self) -> np.ndarray:
        """The array; no further pages are made."""
        self._wanted = True
        for made in self._making:
            made.result()
        return self._array

    def _make(self, parts: Iterator[np.ndarray]) -> None:
        for pages in parts:  # which the threads share
            if self._wanted:
                return
            pages.fill(0)
