"""Components of a block's voxels after Boruvka's first round, as a union-find forest."""

from typing import Any

import numpy as np
from numba import njit

from .scratch import DEPTH, FIRST, HEIGHT, PLANE, ROW, VOXELS, WIDTH

JUMPS = 2  # pointer jumps of all voxels; most then point to their root
FIRST_NODE = np.uint32(VOXELS)  # in `parent`: from here on nodes, below it voxels


@njit(cache=True, nogil=True)
def hook_voxels(
    strong: np.ndarray, seeds: np.ndarray, parent: np.ndarray, limit: np.ndarray
) -> None:
    """Hook every voxel onto the neighbour along its best edge (Boruvka's first round).

    A voxel has the value of its component, but at most the level of its best edge. Seeds (numbers
    of voxels) are not hooked, nor are voxels whose best edge leads out of the block.

    Parameters
    ----------
    strong : ndarray, uint16, shape (3, ARRAY)
    seeds : ndarray of int
    parent : ndarray, uint16, shape (VOXELS,)
        Receives the voxel that represents each voxel's component.
    limit : ndarray, uint16, shape (VOXELS,)
        Receives the level of each voxel's best edge.
    """
    for k in range(DEPTH):
        for j in range(HEIGHT):
            row = (k * HEIGHT + j) * WIDTH
            find_best_neighbours(strong[0], strong[1], strong[2], k, j, parent, limit, row)
    for voxel in seeds:
        parent[voxel] = voxel
    for voxel in range(VOXELS):
        other = parent[voxel]
        is_first = (parent[other] == voxel) & (voxel < other)
        parent[voxel] = voxel if is_first else other
    for _ in range(JUMPS):
        for voxel in range(VOXELS):
            parent[voxel] = parent[parent[voxel]]


@njit(cache=True, nogil=True)
def find_best_neighbours(
    along_i: np.ndarray,
    along_j: np.ndarray,
    along_k: np.ndarray,
    k: int,
    j: int,
    parent: np.ndarray,
    limit: np.ndarray,
    row: int,
) -> None:
    """For a row of voxels the level of the best edge, and the voxel of the block that it leads to.

    Among equal levels the last edge by axis and position is the best, so that no cycle can form.
    The axes are three arguments: from one array the loop would not be vectorized.
    """
    at = FIRST + (k + 1) * PLANE + (j + 1) * ROW + 1
    plane = HEIGHT * WIDTH
    below = np.int32(-plane if k > 0 else 0)
    above = np.int32(plane if k < DEPTH - 1 else 0)
    before = np.int32(-WIDTH if j > 0 else 0)
    behind = np.int32(WIDTH if j < HEIGHT - 1 else 0)
    for i in range(WIDTH):
        x = at + i
        best, step = along_k[x], above
        other = along_k[x - PLANE]
        step = below if other > best else step
        best = max(best, other)
        other = along_j[x]
        step = behind if other > best else step
        best = max(best, other)
        other = along_j[x - ROW]
        step = before if other > best else step
        best = max(best, other)
        other = along_i[x]
        step = np.int32(1) if other > best else step
        best = max(best, other)
        other = along_i[x - 1]
        step = np.int32(-1) if other > best else step
        best = max(best, other)
        limit[row + i] = best
        parent[row + i] = np.uint16(row + i + (step if best > 0 else 0))
    if parent[row] == np.uint16(row - 1):
        parent[row] = row
    if parent[row + WIDTH - 1] == row + WIDTH:
        parent[row + WIDTH - 1] = row + WIDTH - 1


@njit(cache=True, nogil=True)
def component_root(parent: np.ndarray, voxel: Any) -> Any:
    """The voxel that represents a voxel's component; compresses the path."""
    above = np.uint32(parent[voxel])
    while above != voxel and above < FIRST_NODE:
        next_above = np.uint32(parent[above])
        if next_above >= FIRST_NODE:
            return above
        parent[voxel] = next_above
        voxel = next_above
        above = np.uint32(parent[voxel])
    return voxel
