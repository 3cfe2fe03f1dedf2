"""Digital topology of voxel objects: 26-connected object, 6-connected background.

The object is looked at as the union of its voxels' closed cubes, which has the same components,
tunnels and cavities as the digital object.
"""

import numpy as np
from numba import njit, prange

from .components.labels import count_pieces
from .components.run_length import end_of

PLANES_A_SLICE = 64  # between two looks at the progress callback


def _bits(condition):
    """27 bits, one a voxel of the 3 x 3 x 3 block in K, J, I order, set where the condition is."""
    offsets = [(k, j, i) for k in (-1, 0, 1) for j in (-1, 0, 1) for i in (-1, 0, 1)]
    return sum(1 << n for n, offset in enumerate(offsets) if condition(*offset))


FACES = _bits(lambda k, j, i: abs(k) + abs(j) + abs(i) == 1)
NEIGHBOURS_18 = _bits(lambda k, j, i: 0 < abs(k) + abs(j) + abs(i) < 3)
NOT_FIRST = tuple(_bits(lambda *o, axis=axis: o[axis] > -1) for axis in range(3))
NOT_LAST = tuple(_bits(lambda *o, axis=axis: o[axis] < 1) for axis in range(3))
NOT_FIRST_K, NOT_FIRST_J, NOT_FIRST_I = NOT_FIRST
NOT_LAST_K, NOT_LAST_J, NOT_LAST_I = NOT_LAST


@njit(cache=True, inline="always")
def _spread_26(bits):
    bits |= ((bits & NOT_LAST_I) << 1) | ((bits & NOT_FIRST_I) >> 1)
    bits |= ((bits & NOT_LAST_J) << 3) | ((bits & NOT_FIRST_J) >> 3)
    return bits | ((bits & NOT_LAST_K) << 9) | ((bits & NOT_FIRST_K) >> 9)


@njit(cache=True, inline="always")
def _spread_6(bits):
    return (
        bits
        | ((bits & NOT_LAST_I) << 1)
        | ((bits & NOT_FIRST_I) >> 1)
        | ((bits & NOT_LAST_J) << 3)
        | ((bits & NOT_FIRST_J) >> 3)
        | ((bits & NOT_LAST_K) << 9)
        | ((bits & NOT_FIRST_K) >> 9)
    )


@njit(cache=True)
def is_connected_26(bits):
    """Whether the set voxels of a 3 x 3 x 3 block are one 26-connected piece (none are not)."""
    if bits == 0:
        return False
    grown = bits & -bits
    while True:
        larger = _spread_26(grown) & bits
        if larger in (bits, grown):
            return larger == bits
        grown = larger


@njit(cache=True)
def is_simple(bits):
    """Whether a voxel may be removed without a change of topology.

    Parameters
    ----------
    bits : int
        The object's voxels among its 26 neighbours (bit 9k + 3j + i of the block; bit 13 clear).

    Returns
    -------
    bool
        True for a (26,6)-simple point: one 26-component of object neighbours, and one
        6-component of background in the 18-neighbourhood that touches a face of the voxel
        (Bertrand and Malandain 1994).
    """
    faces = FACES & ~bits
    if faces == 0 or not is_connected_26(bits):
        return False
    background = NEIGHBOURS_18 & ~bits
    grown = faces & -faces
    while True:
        if faces & ~grown == 0:
            return True
        larger = _spread_6(grown) & background
        if larger == grown:
            return False
        grown = larger


@njit(cache=True, inline="always")
def _row_bits(states, voxel, flag):
    """Three voxels in a row along I as bits."""
    return (
        np.int64(states[voxel - 1] & flag != 0)
        | np.int64(states[voxel] & flag != 0) << 1
        | np.int64(states[voxel + 1] & flag != 0) << 2
    )


@njit(cache=True, inline="always")
def _plane_bits(states, voxel, row, flag):
    return (
        _row_bits(states, voxel - row, flag)
        | _row_bits(states, voxel, flag) << 3
        | _row_bits(states, voxel + row, flag) << 6
    )


@njit(cache=True)
def neighbour_bits(states, voxel, row, plane, flag):
    """The 26 neighbours of a flat index that carry `flag`, as bits; the voxel is off the border."""
    bits = (
        _plane_bits(states, voxel - plane, row, flag)
        | _plane_bits(states, voxel, row, flag) << 9
        | _plane_bits(states, voxel + plane, row, flag) << 18
    )
    return bits & ~(1 << 13)


def _corner_table():
    """Eight times what a grid corner adds to the Euler characteristic, by its eight voxels."""
    table = np.zeros(256, np.int64)
    for configuration in range(1, 256):
        cubes = np.array([configuration >> n & 1 for n in range(8)], bool).reshape(2, 2, 2)
        edges = sum(cubes.take(side, axis).any() for axis in range(3) for side in range(2))
        faces = sum(np.count_nonzero(cubes.any(axis)) for axis in range(3))
        # A corner lies on 1 corner, half of an edge, a quarter of a face, an eighth of a cube.
        table[configuration] = 8 - 4 * edges + 2 * faces - np.count_nonzero(cubes)
    return table


CORNER_TABLE = _corner_table()


def euler_characteristic(mask, report=None):
    """Components - tunnels + cavities of the object (26-connected) in a (K, J, I) mask.

    `report` is called between slabs; it raises to cancel.
    """
    voxels, total = np.ascontiguousarray(mask).view(np.uint8), 0
    for first in range(0, len(voxels) + 1, PLANES_A_SLICE):
        last = min(first + PLANES_A_SLICE, len(voxels) + 1)
        total += int(sum_of_corners(voxels, first, last, CORNER_TABLE).sum())
        if report is not None:
            report()
    return total // 8


@njit(cache=True, parallel=True)
def sum_of_corners(mask, first, last, table):
    """Sums of the table's values over the corners before some planes (0 and 1); (planes,)."""
    depth, rows, width = mask.shape
    sums = np.zeros(last - first, np.int64)
    for k in prange(first, last):
        beside = np.zeros(width + 2, np.uint8)  # bits of the four voxels round an edge along I
        for j in range(rows + 1):
            is_empty = True
            for n in range(4):
                other_k, other_j = k - 1 + (n & 1), j - 1 + (n >> 1)
                if not (0 <= other_k < depth and 0 <= other_j < rows):
                    continue
                row = mask[other_k, other_j]
                if end_of(row, 0, np.uint8(0)) == width:
                    continue
                if is_empty:
                    beside[:] = 0
                    is_empty = False
                for i in range(width):
                    beside[i + 1] |= row[i] << n
            if is_empty:
                continue
            for i in range(width + 1):
                sums[k - first] += table[beside[i] | beside[i + 1] << 4]
    return sums


def cycle_count(mask, report=None):
    """Tunnels (independent cycles) of the objects in a mask without cavities."""
    return count_pieces(mask, report=report) - euler_characteristic(mask, report)
