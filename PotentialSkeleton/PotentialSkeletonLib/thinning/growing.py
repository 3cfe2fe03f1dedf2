"""Homotopic growing: voxels are added to a skeleton as long as its topology stays the same.

The reverse of thinning. Traced curves that run side by side or meet again enclose holes that the
object does not have: a grown skeleton holds them but for a gap in each such hole.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.bucket_queue import (
    empty_queue,
    keys_of,
    place_of,
    put,
    rows_of,
    take,
)
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple, neighbour_bits

from .thinning import OBJECT, WAITING, neighbour_offsets, room_for

OFFERED = 8  # state of what may be added, beside those of thinning


def grow(skeleton, offered, order, first, shape, states=None):
    """Add to a skeleton what is connected with it and does not change its topology.

    Each voxel that is added is a simple point (26,6) then. Of those beside what is there the most
    central goes first, so a hole stays open at its least central voxel.

    Parameters
    ----------
    skeleton : ndarray of int, (n,)
        Flat indices, rising; off the array's border, as all that is offered.
    offered : ndarray of int, (m,)
        Flat indices, rising, of the skeleton and of what may be added.
    order : ndarray of float32, (m,)
        How central each of these voxels is.
    first : ndarray of bool, (m,)
        Those that go before all others.
    shape : 3 ints K, J, I
        Of the array.
    states : ndarray of uint8, optional
        Room for as many voxels as the array has, all 0; and so again at the end.

    Returns
    -------
    ndarray of int
        Flat indices, rising.
    """
    states = room_for(shape) if states is None else states
    keys, count = keys_of(order, first)
    states[offered] = OFFERED
    states[skeleton] = OBJECT
    lines = shape[2], shape[1] * shape[2]
    rows, queue = rows_of(offered, shape[0] * shape[1], lines[0]), empty_queue(len(offered), count)
    add_simple(states, skeleton, offered, np.int32(count - 1) - keys, rows, *lines, queue)
    grown = offered[states[offered] & OBJECT != 0]
    states[offered] = 0
    return grown


@njit(cache=True)
def add_simple(states, skeleton, offered, keys, rows, row, plane, queue):
    """Add voxels until none beside the object is simple."""
    offsets = neighbour_offsets(row, plane)
    for voxel in skeleton:
        put_neighbours(states, voxel, offered, keys, rows, row, offsets, queue)
    place = take(queue)
    while place >= 0:
        voxel = offered[place]
        states[voxel] &= ~np.uint8(WAITING)
        if is_simple(neighbour_bits(states, voxel, row, plane, OBJECT)):
            states[voxel] = OBJECT
            put_neighbours(states, voxel, offered, keys, rows, row, offsets, queue)
        place = take(queue)


@njit(cache=True)
def put_neighbours(states, voxel, offered, keys, rows, row, offsets, queue):
    for offset in offsets:
        if states[voxel + offset] == OFFERED:
            states[voxel + offset] |= WAITING
            place = place_of(voxel + offset, offered, rows, row)
            put(queue, place, keys[place])
