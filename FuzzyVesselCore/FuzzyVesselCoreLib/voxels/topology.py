"""Digital topology: 26-connected object, 6-connected background.

Euler characteristic of a mask, and simple points, which can be removed without a change of
topology.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import compiled, compiled_inside, inlined
from .masks import count_voxels, label_components

# ---- simple points


def _bits(condition: Callable[..., bool]) -> int:
    """Return the bits of those voxels of a block whose offsets K, J, I fulfil a condition."""
    offsets = [(k, j, i) for k in (-1, 0, 1) for j in (-1, 0, 1) for i in (-1, 0, 1)]
    return sum(1 << n for n, offset in enumerate(offsets) if condition(*offset))


FACES = _bits(lambda k, j, i: abs(k) + abs(j) + abs(i) == 1)
NEIGHBOURS_18 = _bits(lambda k, j, i: 0 < abs(k) + abs(j) + abs(i) < 3)
NOT_FIRST_K, NOT_FIRST_J, NOT_FIRST_I = (_bits(lambda *o, n=n: o[n] > -1) for n in range(3))
NOT_LAST_K, NOT_LAST_J, NOT_LAST_I = (_bits(lambda *o, n=n: o[n] < 1) for n in range(3))


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


@compiled
def neighbour_bits(states: np.ndarray, voxel: int, row: int, plane: int, flag: int) -> Any:
    """Which of the 26 neighbours of a voxel have a flag, as bits.

    `states` (n,) are the volume's voxels, `voxel` is a flat index that is not at the border, `row`
    and `plane` are numbers of voxels.
    """
    bits, place = np.int64(0), 0
    for k in (-plane, 0, plane):
        for j in (-row, 0, row):
            for i in (-1, 0, 1):
                bits |= np.int64(states[voxel + k + j + i] & flag != 0) << place
                place += 1
    return bits & ~(1 << 13)


# ---- Euler characteristic

CELLS_AT_ONCE = 1 << 20  # they fit in a core's cache


def euler_characteristic(mask: np.ndarray, gpu: Any = None) -> int:
    """Components - tunnels + cavities of an object (K, J, I; not 0).

    The object is taken as the union of its voxels' closed cubes, which has the same components,
    tunnels and cavities as the digital object: the characteristic is the number of corners - edges
    + faces - cubes.
    """
    if gpu is not None:
        solid = gpu.xp.pad(gpu.put(mask), 1)
        return signed_cells(solid.ravel(), solid.strides, solid.size)
    padded = np.pad(np.ascontiguousarray(mask, bool), 1)
    cells, strides, found = padded.reshape(-1), padded.strides, 0
    for last in range(CELLS_AT_ONCE, cells.size + CELLS_AT_ONCE, CELLS_AT_ONCE):
        first = last - CELLS_AT_ONCE
        some = cells[max(first - sum(strides), 0) : last]
        found += signed_cells(some, strides, min(last, cells.size) - first)
    return found


def signed_cells(cells: Any, strides: tuple[int, ...], count: int) -> int:
    """The alternating sum of cells (bool, flat) and of those between two along some strides.

    The last `count` ones are counted; an array of NumPy or CuPy.
    """
    if not strides:
        return -count_voxels(cells[-count:])
    step, others = strides[0], strides[1:]
    between = cells[step:] | cells[:-step]
    return signed_cells(cells, others, count) - signed_cells(between, others, count)


def cycle_count(mask: np.ndarray) -> int:
    """Return the number of tunnels (independent cycles) of an object without cavities."""
    return label_components(mask)[1] - euler_characteristic(mask)
