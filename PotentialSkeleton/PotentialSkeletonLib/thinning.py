"""Homotopic thinning: simple points are removed, the least central first.

Whatever is kept, the result has the object's components and tunnels, since only simple points
(26,6) go; it is thin, since it ends when no other point is simple.
"""

import math

import numpy as np
from numba import njit

from .topology import is_simple, neighbour_bits

OBJECT, WAITING, KEPT = 1, 2, 4
VOXELS_A_SLICE = 1 << 17  # removals tried between two looks at the progress callback
VOXELS_FILLED = 1 << 19  # put into the queue between two looks
KEY_STEPS = 1 << 16  # of depth; as many keys again are for the traced curves
FEW_VOXELS = 1 << 12  # that are sorted faster than a table of all keys is made


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
        fill_queue(states, voxels, keys, row, plane, first, last, *queue)
        if report is not None:
            report()
    while remove_simple(states, voxels, keys, rows, row, plane, VOXELS_A_SLICE, *queue):
        if report is not None:
            report()
    skeleton = voxels[states[voxels] != 0]
    states[voxels] = 0
    return skeleton


def room_for(shape):
    """States of as many voxels as an array has and a margin round it, all 0."""
    return np.zeros(math.prod(n + 2 for n in shape), np.uint8)


def keys_of(order, traced):
    """Bucket of each voxel in the queue, and how many there are: none that stays empty."""
    deepest = float(order.max(initial=0))
    scale = (KEY_STEPS - 1) / deepest if deepest > 0 else 0.0
    keys = (order.astype(np.float64) * scale).astype(np.int32) + np.int32(KEY_STEPS) * traced
    if len(keys) > FEW_VOXELS:
        used = np.zeros(2 * KEY_STEPS, np.int32)
        used[keys] = 1
        rank = np.cumsum(used, dtype=np.int32)
        return rank[keys] - np.int32(1), int(rank[-1])
    used, keys = np.unique(keys, return_inverse=True)
    return keys.astype(np.int32), len(used)


def empty_queue(voxels, buckets):
    """Buckets by key, each a chain of places in the list of voxels in the order of arrival."""
    index = np.int32 if voxels < 2**31 else np.int64
    first, last = np.full(buckets, -1, index), np.full(buckets, -1, index)
    following = np.empty(voxels, index)
    lowest = np.array([buckets], np.int64)  # no bucket before it holds a voxel
    return first, last, following, lowest


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


@njit(cache=True, inline="always")
def put(states, voxel, place, key, first, last, following, lowest):
    following[place] = -1
    if first[key] < 0:
        first[key] = place
    else:
        following[last[key]] = place
    last[key] = place
    lowest[0] = min(lowest[0], key)
    states[voxel] |= WAITING


@njit(cache=True)
def mark(states, voxels, kept):
    for n in range(voxels.size):
        states[voxels[n]] = OBJECT | KEPT * kept[n]


@njit(cache=True)
def fill_queue(states, voxels, keys, row, plane, start, end, first, last, following, lowest):
    """Put in every voxel of the object that has an outside voxel at one of its faces."""
    for place in range(start, end):
        voxel = voxels[place]
        if states[voxel] & KEPT:
            continue
        if not (
            states[voxel - 1] & states[voxel + 1] & states[voxel - row] & states[voxel + row]
            & states[voxel - plane] & states[voxel + plane] & OBJECT
        ):  # fmt: skip
            put(states, voxel, place, keys[place], first, last, following, lowest)


@njit(cache=True)
def rows_of(voxels, count, row):
    """At which places in the list each of the array's rows begins, and where the last ends."""
    places = np.empty(count + 1, np.int64)
    place = 0
    for n in range(count + 1):
        while place < voxels.size and voxels[place] < n * row:
            place += 1
        places[n] = place
    return places


@njit(cache=True)
def place_of(voxel, voxels, rows, row):
    """Where a voxel stands in the list; `rows` from `rows_of`."""
    low, high = rows[voxel // row], rows[voxel // row + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if voxels[middle] <= voxel:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True)
def remove_simple(states, voxels, keys, rows, row, plane, budget, first, last, following, lowest):
    """Try up to `budget` voxels; a removal puts its neighbours in. False when none is left."""
    offsets = np.array([k + j + i for k in (-plane, 0, plane) for j in (-row, 0, row)
                        for i in (-1, 0, 1)])  # fmt: skip
    while budget:
        while lowest[0] < first.size and first[lowest[0]] < 0:
            lowest[0] += 1
        if lowest[0] == first.size:
            return False
        budget -= 1
        place = first[lowest[0]]
        voxel = voxels[place]
        first[lowest[0]] = following[place]
        states[voxel] &= ~np.uint8(WAITING)
        beside = neighbour_bits(states, voxel, row, plane, OBJECT)
        if not is_simple(beside):
            continue
        states[voxel] = 0
        for side in range(27):
            if beside >> side & 1:
                other = voxel + offsets[side]
                if states[other] & (KEPT | WAITING) == 0:
                    place = place_of(other, voxels, rows, row)
                    put(states, other, place, keys[place], first, last, following, lowest)
    return True
