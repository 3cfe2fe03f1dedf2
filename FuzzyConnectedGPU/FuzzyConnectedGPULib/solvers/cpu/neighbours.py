"""The six neighbours of a voxel in a flat K, J, I volume, and the volume as inner loops read it."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from .affinity_levels import AffinityTables, affinity_tables

if TYPE_CHECKING:
    from ...problem import Problem

NEIGHBOUR_COUNT = 6


class Grid(NamedTuple):
    """A problem as the compiled queues read it.

    Attributes
    ----------
    voxels : ndarray, shape (n,)
    mask : ndarray of uint8, shape (n,); of size 0 where there is none
    shape : ndarray, shape (3,)
        K, J, I.
    floor : int
        The lowest level that counts.
    tables : AffinityTables
    """

    voxels: np.ndarray
    mask: np.ndarray
    shape: np.ndarray
    floor: int
    tables: AffinityTables


def grid_of(problem: "Problem") -> Grid:
    """The arrays of a problem that the compiled queues read."""
    mask = np.empty(0, np.uint8) if problem.mask is None else problem.mask.ravel()
    shape = np.array(problem.voxels.shape)
    floor = max(problem.cut_level, 1)
    return Grid(problem.voxels.ravel(), mask, shape, floor, affinity_tables(problem))


@njit(cache=True)
def neighbour(voxel: int, side: int, shape: np.ndarray) -> int:
    """Flat index of the neighbour on `side` (-I, +I, -J, +J, -K, +K); -1 outside the volume."""
    row, plane = shape[2], shape[1] * shape[2]
    if side == 0:
        return voxel - 1 if voxel % row > 0 else -1
    if side == 1:
        return voxel + 1 if voxel % row < row - 1 else -1
    if side == 2:
        return voxel - row if voxel % plane >= row else -1
    if side == 3:
        return voxel + row if voxel % plane < plane - row else -1
    if side == 4:
        return voxel - plane if voxel >= plane else -1
    return voxel + plane if voxel < plane * (shape[0] - 1) else -1
