"""Distances along an object, over steps to 26 neighbours.

Thick objects are swept to and fro in the order of memory until nothing changes, which few sweeps
do. Others have a queue of buckets (Dial 1969): distances are whole numbers of a small unit, and no
step is longer than some of them, so what waits lies in few buckets, without an order within them.
Both give the same distances.
"""

import numpy as np
from numba import get_num_threads, njit, prange

STEPS_PER_VOXEL = 16  # units in the smallest spacing
STEPS = np.array([step for step in np.ndindex(3, 3, 3) if step != (1, 1, 1)]) - 1
FAR = np.int32(1 << 30)  # a step more is no overflow
VOXELS_A_SLICE = 1 << 18  # voxels settled between two looks at the progress callback
VOXELS_SWEPT = 1 << 20  # voxels of the volume swept between two looks
THICK = 0.1  # share of the volume that an object takes up which is swept ...
MANY_VOXELS = 1 << 20  # ... if it has so many voxels
FEW_PLANES = 4  # that a thread gets
MOST_SWEEPS = 8  # to and fro: in a winding object more would take longer than the queue


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
    ndarray of int32, shape (K, J, I)
        In units of `unit_of(spacing)`; -1 outside and where no source is reached.
    """
    distances = np.where(mask, FAR, np.int32(-1))
    count = np.count_nonzero(mask)
    if not _sweep(distances, sources, spacing, count, report):
        _spread_from(distances, sources, spacing, report)
    leave_out_unreached(distances)
    return distances


def bring_nearer(distances, sources, spacing, report=None):
    """Lower distances from `distance_along`, in place, where other sources are nearer.

    By the queue, which visits those only: mostly the sources make some limbs shorter.
    """
    sources = sources[distances.reshape(-1)[sources] > 0]
    _spread_from(distances, sources, spacing, report)


def unit_of(spacing):
    """Millimetres in which distances along an object are counted."""
    return min(spacing) / STEPS_PER_VOXEL


def neighbour_steps(shape, spacing):
    """Flat offsets of the 26 neighbours and their distances in units, whole numbers."""
    offsets = STEPS @ np.array([shape[1] * shape[2], shape[2], 1])
    lengths = np.sqrt(((STEPS * np.asarray(spacing)) ** 2).sum(axis=1))
    return offsets, np.rint(lengths / unit_of(spacing)).astype(np.int64)


def _sweep(distances, sources, spacing, count, report):
    """Find the distances by sweeps; False, with none found, where the object is not for that.

    A slab of planes is swept until neither direction changes it or the slabs beside it.
    """
    if count < max(MANY_VOXELS, THICK * distances.size):
        return False
    offsets, weights = neighbour_steps(distances.shape, spacing)
    weights = weights.astype(np.int32)
    distances.reshape(-1)[sources] = 0
    planes, step = distances.shape[0], max(1, VOXELS_SWEPT // distances[0].size)
    slabs = [(first, min(first + step, planes - 1)) for first in range(1, planes - 1, step)]
    due = np.zeros(len(slabs), int)  # sweeps that may still change a slab
    due[(sources // distances[0].size - 1) // step] = 2
    for n in range(2 * MOST_SWEEPS):
        side, way = (1, range(len(slabs))) if n % 2 == 0 else (-1, range(len(slabs) - 1, -1, -1))
        for slab in way:
            if due[slab] == 0:
                continue
            parts = max(1, min(get_num_threads(), step // FEW_PLANES))
            due[slab] -= 1
            # The first 13 steps lead back in memory, the last 13 are their opposites.
            if sweep(distances, side * offsets[:13], weights[:13], *slabs[slab], parts):
                due[max(slab - 1, 0) : slab + 2] = 2
            if report is not None:
                report()
        if not due.any():
            return True
    np.copyto(distances, FAR, where=distances >= 0)
    return False


@njit(cache=True, parallel=True)
def sweep(distances, offsets, weights, first, last, parts):
    """Sweep some planes, in parts side by side; how many distances became less.

    A part may read a plane of another while it changes: distances only fall, and each is the length
    of a way, so the next sweep finds what this one missed.
    """
    changed = 0
    for part in prange(parts):
        low = first + (last - first) * part // parts
        high = first + (last - first) * (part + 1) // parts
        changed += sweep_planes(distances, offsets, weights, low, high)
    return changed


@njit(cache=True)
def sweep_planes(distances, offsets, weights, low, high):
    """Sweep row by row, against the offsets."""
    flat, rows, length = distances.reshape(-1), distances.shape[1], distances.shape[2]
    forward = offsets[0] < 0
    best = np.empty(length - 2, np.int32)
    changed = 0
    for n in range(low * rows + 1, high * rows - 1):
        start = (n if forward else (low + high) * rows - 1 - n) * length + 1
        row = flat[start : start + length - 2]  # the border is empty
        if row.max() <= 0:
            continue
        best[:] = row
        for side in range(12):
            from_row(best, flat[start + offsets[side] : start + offsets[side] + length - 2],
                     weights[side])  # fmt: skip
        changed += along_row(row, best, weights[12], forward)
    return changed


@njit(cache=True)
def from_row(best, other, weight):
    """Lower distances by those of another row; what is outside, below 0, stays and gives none."""
    for i in range(best.size):
        there = other[i] + weight if other[i] >= 0 else FAR
        best[i] = min(best[i], there)


@njit(cache=True)
def along_row(row, best, weight, forward):
    """Take over a row's best distances, and those from one voxel to the next; how many changed."""
    before, changed = FAR, 0
    for n in range(row.size):
        i = n if forward else row.size - 1 - n
        if row[i] < 0:
            before = FAR
            continue
        before = min(best[i], before + weight)
        if before < row[i]:
            row[i] = before
            changed += 1
    return changed


@njit(cache=True, parallel=True)
def leave_out_unreached(distances):
    """Set to -1 what was not reached."""
    for k in prange(distances.shape[0]):
        plane = distances[k].reshape(-1)
        for n in range(plane.size):
            if plane[n] == FAR:
                plane[n] = -1


def _spread_from(distances, sources, spacing, report):
    """Lower the distances by the queue."""
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
    state = np.array([len(sources), len(sources), 0])  # first free, waiting, distance
    while state[1]:
        voxels, following = spread(
            flat, offsets, weights, buckets, voxels, following, state, VOXELS_A_SLICE
        )
        if report is not None:
            report()


@njit(cache=True)
def spread(distances, offsets, weights, buckets, voxels, following, state, budget):
    """Settle up to `budget` voxels, the nearest first (Dijkstra's order)."""
    free, waiting, here = state[0], state[1], state[2]
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
    state[0], state[1], state[2] = free, waiting, here
    return voxels, following
