"""Homotopic thinning: simple points are removed, the least central first.

Whatever is kept, the result has the object's components and tunnels, since only simple points
(26,6) go; it is thin, since it ends when no other point is simple.
"""

import math

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

OBJECT, WAITING, KEPT = 1, 2, 4
VOXELS_A_SLICE = 1 << 17  # removals tried between two looks at the progress callback
VOXELS_FILLED = 1 << 19  # put into the queue between two looks


def thin(voxels, order, kept, traced, shape, report=None, states=None):
    """Thin an object to a skeleton, one voxel wide.

    Parameters
    ----------
    voxels : ndarray of int, (n,)
        Flat indices, rising, of the object, which must not touch the array's border; any number of
        components.
    order : ndarray of float32, (n,)
        How central each voxel is; voxels go in rising order, ties as they come to the surface.
    kept : ndarray of bool, (n,)
        Voxels that stay: tips and critical points.
    traced : ndarray of bool, (n,)
        Voxels of traced curves: they go last, so that the skeleton lies along them.
    shape : 3 ints K, J, I
        Of the array.
    report : callable, optional
        Called between slices; raises to cancel.
    states : ndarray of uint8, optional
        Room for as many voxels as the array has, all 0; and so again at the end.

    Returns
    -------
    ndarray of int
        Flat indices, rising.
    """
    states = room_for(shape) if states is None else states
    row, plane = shape[2], shape[1] * shape[2]
    keys, count = keys_of(order, traced)
    mark(states, voxels, kept)
    if report is not None:
        report()
    queue = empty_queue(len(voxels), count)
    rows = rows_of(voxels, shape[0] * shape[1], row)
    for first in range(0, voxels.size, VOXELS_FILLED):
        last = min(first + VOXELS_FILLED, voxels.size)
        fill_queue(states, voxels, keys, row, plane, first, last, queue)
        if report is not None:
            report()
    while remove_simple(states, voxels, keys, rows, row, plane, VOXELS_A_SLICE, queue):
        if report is not None:
            report()
    skeleton = voxels[states[voxels] != 0]
    states[voxels] = 0
    return skeleton


def room_for(shape):
    """States of as many voxels as an array has and a margin round it, all 0."""
    return np.zeros(math.prod(n + 2 for n in shape), np.uint8)


def trim(skeleton, stays, shape, states=None):
    """Remove kept voxels that lie beside a skeleton instead of ending it, until none is left.

    Parameters
    ----------
    skeleton : ndarray of int
        From `thin`.
    stays : ndarray of int
        Flat indices of voxels that may not go.
    shape, states
        As for `thin`.

    Returns
    -------
    ndarray of int
        Flat indices, rising, of what is left.
    """
    states = room_for(shape) if states is None else states
    states[skeleton] = OBJECT
    states[stays] |= KEPT
    voxels = skeleton[states[skeleton] == OBJECT]
    states[stays] &= ~np.uint8(KEPT)
    while remove_beside(states, voxels, shape[2], shape[1] * shape[2]):
        pass
    left = skeleton[states[skeleton] != 0]
    states[skeleton] = 0
    return left


def removable(skeleton, shape, states=None):
    """Voxels of a skeleton that could go without a change of topology, and are no ends.

    Parameters
    ----------
    skeleton : ndarray of int
        Flat indices of voxels off the array's border.
    shape, states
        As for `thin`.

    Returns
    -------
    ndarray of int
        Flat indices, in their order.
    """
    states = room_for(shape) if states is None else states
    states[skeleton] = OBJECT
    found = skeleton[lie_beside(states, skeleton, shape[2], shape[1] * shape[2])]
    states[skeleton] = 0
    return found


@njit(cache=True)
def remove_beside(states, voxels, row, plane):
    """Remove what can go, one after the other; whether there was anything."""
    found = False
    for voxel in voxels:
        if states[voxel] and lies_beside(states, voxel, row, plane):
            states[voxel] = 0
            found = True
    return found


@njit(cache=True)
def lie_beside(states, voxels, row, plane):
    return np.array([lies_beside(states, voxel, row, plane) for voxel in voxels], np.bool_)


@njit(cache=True)
def lies_beside(states, voxel, row, plane):
    """Whether a voxel is simple and has more than one neighbour."""
    bits = neighbour_bits(states, voxel, row, plane, OBJECT)
    return bits & (bits - 1) != 0 and is_simple(bits)


@njit(cache=True)
def mark(states, voxels, kept):
    for n in range(voxels.size):
        states[voxels[n]] = OBJECT | KEPT * kept[n]


@njit(cache=True)
def fill_queue(states, voxels, keys, row, plane, start, end, queue):
    """Put in every voxel of the object that has an outside voxel at one of its faces."""
    for place in range(start, end):
        voxel = voxels[place]
        if states[voxel] & KEPT:
            continue
        if not (
            states[voxel - 1] & states[voxel + 1] & states[voxel - row] & states[voxel + row]
            & states[voxel - plane] & states[voxel + plane] & OBJECT
        ):  # fmt: skip
            states[voxel] |= WAITING
            put(queue, place, keys[place])


@njit(cache=True)
def remove_simple(states, voxels, keys, rows, row, plane, budget, queue):
    """Try up to `budget` voxels; a removal puts its neighbours in. False when none is left."""
    offsets = neighbour_offsets(row, plane)
    for _ in range(budget):
        place = take(queue)
        if place < 0:
            return False
        voxel = voxels[place]
        states[voxel] &= ~np.uint8(WAITING)
        beside = neighbour_bits(states, voxel, row, plane, OBJECT)
        if not is_simple(beside):
            continue
        states[voxel] = 0
        beside &= ~neighbour_bits(states, voxel, row, plane, KEPT | WAITING)
        if beside == 0:
            continue
        for side in range(27):
            if beside >> side & 1:
                other = voxel + offsets[side]
                states[other] |= WAITING
                place = place_of(other, voxels, rows, row)
                put(queue, place, keys[place])
    return True


@njit(cache=True)
def neighbour_offsets(row, plane):
    """From a voxel to those of the block of 27 round it, in the order of `neighbour_bits`."""
    return np.array([k + j + i for k in (-plane, 0, plane) for j in (-row, 0, row)
                     for i in (-1, 0, 1)])  # fmt: skip
