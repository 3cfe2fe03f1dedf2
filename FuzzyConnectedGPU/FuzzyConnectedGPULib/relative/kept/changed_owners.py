"""Owners where levels or points have changed, and nowhere else.

Connected voxels of one level (a plateau) have one owner: what comes to it along optimal edges from
higher levels and from points. From the highest level down, a plateau is looked at where its level
is new, or where a neighbour's level or owner has changed in a way that it sees; where its owner
stays, nothing further is looked at.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled
from FuzzyVesselCoreLib.voxels.neighbourhood import NEIGHBOURS, neighbours

from ...affinity import TOP_LEVEL
from ..disputed import joined
from ..groups import NOBODY
from .bucket_queue import empty_queue, push
from .changed_levels import LISTED, POINT, QUEUED, SEEN


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
    volume = capacities, levels, flags, shape
    queue, lost = _first_queued(changed, before, told, voxels, volume, owners)
    return _handed_on(queue, volume, owners), lost


@compiled_inside
def _first_queued(changed, before, told, voxels, volume, owners):
    """What sees a change, queued; and whether a voxel with capacity is nobody's now."""
    capacities, levels, flags, shape = volume
    near = np.empty(NEIGHBOURS, np.int64)
    heads, queued, below, entries = empty_queue()
    top, lost = np.int64(0), False
    for n in range(changed.size + told.size + voxels.size):
        low, high = 0, np.int64(0)
        if n < changed.size:
            voxel = changed[n]
            flags[voxel] &= ~np.uint8(LISTED)
            own = np.int64(levels[voxel])
            if own == before[n] and not flags[voxel] & POINT:
                continue
            now = min(own, np.int64(capacities[voxel]))
            low, high = min(now, np.int64(before[n])), max(now, np.int64(before[n]))
        elif n < changed.size + told.size:
            voxel = told[n - changed.size]
            high = np.int64(TOP_LEVEL)
        else:
            voxel = voxels[n - changed.size - told.size]
            if not flags[voxel] & POINT:
                continue
            high = np.int64(TOP_LEVEL)
        if not flags[voxel] & POINT:
            own = np.int64(levels[voxel])
            if own == 0:
                owners[voxel] = NOBODY
                lost |= capacities[voxel] > 0
            elif not flags[voxel] & QUEUED:
                flags[voxel] |= QUEUED
                queued, below, entries = push(heads, queued, below, entries, own, voxel)
                top = max(top, own)
        for m in range(neighbours(voxel, shape, near)):
            other = near[m]
            its = np.int64(levels[other])
            if low < its <= high and not flags[other] & (POINT | QUEUED):
                flags[other] |= QUEUED
                queued, below, entries = push(heads, queued, below, entries, its, other)
                top = max(top, its)
    return (top, heads, queued, below, entries), lost


@compiled_inside
def _handed_on(queue, volume, owners):
    """Give plateaus their owners, from the highest level down; returns voxels that have another."""
    top, heads, queued, below, entries = queue
    capacities, levels, flags, shape = volume
    near = np.empty(NEIGHBOURS, np.int64)
    plateau, done_with, done_count = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64), 0
    others, other_count = np.empty(1 << 10, np.int64), 0
    level = top
    while level > 0:
        entry = heads[level]
        if entry < 0:
            level -= 1
            continue
        heads[level] = below[entry]
        start = queued[entry]
        flags[start] &= ~np.uint8(QUEUED)
        if flags[start] & SEEN:
            continue
        plateau[0], size, done, owner = start, 1, 0, np.uint8(NOBODY)
        flags[start] |= SEEN
        while done < size:
            voxel = plateau[done]
            done += 1
            if plateau.size - size < NEIGHBOURS:
                plateau = doubled(plateau)
            for m in range(neighbours(voxel, shape, near)):
                other = near[m]
                its = levels[other]
                if its < level or capacities[other] < level:
                    continue
                if its > level or flags[other] & POINT:
                    owner = joined(owner, owners[other])
                elif not flags[other] & SEEN:
                    flags[other] |= SEEN
                    plateau[size] = other
                    size += 1
        if done_with.size - done_count < size:
            longer = np.empty(2 * (done_count + size), np.int64)
            longer[:done_count] = done_with[:done_count]
            done_with = longer
        for n in range(size):
            voxel = plateau[n]
            done_with[done_count] = voxel
            done_count += 1
            if owners[voxel] == owner:
                continue
            owners[voxel] = owner
            if other_count == others.size:
                others = doubled(others)
            others[other_count] = voxel
            other_count += 1
            for m in range(neighbours(voxel, shape, near)):
                other = near[m]
                its = np.int64(levels[other])
                if 0 < its < level and not flags[other] & (POINT | QUEUED):
                    flags[other] |= QUEUED
                    queued, below, entries = push(heads, queued, below, entries, its, other)
    for n in range(done_count):
        flags[done_with[n]] &= ~np.uint8(SEEN)
    return others[:other_count].copy()
