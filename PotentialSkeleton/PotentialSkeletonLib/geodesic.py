"""Distances along an object, over steps to 26 neighbours, by a queue of buckets (Dial 1969).

Distances are whole numbers of a small unit, and no step is longer than some of them: so what waits
lies in few buckets, and no order has to be kept within them.
"""

import numpy as np
from numba import njit

STEPS_PER_VOXEL = 16  # units in the smallest spacing
FAR = np.iinfo(np.int32).max
VOXELS_A_SLICE = 1 << 18  # voxels settled between two looks at the progress callback


def distance_along(mask, sources, spacing, report=None):
    """Geodesic distance inside the object from the nearest source, over steps to 26 neighbours.

    Parameters
    ----------
    mask : ndarray of uint8, shape (K, J, I)
        Not 0 in the object, which must not touch the array's border.
    sources : ndarray of int
        Flat indices of the voxels that have distance 0.
    spacing : 3 floats K, J, I, in mm
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    distances : ndarray of int32, shape (K, J, I)
        In units of `unit_of(spacing)`; -1 outside and where no source is reached.
    order : ndarray of int
        Flat indices of the voxels that were reached, in rising order of their distance.
    """
    distances = np.where(mask, np.int32(FAR), np.int32(-1))
    order = np.empty(np.count_nonzero(mask), np.int32 if mask.size < 2**31 else np.int64)
    settled = _spread_from(distances, sources, spacing, order, report)
    if settled < order.size:
        distances[distances == FAR] = -1
    return distances, order[:settled]


def bring_nearer(distances, sources, spacing, report=None):
    """Lower distances from `distance_along`, in place, where other sources are nearer."""
    sources = sources[distances.reshape(-1)[sources] > 0]
    _spread_from(distances, sources, spacing, np.empty(0, np.int32), report)


def unit_of(spacing):
    """Millimetres in which distances along an object are counted."""
    return min(spacing) / STEPS_PER_VOXEL


def neighbour_steps(shape, spacing):
    """Flat offsets of the 26 neighbours and their distances in units, whole numbers."""
    steps = np.array([s for s in np.ndindex(3, 3, 3) if s != (1, 1, 1)]) - 1
    offsets = steps @ np.array([shape[1] * shape[2], shape[2], 1])
    lengths = np.sqrt(((steps * np.asarray(spacing)) ** 2).sum(axis=1))
    return offsets, np.rint(lengths / unit_of(spacing)).astype(np.int64)


def _spread_from(distances, sources, spacing, order, report):
    """Settle what is nearest to the sources, in `order` if that has room; how many voxels."""
    flat = distances.reshape(-1)
    offsets, weights = neighbour_steps(distances.shape, spacing)
    # The longest step and the bucket in work: no two distances that wait share a bucket.
    buckets = np.full(2 ** int(weights.max() + 1).bit_length(), -1, np.int64)
    flat[sources] = 0
    voxels = np.empty(max(1 << 12, 2 * len(sources)), np.int64)
    following = np.arange(1, len(voxels) + 1)  # of what waits in a bucket, or of the free places
    voxels[: len(sources)] = sources
    if len(sources):
        buckets[0] = 0
        following[len(sources) - 1] = -1
    state = np.array([len(sources), len(sources), 0, 0])  # first free, waiting, distance, settled
    while state[1]:
        voxels, following = spread(
            flat, offsets, weights, buckets, voxels, following, state, order, VOXELS_A_SLICE
        )
        if report is not None:
            report()
    return int(state[3])


@njit(cache=True)
def spread(distances, offsets, weights, buckets, voxels, following, state, order, budget):
    """Settle up to `budget` voxels, the nearest first (Dijkstra's order)."""
    free, waiting, here, settled = state[0], state[1], state[2], state[3]
    while waiting and budget:
        at = buckets[here & (buckets.size - 1)]
        if at < 0:
            here += 1
            continue
        voxel = voxels[at]
        buckets[here & (buckets.size - 1)] = following[at]
        following[at], free = free, at
        waiting -= 1
        budget -= 1
        if distances[voxel] != here:
            continue  # it was settled from a nearer bucket
        if settled < order.size:
            order[settled] = voxel
        settled += 1
        if waiting + offsets.size > voxels.size:
            size = voxels.size
            voxels = np.concatenate((voxels, np.empty_like(voxels)))
            following = np.concatenate((following, np.arange(size + 1, 2 * size + 1)))
        for side in range(offsets.size):
            other = voxel + offsets[side]
            there = here + weights[side]
            if there < distances[other]:
                distances[other] = there
                at, free = free, following[free]
                voxels[at] = other
                bucket = there & (buckets.size - 1)
                following[at] = buckets[bucket]
                buckets[bucket] = at
                waiting += 1
    state[0], state[1], state[2], state[3] = free, waiting, here, settled
    return voxels, following
