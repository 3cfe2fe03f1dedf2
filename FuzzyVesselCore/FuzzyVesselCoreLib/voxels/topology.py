"""Digital topology: 26-connected object, 6-connected background.

Euler characteristic of a mask, and simple points, which can be removed without a change of
topology.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import compiled, compiled_inside, inlined
from ..progress import Progress
from ..threads import in_parts
from .masks import count_components


def _corner_table() -> np.ndarray:
    """Return 8 times a grid corner's part of the Euler characteristic, by its 8 voxels as bits.

    The object is taken as the union of its voxels' closed cubes, which has the same components,
    tunnels and cavities as the digital object.
    """
    table = np.zeros(256, np.int64)
    for configuration in range(1, 256):
        cubes = np.array([configuration >> n & 1 for n in range(8)], bool).reshape(2, 2, 2)
        edges = sum(cubes.take(side, axis).any() for axis in range(3) for side in range(2))
        faces = sum(np.count_nonzero(cubes.any(axis)) for axis in range(3))
        # A corner lies on 1 corner, half of an edge, a quarter of a face, an eighth of a cube.
        table[configuration] = 8 - 4 * edges + 2 * faces - np.count_nonzero(cubes)
    return table


CORNER_TABLE = _corner_table()


def euler_characteristic(mask: np.ndarray, progress: Progress | None = None) -> int:
    """Components - tunnels + cavities of an object (bool, K, J, I).

    Examples
    --------
    >>> ring = np.ones((1, 3, 3), bool)
    >>> ring[0, 1, 1] = False
    >>> euler_characteristic(ring)
    0
    """
    progress = Progress.of(progress)
    progress.check()
    padded = np.pad(np.asarray(mask) != 0, 1).view(np.uint8)
    planes = len(padded) - 1
    parts = in_parts(lambda a, b: _sum_corners(padded[a : b + 1], CORNER_TABLE), planes, mask.size)
    progress.check()
    return sum(parts) // 8


@compiled
def _sum_corners(mask: np.ndarray, table: np.ndarray) -> int:
    """Sum the table over the corners between all pairs of planes; the border of the mask is 0."""
    total = 0
    for k in range(mask.shape[0] - 1):
        for j in range(mask.shape[1] - 1):
            one, two, three, four = mask[k, j], mask[k, j + 1], mask[k + 1, j], mask[k + 1, j + 1]
            before = np.int64(0)
            for i in range(mask.shape[2]):
                here = np.int64(one[i]) | np.int64(two[i]) << 2
                here |= np.int64(three[i]) << 4 | np.int64(four[i]) << 6
                total += table[before | here << 1]
                before = here
    return total


def cycle_count(mask: np.ndarray, progress: Progress | None = None) -> int:
    """Return the number of tunnels (independent cycles) of an object without cavities."""
    progress = Progress.of(progress)
    return count_components(mask, progress=progress) - euler_characteristic(mask, progress)


# ---- simple points


def _bits(condition: Callable[..., bool]) -> int:
    """Return the bits of those voxels of a block whose offsets K, J, I fulfil a condition."""
    offsets = [(k, j, i) for k in (-1, 0, 1) for j in (-1, 0, 1) for i in (-1, 0, 1)]
    return sum(1 << n for n, offset in enumerate(offsets) if condition(*offset))


FACES = _bits(lambda k, j, i: abs(k) + abs(j) + abs(i) == 1)
NEIGHBOURS_18 = _bits(lambda k, j, i: 0 < abs(k) + abs(j) + abs(i) < 3)
NOT_FIRST = tuple(_bits(lambda *o, axis=axis: o[axis] > -1) for axis in range(3))
NOT_LAST = tuple(_bits(lambda *o, axis=axis: o[axis] < 1) for axis in range(3))
NOT_FIRST_K, NOT_FIRST_J, NOT_FIRST_I = NOT_FIRST
NOT_LAST_K, NOT_LAST_J, NOT_LAST_I = NOT_LAST


@inlined
def _dilate_26(bits: int) -> int:
    bits |= ((bits & NOT_LAST_I) << 1) | ((bits & NOT_FIRST_I) >> 1)
    bits |= ((bits & NOT_LAST_J) << 3) | ((bits & NOT_FIRST_J) >> 3)
    return bits | ((bits & NOT_LAST_K) << 9) | ((bits & NOT_FIRST_K) >> 9)


@inlined
def _dilate_6(bits: int) -> int:
    return (
        bits
        | ((bits & NOT_LAST_I) << 1)
        | ((bits & NOT_FIRST_I) >> 1)
        | ((bits & NOT_LAST_J) << 3)
        | ((bits & NOT_FIRST_J) >> 3)
        | ((bits & NOT_LAST_K) << 9)
        | ((bits & NOT_FIRST_K) >> 9)
    )


@compiled_inside
def is_connected_26(bits: int) -> bool:
    """Return whether the voxels of a block are one 26-connected component (no voxels are not)."""
    if bits == 0:
        return False
    grown = bits & -bits
    while True:
        larger = _dilate_26(grown) & bits
        if larger in (bits, grown):
            return larger == bits
        grown = larger


@compiled
def is_simple(bits: int) -> bool:
    """Whether a voxel can be removed without a change of topology.

    `bits` are the object's voxels among its 26 neighbours (bit 13, the voxel itself, is 0). A voxel
    is (26,6)-simple if there is one 26-component of object neighbours, and one 6-component of
    background in the 18-neighbourhood that touches a face of it (Bertrand and Malandain 1994).
    """
    faces = FACES & ~bits
    if faces == 0 or not is_connected_26(bits):
        return False
    background = NEIGHBOURS_18 & ~bits
    grown = faces & -faces
    while True:
        if faces & ~grown == 0:
            return True
        larger = _dilate_6(grown) & background
        if larger == grown:
            return False
        grown = larger


@inlined
def _row_bits(states: np.ndarray, voxel: int, flag: int) -> Any:
    """Return three voxels of a row along I as bits."""
    return (
        np.int64(states[voxel - 1] & flag != 0)
        | np.int64(states[voxel] & flag != 0) << 1
        | np.int64(states[voxel + 1] & flag != 0) << 2
    )


@inlined
def _plane_bits(states: np.ndarray, voxel: int, row: int, flag: int) -> Any:
    return (
        _row_bits(states, voxel - row, flag)
        | _row_bits(states, voxel, flag) << 3
        | _row_bits(states, voxel + row, flag) << 6
    )


@compiled
def neighbour_bits(states: np.ndarray, voxel: int, row: int, plane: int, flag: int) -> Any:
    """Which of the 26 neighbours of a voxel have a flag, as bits.

    `states` (n,) are the volume's voxels, `voxel` is a flat index that is not at the border, `row`
    and `plane` are numbers of voxels.
    """
    bits = (
        _plane_bits(states, voxel - plane, row, flag)
        | _plane_bits(states, voxel, row, flag) << 9
        | _plane_bits(states, voxel + plane, row, flag) << 18
    )
    return bits & ~(1 << 13)
