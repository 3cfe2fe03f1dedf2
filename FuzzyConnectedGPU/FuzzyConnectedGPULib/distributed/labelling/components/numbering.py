"""The numbers of a block's pieces, voxel by voxel."""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.threads import in_parts

CHUNK = 1 << 18  # voxels that a thread takes at a time


def numbered(labels: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """``numbers[labels]``, by threads.

    Examples
    --------
    >>> numbered(np.array([[[2, 0, 1]]], np.int32), np.array([0, 7, 5], np.uint8))
    array([[[5, 0, 7]]], dtype=uint8)
    """
    result = np.empty(labels.shape, numbers.dtype)
    given, found = labels.reshape(-1), result.reshape(-1)

    def work(first: int, last: int) -> None:
        some = slice(first * CHUNK, last * CHUNK)
        _look_up(given[some], numbers, found[some])

    in_parts(work, -(-labels.size // CHUNK), labels.size)
    return result


@njit(cache=True, nogil=True)
def _look_up(labels: np.ndarray, numbers: np.ndarray, result: np.ndarray) -> None:
    for n in range(labels.size):
        result[n] = numbers[labels[n]]
