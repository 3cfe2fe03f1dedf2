"""The 65,536 levels of affinities, and their values 0..1."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.threads import thread_count

TOP_LEVEL = 65535
VALUES_AT_ONCE = 1 << 18
VALUES_PER_TASK = 1 << 21  # converted by one thread at a time


def combine(sum_term: np.ndarray, difference_term: np.ndarray, weighted: bool) -> np.ndarray:
    """Affinity levels (uint16) from the two terms."""
    affinity = sum_term + difference_term if weighted else sum_term * difference_term
    return np.rint(affinity).astype(np.uint16)


def write_level_values(levels: np.ndarray, values: np.ndarray) -> None:
    """Write ``level / 65535``, rounded once, into a float32 array of the same shape.

    Converted and then divided in place, in parts that stay in a core's cache: numpy's division of
    another type goes through buffers and takes twice as long.
    """
    if not (levels.flags.c_contiguous and values.flags.c_contiguous):
        np.copyto(values, levels)
        np.divide(values, np.float32(TOP_LEVEL), out=values)
        return
    levels, values = levels.reshape(-1), values.reshape(-1)
    for start in range(0, levels.size, VALUES_AT_ONCE):
        part = values[start : start + VALUES_AT_ONCE]
        np.copyto(part, levels[start : start + VALUES_AT_ONCE])
        np.divide(part, np.float32(TOP_LEVEL), out=part)


def level_values(levels: Any) -> np.ndarray:
    """The affinity (float32, 0..1) of each level: ``level / 65535``, rounded once."""
    levels = np.asarray(levels)
    values = np.empty(levels.shape, np.float32)
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
