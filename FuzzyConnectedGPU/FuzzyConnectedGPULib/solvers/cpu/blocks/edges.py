"""The edges of a block of voxels that widest paths need.

A block is processed in a region: the block and one layer of voxels around it, so that the edges to
the adjacent blocks are the same from both sides. Of the four edges of any square of voxels the
weakest is not needed: a path along the other three is as good. Equal levels are ordered by axis and
position. About 1.2 of 3 edges per voxel remain.
"""

from typing import Any

import numpy as np
from numba import njit

from ..affinity_levels import AffinityTables, computed_level
from .scratch import DEPTH, FIRST, HEIGHT, PLANE, REGION, ROW, LoadedRow


@njit(cache=True, nogil=True)
def load_row(voxels: np.ndarray, mask: np.ndarray, row: tuple[int, int], loaded: LoadedRow) -> None:
    """Copy the voxels of a row of blocks along I, and the layer around it.

    Parameters
    ----------
    voxels : ndarray, shape (K, J, I)
    mask : ndarray, uint8, of the same shape; or of size 0: all voxels are valid
    row : (k0, j0)
        First voxel of the row.
    loaded : LoadedRow
        Receives the voxels; 0 where there is no valid voxel.
    """
    intensities, valid = loaded
    k0, j0 = row
    depth, height, width = voxels.shape
    intensities[:] = 0
    valid[:] = 0
    for k in range(max(k0 - 1, 0), min(k0 + DEPTH + 1, depth)):
        for j in range(max(j0 - 1, 0), min(j0 + HEIGHT + 1, height)):
            to, to_valid = intensities[k - k0 + 1, j - j0 + 1], valid[k - k0 + 1, j - j0 + 1]
            for i in range(width):
                to[i + 1] = voxels[k, j, i]
            if mask.size == 0:
                to_valid[1 : width + 1] = 1
            else:
                to_valid[1 : width + 1] = mask[k, j]


@njit(cache=True, nogil=True)
def load_region(loaded: LoadedRow, i0: int, region: np.ndarray, region_valid: np.ndarray) -> int:
    """Copy the region of the block that begins at `i0` from a loaded row.

    Returns
    -------
    count : int
        Valid voxels of the region.
    """
    intensities, valid = loaded
    at, count = FIRST, 0
    for k in range(DEPTH + 2):
        for j in range(HEIGHT + 2):
            for i in range(ROW):
                region[at + i] = intensities[k, j, i0 + i]
                region_valid[at + i] = valid[k, j, i0 + i]
                count += valid[k, j, i0 + i]
            at += ROW
    return count


@njit(cache=True, nogil=True)
def edge_levels(
    region: np.ndarray, step: int, floor: Any, tables: AffinityTables, levels: np.ndarray
) -> None:
    """Level of the edge from each voxel of the region to the one `step` further; 0 below `floor`.

    Intensities are float32; those of integer volumes, their sums and differences are exact in it.
    """
    sum_table, difference_table, coefficients = tables.sums, tables.differences, tables.coefficients
    floor = np.int32(floor)
    lowest_sum = np.float32(tables.lowest_sum)
    weighted = coefficients[5] != np.float32(0)
    if sum_table.size == 0:
        for x in range(FIRST, FIRST + REGION):
            level = np.int32(computed_level(region[x], region[x + step], coefficients))
            levels[x] = level if level >= floor else 0
    elif weighted:
        for x in range(FIRST, FIRST + REGION):
            total = np.uint32(np.int32(region[x] + region[x + step] - lowest_sum))
            difference = np.uint32(np.int32(abs(region[x] - region[x + step])))
            level = np.int32(np.rint(sum_table[total] + difference_table[difference]))
            levels[x] = level if level >= floor else 0
    else:
        for x in range(FIRST, FIRST + REGION):
            total = np.uint32(np.int32(region[x] + region[x + step] - lowest_sum))
            difference = np.uint32(np.int32(abs(region[x] - region[x + step])))
            level = np.int32(np.rint(sum_table[total] * difference_table[difference]))
            levels[x] = level if level >= floor else 0


@njit(cache=True, nogil=True)
def cut_off(
    along_i: np.ndarray, along_j: np.ndarray, along_k: np.ndarray, valid: np.ndarray
) -> None:
    """Remove the edges that lead out of the region, and those of invalid voxels."""
    for row in range(FIRST, FIRST + REGION, ROW):
        along_i[row + ROW - 1] = 0
    for plane in range(FIRST, FIRST + REGION, PLANE):
        for x in range(plane + PLANE - ROW, plane + PLANE):
            along_j[x] = 0
    for x in range(FIRST + REGION - PLANE, FIRST + REGION):
        along_k[x] = 0
    for x in range(FIRST, FIRST + REGION):
        here = valid[x]
        along_i[x] = along_i[x] if here & valid[x + 1] else 0
        along_j[x] = along_j[x] if here & valid[x + ROW] else 0
        along_k[x] = along_k[x] if here & valid[x + PLANE] else 0


# In the following, an edge lies in four squares; in the order of equal levels each other edge of a
# square comes before or after it: hence < or <=.


@njit(cache=True, nogil=True)
def strong_along_i(
    along_i: np.ndarray, along_j: np.ndarray, along_k: np.ndarray, strong: np.ndarray
) -> None:
    """The edges along I that are not the weakest of any square; 0 for the others."""
    for x in range(FIRST, FIRST + REGION):
        it = along_i[x]
        least = (it <= along_i[x + ROW]) & (it <= along_j[x]) & (it <= along_j[x + 1])
        y = x - ROW
        least |= (it < along_i[y]) & (it <= along_j[y]) & (it <= along_j[y + 1])
        least |= (it <= along_i[x + PLANE]) & (it <= along_k[x]) & (it <= along_k[x + 1])
        y = x - PLANE
        least |= (it < along_i[y]) & (it <= along_k[y]) & (it <= along_k[y + 1])
        strong[x] = np.uint16(0) if least else it


@njit(cache=True, nogil=True)
def strong_along_j(
    along_i: np.ndarray, along_j: np.ndarray, along_k: np.ndarray, strong: np.ndarray
) -> None:
    """As `strong_along_i`, for edges along J."""
    for x in range(FIRST, FIRST + REGION):
        it = along_j[x]
        least = (it <= along_j[x + 1]) & (it < along_i[x]) & (it < along_i[x + ROW])
        y = x - 1
        least |= (it < along_j[y]) & (it < along_i[y]) & (it < along_i[y + ROW])
        least |= (it <= along_j[x + PLANE]) & (it <= along_k[x]) & (it <= along_k[x + ROW])
        y = x - PLANE
        least |= (it < along_j[y]) & (it <= along_k[y]) & (it <= along_k[y + ROW])
        strong[x] = np.uint16(0) if least else it


@njit(cache=True, nogil=True)
def strong_along_k(
    along_i: np.ndarray, along_j: np.ndarray, along_k: np.ndarray, strong: np.ndarray
) -> None:
    """As `strong_along_i`, for edges along K."""
    for x in range(FIRST, FIRST + REGION):
        it = along_k[x]
        least = (it <= along_k[x + 1]) & (it < along_i[x]) & (it < along_i[x + PLANE])
        y = x - 1
        least |= (it < along_k[y]) & (it < along_i[y]) & (it < along_i[y + PLANE])
        least |= (it <= along_k[x + ROW]) & (it < along_j[x]) & (it < along_j[x + PLANE])
        y = x - ROW
        least |= (it < along_k[y]) & (it < along_j[y]) & (it < along_j[y + PLANE])
        strong[x] = np.uint16(0) if least else it
