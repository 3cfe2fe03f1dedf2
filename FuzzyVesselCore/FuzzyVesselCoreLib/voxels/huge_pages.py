"""Large pages for memory that NumPy has not allocated itself: NumPy asks for them, VTK does not."""

import ctypes
import functools
import sys
from typing import Any

import numpy as np

LEAST_BYTES = 1 << 22  # as NumPy
PAGE_BYTES = 4096
MADV_HUGEPAGE = 14


def ask_for_huge_pages(array: np.ndarray) -> None:
    """Let Linux give an array's memory, which nobody has used yet, pages of 2 MB.

    Making and freeing 34,000 pages of 4 KB takes several times as long as writing them once. Where
    the system has no such pages nothing is done.
    """
    first = -(-array.ctypes.data // PAGE_BYTES) * PAGE_BYTES
    length = (array.ctypes.data + array.nbytes - first) // PAGE_BYTES * PAGE_BYTES
    advise = _madvise()
    if array.nbytes >= LEAST_BYTES and advise is not None:
        advise(first, length, MADV_HUGEPAGE)


@functools.cache
def _madvise() -> Any:
    """`madvise` of the C library; None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    function = getattr(ctypes.CDLL(None), "madvise", None)
    if function is not None:
        function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function
