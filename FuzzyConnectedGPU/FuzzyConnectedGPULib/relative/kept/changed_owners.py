"""Owners where levels or points have changed, and nowhere else.

Connected voxels of one level (a plateau) have one owner: what comes to it along optimal edges from
higher levels and from points. From the highest level down, a plateau is looked at where its level
is new, or where a neighbour's level or owner has changed in a way that it sees; where its owner
stays, nothing further is looked at.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.voxels.neighbourhood import NEIGHBOURS

from ...affinity.levels import TOP_LEVEL
from ..disputed import joined
from ..groups import NOBODY
from .bucket_queue import empty_queue, pop
from .plateaus import LISTED, POINT, QUEUED, SEEN, enqueue, enqueue_around, extended, grown


@compiled
def change_owners(changed, before, told, voxels, capacities, levels, flags, shape, owners):
    """Find owners where levels, points or capacities of points have changed.

    Parameters
    ----------
    changed, before : ndarray
        Of `change_levels`; takes `LISTED` from the flags.
    told : ndarray, int64
        Points that are new, gone, or another group's.
    voxels : ndarray, int64
        Of changed capacity.
    capacities, levels, flags, owners : ndarray, uint16, uint16, uint8 and uint8
        Of all voxels; owners of points are right, the others are changed.

    Returns
    -------
    others, lost
        As of `KeptOwners.change`.
    """
    volume, near = (capacities, levels, flags, shape), np.empty(NEIGHBOURS, np.int64)
    queue, lost = _beside_levels(changed, before, volume, owners, near)
    top = np.int64(TOP_LEVEL)
    for voxel in told:
        queue, is_lost = _look_at(voxel, volume, owners, queue)
        lost |= is_lost
        queue = enqueue_around(queue, voxel, 0, top, volume, near)
    for voxel in voxels:
        if flags[voxel] & POINT:
            queue = enqueue_around(queue, voxel, 0, top, volume, near)
    return _handed_on(queue, volume, owners, near), lost


@compiled_inside
def _beside_levels(changed, before, volume, owners, near):
    """Queue voxels of other levels, and neighbours that see it; whether one has none now."""
    capacities, levels, flags, _ = volume
    queue, lost = empty_queue(), False
    for n in range(changed.size):
        voxel, old = changed[n], np.int64(before[n])
        flags[voxel] &= ~np.uint8(LISTED)
        if levels[voxel] == old and not flags[voxel] & POINT:
            continue
        queue, is_lost = _look_at(voxel, volume, owners, queue)
        lost |= is_lost
        now = np.int64(min(levels[voxel], capacities[voxel]))
        queue = enqueue_around(queue, voxel, min(now, old), max(now, old), volume, near)
    return queue, lost


@compiled_inside
def _look_at(voxel, volume, owners, queue):
    """Queue a voxel that is no point, or make it nobody's; whether it has capacity then."""
    capacities, levels, flags, _ = volume
    if flags[voxel] & POINT or levels[voxel]:
        return enqueue(queue, voxel, np.int64(levels[voxel]), flags), False
    owners[voxel] = NOBODY
    return queue, capacities[voxel] > 0


@compiled_inside
def _handed_on(queue, volume, owners, near):
    """Give plateaus their owners, from the highest level down; returns the voxels of another."""
    flags = volume[2]
    plateau = np.empty(1 << 10, np.int64)
    done, done_count = np.empty(1 << 10, np.int64), 0
    others, other_count = np.empty(1 << 10, np.int64), 0
    while True:
        queue, level, start = pop(queue)
        if level == 0:
            break
        flags[start] &= ~np.uint8(QUEUED)
        if flags[start] & SEEN:
            continue
        plateau, size, owner = _plateau(plateau, start, level, volume, owners, near)
        done, done_count = extended(done, done_count, plateau, size)
        first = other_count
        others, other_count = _take_over(plateau, size, owner, owners, others, other_count)
        for n in range(first, other_count):
            queue = enqueue_around(queue, others[n], 0, level - 1, volume, near)
    for n in range(done_count):
        flags[done[n]] &= ~np.uint8(SEEN)
    return others[:other_count].copy()


@compiled_inside
def _plateau(plateau, start, level, volume, owners, near):
    """A voxel's plateau, its size, and the owner that comes to it."""
    plateau[0], size, done, owner = start, 1, 0, np.uint8(NOBODY)
    volume[2][start] |= SEEN
    while done < size:
        plateau, size, count = grown(plateau, size, plateau[done], level, POINT, volume, near)
        done += 1
        for m in range(count):
            owner = joined(owner, owners[near[m]])
    return plateau, size, owner


@compiled_inside
def _take_over(plateau, size, owner, owners, others, count):
    """Give the voxels of a plateau an owner; those that had another one are listed."""
    others, _ = extended(others, count, plateau, size)
    for n in range(size):
        if owners[plateau[n]] != owner:
            owners[plateau[n]] = owner
            others[count] = plateau[n]
            count += 1
    return others, count
