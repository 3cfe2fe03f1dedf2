"""Voxels that compiled loops list: how many there are is known afterwards."""

from collections.abc import Callable

import numpy as np

FIRST_CAPACITY = 1 << 12  # voxels of a part; with more of them the search is repeated


def listed(search: Callable[[np.ndarray], int]) -> np.ndarray:
    """All voxels (n, 3) that a search finds.

    Parameters
    ----------
    search : callable
        Writes voxels K, J, I to an array of int64, (capacity, 3), as far as there is room; returns
        how many there are.
    """
    voxels = np.empty((FIRST_CAPACITY, 3), np.int64)
    while True:
        count = search(voxels)
        if count <= len(voxels):
            return voxels[:count]
        voxels = np.empty((count, 3), np.int64)
