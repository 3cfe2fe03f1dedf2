"""The edges of one block of voxels that matter for widest paths, from the strongest down.

A block is worked on in a region: the block and one layer of voxels around it, so that the edges to
its neighbours are seen from both sides in the same way. Of the four edges of any square of voxels
the least is on no widest path that the other three would not serve as well; the order among equal
levels is by axis and position. Without these edges about 1.2 of 3 edges a voxel are left.
"""

import numpy as np
from numba import njit

from ...affinity.gaussian_affinity import TOP_LEVEL
from .voxel_affinity import computed_level

DEPTH, HEIGHT, WIDTH = 16, 32, 32  # of a block: K, J, I
VOXELS = DEPTH * HEIGHT * WIDTH
ROW = WIDTH + 2  # steps in the region from a voxel to its neighbour along J and K
PLANE = ROW * (HEIGHT + 2)
REGION = PLANE * (DEPTH + 2)
FIRST = PLANE + ROW + 64  # the region's first voxel in its array: reads beyond its ends see no edge
ARRAY = REGION + 2 * FIRST
MOST_EDGES = 3 * VOXELS + HEIGHT * WIDTH + DEPTH * WIDTH + DEPTH * HEIGHT
# Axis of an edge in the list: from a voxel along I, J or K; or into the block from before it.
AXIS_I, AXIS_J, AXIS_K, FROM_BEFORE = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def load_row(voxels, mask, k0, j0, intensities, valid):
    """Copy the voxels of a row of blocks along I, and those around it.

    Parameters
    ----------
    voxels : ndarray, shape (K, J, I)
    mask : ndarray, uint8, of the same shape; or of size 0: all voxels are valid
    k0, j0 : int
        Where the row begins.
    intensities, valid : ndarrays, float32 and uint8, shape (DEPTH + 2, HEIGHT + 2, I' + 2)
        I' is the length of the blocks together; 0 is written where there is no valid voxel.
    """
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
def load_region(intensities, valid, i0, region, region_valid):
    """Copy one region out of what `load_row` has written; the block begins at `i0`.

    Returns
    -------
    count : int
        Valid voxels of the region.
    """
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
def edge_levels(region, step, floor, sum_table, difference_table, lowest_sum, coefficients, levels):
    """Level of the edge from each voxel of the region to the one `step` further; 0 below `floor`.

    Intensities are float32; those of integer volumes, their sums and differences are exact in it.
    """
    floor = np.int32(floor)
    lowest_sum = np.float32(lowest_sum)
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
def cut_off(along_i, along_j, along_k, valid):
    """Take away the edges that lead out of the region, and those of voxels that are not valid."""
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


# In each of the following, an edge lies in four squares; the edge across it in the square comes
# before or after it in the order, and so do the other two: hence < or <=.


@njit(cache=True, nogil=True)
def strong_along_i(along_i, along_j, along_k, strong):
    """The edges along I that are not the least of any square; 0 for the others."""
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
def strong_along_j(along_i, along_j, along_k, strong):
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
def strong_along_k(along_i, along_j, along_k, strong):
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


@njit(cache=True, nogil=True)
def listed_edges(strong, parent, edges):
    """List the edges of a block: between its pieces, and those that lead into or out of it.

    An edge is one number: 65535 - level, axis, and the voxel in the block (16, 2 and 14 bits).

    Parameters
    ----------
    strong : ndarray, uint16, shape (3, ARRAY)
    parent : ndarray, uint16, shape (VOXELS + 1,)
        Edges between voxels of the same parent are left out.
    edges : ndarray, uint32
        Receives the list.

    Returns
    -------
    count : int
    """
    count = 0
    for k in range(DEPTH):
        for j in range(HEIGHT):
            at, first = FIRST + (k + 1) * PLANE + (j + 1) * ROW + 1, (k * HEIGHT + j) * WIDTH
            for i in range(WIDTH):
                apart = (i == WIDTH - 1) | (parent[first + i] != parent[first + i + 1])
                count = listed(edges, count, strong[AXIS_I, at + i], apart, AXIS_I, first + i)
            leaves, step = j == HEIGHT - 1, WIDTH if j < HEIGHT - 1 else 0
            for i in range(WIDTH):
                apart = leaves | (parent[first + i] != parent[first + i + step])
                count = listed(edges, count, strong[AXIS_J, at + i], apart, AXIS_J, first + i)
            leaves, step = k == DEPTH - 1, HEIGHT * WIDTH if k < DEPTH - 1 else 0
            for i in range(WIDTH):
                apart = leaves | (parent[first + i] != parent[first + i + step])
                count = listed(edges, count, strong[AXIS_K, at + i], apart, AXIS_K, first + i)
    for j in range(HEIGHT):
        for i in range(WIDTH):
            level = strong[AXIS_K, FIRST + (j + 1) * ROW + i + 1]
            count = listed(edges, count, level, True, FROM_BEFORE, j * WIDTH + i)
    for k in range(DEPTH):
        plane = FIRST + (k + 1) * PLANE
        for i in range(WIDTH):
            level = strong[AXIS_J, plane + i + 1]
            count = listed(edges, count, level, True, FROM_BEFORE, k * HEIGHT * WIDTH + i)
        for j in range(HEIGHT):
            level = strong[AXIS_I, plane + (j + 1) * ROW]
            count = listed(edges, count, level, True, FROM_BEFORE, (k * HEIGHT + j) * WIDTH)
    return count


@njit(cache=True, nogil=True)
def listed(edges, count, level, apart, axis, voxel):
    """Write an edge; the count is one more if it is kept, which takes no branch."""
    low_bits = np.uint32((axis << 14) | voxel)
    edges[count] = ((np.uint32(TOP_LEVEL) - np.uint32(level)) << np.uint32(16)) | low_bits
    return count + np.int64((level > 0) & apart)


@njit(cache=True, nogil=True)
def sort_edges(edges, count, spare, places):
    """Sort by falling level: a radix sort by the level's lower and then its upper byte.

    Parameters
    ----------
    edges, spare : ndarray, uint32
    count : int
    places : ndarray of int, shape (2, 256)
    """
    eight, sixteen, byte = np.uint32(8), np.uint32(16), np.uint32(255)
    lower, upper = places[0], places[1]
    places[:] = 0
    for n in range(count):
        lower[(edges[n] >> sixteen) & byte] += 1
        upper[edges[n] >> (sixteen + eight)] += 1
    below_lower, below_upper = 0, 0
    for digit in range(256):
        here = lower[digit]
        lower[digit] = below_lower
        below_lower += here
        here = upper[digit]
        upper[digit] = below_upper
        below_upper += here
    for n in range(count):
        digit = (edges[n] >> sixteen) & byte
        spare[lower[digit]] = edges[n]
        lower[digit] += 1
    for n in range(count):
        digit = spare[n] >> (sixteen + eight)
        edges[upper[digit]] = spare[n]
        upper[digit] += 1
