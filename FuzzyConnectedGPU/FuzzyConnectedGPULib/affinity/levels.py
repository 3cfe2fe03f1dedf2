"""The 65,536 levels of affinities, and their values 0..1."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.threads import thread_count

TOP_LEVEL = 65535
BUFFERED = 1 << 18  # values
VALUES_PER_TASK = 1 << 21  # converted by one thread at a time


def combine(sum_term: np.ndarray, difference_term: np.ndarray, weighted: bool) -> np.ndarray:
    """Affinity levels (uint16) from the two terms."""
    affinity = sum_term + difference_term if weighted else sum_term * difference_term
    return np.rint(affinity).astype(np.uint16)


def write_level_values(levels: np.ndarray, values: np.ndarray) -> None:
    """Write ``level / 65535``, rounded once, into a float32 array of the same shape.

    NumPy converts to another type through a buffer; in one that fills a core's cache it takes half
    as long as in the usual ones.
    """
    usual = np.setbufsize(BUFFERED)  # of this thread
    try:
        np.divide(levels, np.float32(TOP_LEVEL), out=values, dtype=np.float32)
    finally:
        np.setbufsize(usual)


def level_values(levels: Any, out: np.ndarray | None = None) -> np.ndarray:
    """The affinity (float32, 0..1) of each level: ``level / 65535``, rounded once.

    They are written into `out`, a float32 array (C order) of the same shape, if there is one.
    """
    levels = np.asarray(levels)
    values = np.empty(levels.shape, np.float32) if out is None else out
    if levels.size < 2 * VALUES_PER_TASK:
        write_level_values(levels, values)
        return values
    flat_levels, flat_values = levels.reshape(-1), values.reshape(-1)

    def convert(start: int) -> None:
        part = slice(start, start + VALUES_PER_TASK)
        write_level_values(flat_levels[part], flat_values[part])

    with ThreadPoolExecutor(thread_count()) as pool:  # numpy releases the GIL
        list(pool.map(convert, range(0, levels.size, VALUES_PER_TASK)))
    return values
