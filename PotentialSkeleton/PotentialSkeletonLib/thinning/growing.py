"""Homotopic growing: voxels are added to a skeleton as long as its topology stays the same.

The reverse of thinning. Traced curves that run side by side or meet again enclose holes that the
object does not have: a grown skeleton holds them but for a gap in each such hole.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.voxels.bucket_queue import (
    empty_queue,
    keys_of,
    place_of,
    put,
    rows_of,
    take,
)
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple, neighbour_bits

from .thinning import FLAG, OBJECT, WAITING, empty_states, neighbour_offsets

OFFERED = 8  # state of what may be added, beside those of thinning


def grow(
    skeleton: np.ndarray,
    offered: np.ndarray,
    order: np.ndarray,
    first: np.ndarray,
    shape: tuple[int, ...],
    states: np.ndarray | None = None,
) -> np.ndarray:
    """Add to a skeleton what is connected with it and does not change its topology.

    Each voxel that is added is a simple point (26,6) then. Of those adjacent to the skeleton the
    most central goes first, so a hole stays open at its least central voxel.

    Parameters
    ----------
    skeleton : ndarray of int, (n,)
        Flat indices, ascending; off the array's border, as all that is offered.
    offered : ndarray of int, (m,)
        Flat indices, ascending, of the skeleton and of what may be added.
    order : ndarray of float32, (m,)
        How central each of these voxels is.
    first : ndarray of bool, (m,)
        Those that go before all others.
    shape : 3 ints K, J, I
        Of the array.
    states : ndarray of uint8, optional
        Workspace from `empty_states`; all 0 again at the end.

    Returns
    -------
    ndarray of int
        Flat indices, ascending.
    """
    states = empty_states(shape) if states is None else states
    keys, count = keys_of(order, first)
    states[offered] = OFFERED
    states[skeleton] = OBJECT
    row, plane = shape[2], shape[1] * shape[2]
    rows, queue = rows_of(offered, shape[0] * shape[1], row), empty_queue(len(offered), count)
    keys = np.int32(count - 1) - keys
    add_simple(states, skeleton, offered, keys, rows, row, plane, queue)
    grown = offered[states[offered] & OBJECT != 0]
    states[offered] = 0
    return grown


@compiled
def add_simple(
    states: np.ndarray,
    skeleton: np.ndarray,
    offered: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    row: int,
    plane: int,
    queue: tuple,
) -> None:
    """Add voxels until none adjacent to the object is simple."""
    offsets = neighbour_offsets(row, plane)
    at = 0
    while True:
        if at < skeleton.size:
            voxel = skeleton[at]
            at += 1
        else:
            n = int(take(queue))
            if n < 0:
                break
            voxel = offered[n]
            states[voxel] &= ~np.uint8(WAITING)
            if not is_simple(int(neighbour_bits(states, voxel, row, plane, FLAG))):
                continue
            states[voxel] = OBJECT
        # Here alone, not in a function: to hand it all these arrays would take as long.
        for offset in offsets:
            other = voxel + offset
            if states[other] == OFFERED:
                states[other] |= WAITING
                n = place_of(other, offered, rows, row)
                put(queue, n, keys[n])
