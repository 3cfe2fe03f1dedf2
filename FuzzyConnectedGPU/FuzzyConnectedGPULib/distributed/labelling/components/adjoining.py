"""Pieces of neighbouring boxes are joined where their face voxels are adjacent."""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.labels import Connectivity

from ...partition import Index
from .union_find import number_trees, union

# The later half of the 26 neighbours, in the order K, J, I.
LATER = np.array(
    [(k, j, i) for k in (0, 1) for j in (-1, 0, 1) for i in (-1, 0, 1) if (k, j, i) > (0, 0, 0)]
)


def joined_pieces(
    voxels: np.ndarray,
    pieces: np.ndarray,
    count: int,
    shape: Index,
    connectivity: Connectivity = 26,
) -> tuple[np.ndarray, int]:
    """Which of the joined pieces each of `count` pieces belongs to, from 0, and their number.

    Parameters
    ----------
    voxels : ndarray of int64, (n,)
        Flat indices, ascending, in a volume of `shape`.
    pieces : ndarray of int64, (n,)
        The piece of each voxel, from 0.
    count : int
    shape : tuple of int
    connectivity : int
        26, or 6: over faces only.

    Examples
    --------
    >>> joined_pieces(np.array([2, 7, 9]), np.array([0, 1, 2]), 3, (1, 3, 4))
    (array([0, 0, 1]), 2)
    """
    parents = np.arange(count + 1)  # the tree of element 0 is that of no piece
    steps = LATER if connectivity == 26 else LATER[np.abs(LATER).sum(axis=1) == 1]
    _join(voxels, pieces, steps, np.array(shape), parents)
    numbers, joined = number_trees(parents)
    return numbers[1:] - 1, joined


@njit(cache=True, nogil=True)
def _join(
    voxels: np.ndarray,
    pieces: np.ndarray,
    steps: np.ndarray,
    shape: np.ndarray,
    parents: np.ndarray,
) -> None:
    """For each step the neighbours' indices ascend as the voxels' do: two pointers meet them."""
    for n in range(len(steps)):
        ahead = (steps[n, 0] * shape[1] + steps[n, 1]) * shape[2] + steps[n, 2]
        other = 0
        for here in range(voxels.size):
            wanted = voxels[here] + ahead
            while other < voxels.size and voxels[other] < wanted:
                other += 1
            if other == voxels.size:
                break
            if voxels[other] != wanted:
                continue
            j, i = voxels[here] // shape[2] % shape[1], voxels[here] % shape[2]
            if 0 <= j + steps[n, 1] < shape[1] and 0 <= i + steps[n, 2] < shape[2]:
                union(pieces[here] + 1, pieces[other] + 1, parents)
