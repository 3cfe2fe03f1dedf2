"""Homotopic thinning: simple points are removed, the least central first.

Whatever is kept, the result has the object's components and tunnels, since only simple points
(26,6) go; it is thin, since it ends when no other point is simple.
"""

import math
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bucket_queue import (
    empty_queue,
    keys_of,
    place_of,
    put,
    rows_of,
    take,
)
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple, neighbour_bits

OBJECT, WAITING, KEPT = 1, 2, 4
FLAG: Any = np.int64(OBJECT)  # numba compiles another version for the plain number
VOXELS_PER_SLICE = 1 << 17  # removals tried between two calls of the progress callback
QUEUED_PER_SLICE = 1 << 19  # put into the queue between two calls


def thin(
    voxels: np.ndarray,
    order: np.ndarray,
    kept: np.ndarray,
    traced: np.ndarray,
    shape: tuple[int, ...],
    progress: Progress,
    states: np.ndarray | None = None,
) -> np.ndarray:
    """Thin an object to a skeleton, one voxel wide.

    Parameters
    ----------
    voxels : ndarray of int, (n,)
        Flat indices, ascending, of the object, which must not touch the array's border; any number
        of components.
    order : ndarray of float32, (n,)
        How central each voxel is; voxels go in ascending order, ties as they come to the surface.
    kept : ndarray of bool, (n,)
        Voxels that stay: endpoints and critical points.
    traced : ndarray of bool, (n,)
        Voxels of traced curves: they go last, so that the skeleton lies along them.
    shape : 3 ints K, J, I
        Of the array.
    progress : Progress
    states : ndarray of uint8, optional
        Workspace from `empty_states`; all 0 again at the end.

    Returns
    -------
    ndarray of int
        Flat indices, ascending.
    """
    states = empty_states(shape) if states is None else states
    row, plane = shape[2], shape[1] * shape[2]
    keys, count = keys_of(order, traced)
    states[voxels] = OBJECT | KEPT * kept.view(np.uint8)
    progress.check()
    queue = empty_queue(len(voxels), count)
    rows = rows_of(voxels, shape[0] * shape[1], row)
    for first in range(0, voxels.size, QUEUED_PER_SLICE):
        last = min(first + QUEUED_PER_SLICE, voxels.size)
        fill_queue(states, voxels, keys, row, plane, first, last, queue)
        progress.check()
    while remove_simple(states, voxels, keys, rows, row, plane, VOXELS_PER_SLICE, queue):
        progress.check()
    skeleton = voxels[states[voxels] != 0]
    states[voxels] = 0
    return skeleton


def empty_states(shape: tuple[int, ...]) -> np.ndarray:
    """States, all 0, of as many voxels as an array and a margin round it have; uint8."""
    return np.zeros(math.prod(n + 2 for n in shape), np.uint8)


@compiled
def fill_queue(
    states: np.ndarray,
    voxels: np.ndarray,
    keys: np.ndarray,
    row: int,
    plane: int,
    start: int,
    end: int,
    queue: tuple,
) -> None:
    """Put in every voxel of the object that has an outside voxel at one of its faces."""
    for n in range(start, end):
        voxel = voxels[n]
        if states[voxel] & KEPT:
            continue
        if not (
            states[voxel - 1] & states[voxel + 1] & states[voxel - row] & states[voxel + row]
            & states[voxel - plane] & states[voxel + plane] & OBJECT
        ):  # fmt: skip
            states[voxel] |= WAITING
            put(queue, n, keys[n])


@compiled
def remove_simple(
    states: np.ndarray,
    voxels: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    row: int,
    plane: int,
    budget: int,
    queue: tuple,
) -> bool:
    """Try up to `budget` voxels; a removal puts its neighbours in. False when none is left."""
    offsets = neighbour_offsets(row, plane)
    for _ in range(budget):
        n = int(take(queue))
        if n < 0:
            return False
        voxel = voxels[n]
        states[voxel] &= ~np.uint8(WAITING)
        neighbours = neighbour_bits(states, voxel, row, plane, FLAG)
        if not is_simple(int(neighbours)):
            continue
        states[voxel] = 0
        neighbours &= ~neighbour_bits(states, voxel, row, plane, KEPT | WAITING)
        if neighbours == 0:
            continue
        for side in range(27):
            if neighbours >> side & 1:
                other = voxel + offsets[side]
                states[other] |= WAITING
                n = place_of(other, voxels, rows, row)
                put(queue, n, keys[n])
    return True


@compiled_inside
def neighbour_offsets(row: int, plane: int) -> np.ndarray:
    """From a voxel to those of the block of 27 round it, in the order of `neighbour_bits`."""
    return np.array([k + j + i for k in (-plane, 0, plane) for j in (-row, 0, row)
                     for i in (-1, 0, 1)])  # fmt: skip
