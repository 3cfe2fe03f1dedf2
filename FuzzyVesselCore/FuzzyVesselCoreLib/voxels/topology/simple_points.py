"""Simple points: voxels whose removal does not change the topology of an object.

A 3 x 3 x 3 block of voxels is encoded as 27 bits: bit 9 k + 3 j + i.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...jit.decorators import compiled, compiled_inside, inlined


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
    """Return whether a voxel can be removed without a change of topology.

    Parameters
    ----------
    bits : int
        The object's voxels among its 26 neighbours; bit 13, the voxel itself, is 0.

    Returns
    -------
    bool
        True for a (26,6)-simple point: one 26-component of object neighbours, and one
        6-component of background in the 18-neighbourhood that touches a face of the voxel
        (Bertrand and Malandain 1994).

    Examples
    --------
    >>> is_simple(1 << 12)  # the end of a line
    True
    >>> is_simple(1 << 12 | 1 << 14)  # within a line
    False
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
    """Return which of the 26 neighbours of a voxel have a flag, as bits.

    Parameters
    ----------
    states : ndarray of int, (n,)
        The volume's voxels.
    voxel : int
        Flat index of a voxel that is not at the border.
    row, plane : int
        Number of voxels of a row and of a plane.
    flag : int
    """
    bits = (
        _plane_bits(states, voxel - plane, row, flag)
        | _plane_bits(states, voxel, row, flag) << 9
        | _plane_bits(states, voxel + plane, row, flag) << 18
    )
    return bits & ~(1 << 13)
