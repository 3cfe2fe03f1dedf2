"""Homotopic thinning: simple points are removed, the least central first.

Whatever is kept, the result has the object's components and tunnels, since only simple points
(26,6) go; it is thin, since it ends when no other point is simple.
"""

import numpy as np
from numba import njit

from .topology import is_simple, neighbour_bits

OBJECT, WAITING, KEPT, TRACED = 1, 2, 4, 8
VOXELS_A_SLICE = 1 << 18  # removals tried between two looks at the progress callback
VOXELS_FILLED = 1 << 20  # put into the queue between two looks
KEY_STEPS = 1 << 16  # of depth; as many keys again are for the traced curves


def thin(voxels, depth, kept, traced, report=None, queue=None):
    """Thin an object to a skeleton, one voxel wide.

    Parameters
    ----------
    voxels : ndarray of int, (n,)
        Flat indices, rising, of the object, which must not touch the array's border; any number of
        components.
    depth : ndarray of float32, shape (K, J, I)
        How central each voxel is; voxels go in rising order, ties as they come to the surface.
    kept : ndarray of bool, shape (K, J, I)
        Voxels that stay: tips and critical points.
    traced : ndarray of bool, shape (K, J, I)
        Voxels of traced curves: they go last, so that the skeleton lies along them.
    report : callable, optional
        Called between slices; raises to cancel.
    queue : Queue, optional
        Of as many voxels as the volume has; one serves any number of times.

    Returns
    -------
    ndarray of bool, shape (K, J, I)
    """
    shape, row, plane = depth.shape, depth.shape[2], depth.shape[1] * depth.shape[2]
    depth, kept, traced = (array.reshape(-1) for array in (depth, kept, traced))
    states = np.zeros(depth.size, np.uint8)
    deepest = mark(states, voxels, depth, kept, traced)
    scale = (KEY_STEPS - 1) / deepest if deepest > 0 else 0.0
    queue = queue or Queue(depth.size)
    for first in range(0, voxels.size, VOXELS_FILLED):
        some = voxels[first : first + VOXELS_FILLED]
        fill_queue(states, depth, scale, row, plane, some, *queue)
        if report is not None:
            report()
    while remove_simple(states, depth, scale, row, plane, VOXELS_A_SLICE, *queue):
        if report is not None:
            report()
    skeleton = np.zeros(shape, bool)
    skeleton.reshape(-1)[voxels[states[voxels] & OBJECT != 0]] = True
    return skeleton


class Queue(tuple):
    """Buckets by key, each a chain of voxels in the order of their arrival."""

    def __new__(cls, voxels):
        index = np.int32 if voxels < 2**31 else np.int64
        first = np.full(2 * KEY_STEPS, -1, index)
        last = np.full(2 * KEY_STEPS, -1, index)
        following = np.empty(voxels, index)
        lowest = np.array([2 * KEY_STEPS], np.int64)  # no bucket before it holds a voxel
        return super().__new__(cls, (first, last, following, lowest))


def trim(skeleton, stays):
    """Remove kept voxels that lie beside a skeleton instead of ending it, until none is left.

    Parameters
    ----------
    skeleton : ndarray of bool, shape (K, J, I)
        From `thin`; changed in place.
    stays : ndarray of bool, shape (K, J, I)
        Voxels that may not go.
    """
    flat = skeleton.view(np.uint8).reshape(-1)
    voxels = np.flatnonzero(skeleton & ~stays)
    row, plane = skeleton.shape[2], skeleton.shape[1] * skeleton.shape[2]
    while remove_beside(flat, voxels, row, plane):
        pass


def removable(skeleton):
    """Voxels of a skeleton that could go without a change of topology, and are no ends.

    Parameters
    ----------
    skeleton : ndarray of bool, shape (K, J, I)
        Its border is empty.

    Returns
    -------
    ndarray of int
        Flat indices, rising.
    """
    flat = skeleton.view(np.uint8).reshape(-1)
    row, plane = skeleton.shape[2], skeleton.shape[1] * skeleton.shape[2]
    voxels = np.flatnonzero(skeleton)
    return voxels[lie_beside(flat, voxels, row, plane)]


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
def put(states, depth, scale, voxel, first, last, following, lowest):
    key = np.int64(depth[voxel] * scale)
    if states[voxel] & TRACED:
        key += KEY_STEPS
    following[voxel] = -1
    if first[key] < 0:
        first[key] = voxel
    else:
        following[last[key]] = voxel
    last[key] = voxel
    lowest[0] = min(lowest[0], key)
    states[voxel] |= WAITING


@njit(cache=True)
def mark(states, voxels, depth, kept, traced):
    """Set the states of the object's voxels; the largest of their depths."""
    deepest = np.float32(0)
    for voxel in voxels:
        states[voxel] = OBJECT | KEPT * kept[voxel] | TRACED * traced[voxel]
        deepest = max(deepest, depth[voxel])
    return deepest


@njit(cache=True)
def fill_queue(states, depth, scale, row, plane, voxels, first, last, following, lowest):
    """Put in every voxel of the object that has an outside voxel at one of its faces."""
    for voxel in voxels:
        if states[voxel] & KEPT:
            continue
        if not (
            states[voxel - 1] & states[voxel + 1] & states[voxel - row] & states[voxel + row]
            & states[voxel - plane] & states[voxel + plane] & OBJECT
        ):  # fmt: skip
            put(states, depth, scale, voxel, first, last, following, lowest)


@njit(cache=True)
def remove_simple(states, depth, scale, row, plane, budget, first, last, following, lowest):
    """Try up to `budget` voxels; a removal puts its neighbours in. False when none is left."""
    while budget:
        while lowest[0] < first.size and first[lowest[0]] < 0:
            lowest[0] += 1
        if lowest[0] == first.size:
            return False
        budget -= 1
        voxel = np.int64(first[lowest[0]])
        first[lowest[0]] = following[voxel]
        states[voxel] &= ~np.uint8(WAITING)
        if not is_simple(neighbour_bits(states, voxel, row, plane, OBJECT)):
            continue
        states[voxel] = 0
        for k in range(-plane, plane + 1, plane):
            for j in range(-row, row + 1, row):
                for i in range(-1, 2):
                    other = voxel + k + j + i
                    if states[other] & (OBJECT | KEPT | WAITING) == OBJECT:
                        put(states, depth, scale, other, first, last, following, lowest)
    return True
