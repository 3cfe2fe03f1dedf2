"""Levels of strongest paths where points or voxels have changed, and nowhere else.

The levels of `listed_owners` in arrays of the volume's shape: a point has `TOP_LEVEL`, another
voxel the highest min(level, capacity) of a neighbour, at most its own capacity.

*Rise.* What is new, points and capacities, is added first: what it holds up does not fall. Paths
spread from it, from the highest level down, where they are stronger than what is there.

*Fall.* Voxels of one level that are connected (a plateau) hold one another up; what holds a plateau
is a neighbour of a higher level, or a point. Plateaus beside what is taken away are looked at from
the highest level down, so that all that could hold one is known; what nothing holds falls to 0, and
rises as far as its neighbours raise it.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled
from FuzzyVesselCoreLib.voxels.neighbourhood import NEIGHBOURS, neighbours

from ...affinity import TOP_LEVEL
from .bucket_queue import empty_queue, push

POINT, HELD, SEEN, QUEUED, LISTED = 1, 2, 4, 8, 16  # bits of a voxel's flags


@compiled_inside
def note(voxel, levels, flags, changed, before, count):
    """List a voxel whose level is about to change, once; returns the list and its length."""
    if not flags[voxel] & LISTED:
        flags[voxel] |= LISTED
        if count == changed.size:
            changed, before = doubled(changed), doubled(before)
        changed[count], before[count] = voxel, levels[voxel]
        count += 1
    return changed, before, count


@compiled
def change_levels(voxels, wanted, removed, added, more, limit, capacities, levels, flags, shape):
    """Give voxels other capacities, and take points away or add them.

    Parameters
    ----------
    voxels, wanted : ndarray, int64 and uint16
        Flat indices, each once, and their capacities from now on.
    removed, added : ndarray, int64
        Points; none is in both.
    more : ndarray, int64
        The added ones, and voxels that have been given more capacity already.
    limit : int
        Where more voxels change, nothing is done to the end.
    capacities, levels, flags : ndarray, uint16, uint16 and uint8
        Of all voxels; changed. Flags are `POINT` or 0.

    Returns
    -------
    changed, before : ndarray, int64 and uint16
        The voxels whose level may be another one now, and what it was; more than the limit where it
        was not done to the end. `LISTED` is set in the flags.
    """
    changed, before, count = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.uint16), 0
    for voxel in added:
        changed, before, count = note(voxel, levels, flags, changed, before, count)
        levels[voxel] = TOP_LEVEL
        flags[voxel] |= POINT
    volume, changes = (capacities, levels, flags, shape), (changed, before, count)
    changes = _rise(more, limit, volume, changes)
    if changes[2] <= limit:
        queue, changes = _take_away(removed, voxels, wanted, volume, changes)
        changes = _fall(queue, limit, volume, changes)
    if changes[2] <= limit:
        changes = _rise(_fallen(changes, levels), limit, volume, changes)
    changed, before, count = changes
    return changed[:count].copy(), before[:count].copy()


@compiled_inside
def _take_away(removed, voxels, wanted, volume, changes):
    """Remove points and capacity; returns what these have held up, queued, and the changes."""
    capacities, levels, flags, shape = volume
    changed, before, count = changes

    near = np.empty(NEIGHBOURS, np.int64)
    heads, queued, below, entries = empty_queue()
    top = 0
    for n in range(removed.size + voxels.size):
        of_point = n < removed.size
        voxel = removed[n] if of_point else voxels[n - removed.size]
        held = min(levels[voxel], capacities[voxel])  # what it has held up
        if of_point:
            flags[voxel] &= ~np.uint8(POINT)
        else:
            capacities[voxel] = wanted[n - removed.size]
            if capacities[voxel] >= held:
                continue
        if not flags[voxel] & POINT:
            changed, before, count = note(voxel, levels, flags, changed, before, count)
            levels[voxel] = 0
        for m in range(neighbours(voxel, shape, near)):
            other = near[m]
            level = np.int64(levels[other])
            if level and level <= held and not flags[other] & (POINT | QUEUED):
                flags[other] |= QUEUED
                queued, below, entries = push(heads, queued, below, entries, level, other)
                top = max(top, level)
    return (top, heads, queued, below, entries), (changed, before, count)


@compiled_inside
def _fallen(changes, levels):
    """The changed voxels whose level is 0."""
    changed, _, count = changes
    fallen, size = np.empty(count, np.int64), 0
    for voxel in changed[:count]:
        if levels[voxel] == 0:
            fallen[size] = voxel
            size += 1
    return fallen[:size]


@compiled_inside
def _fall(queue, limit, volume, changes):
    """Plateaus that nothing holds fall to 0, and what they alone have held."""
    top, heads, queued, below, entries = queue
    capacities, levels, flags, shape = volume
    changed, before, count = changes
    plateau, near = np.empty(1 << 10, np.int64), np.empty(NEIGHBOURS, np.int64)
    held, held_count = np.empty(1 << 10, np.int64), 0
    level = top
    while level > 0 and count <= limit:
        entry = heads[level]
        if entry < 0:
            level -= 1
            continue
        heads[level] = below[entry]
        start = queued[entry]
        flags[start] &= ~np.uint8(QUEUED)
        if levels[start] != level or flags[start] & HELD:
            continue
        plateau[0], size, done, holds = start, 1, 0, False
        flags[start] |= SEEN
        while done < size and not holds:
            voxel = plateau[done]
            done += 1
            if plateau.size - size < NEIGHBOURS:
                plateau = doubled(plateau)
            for m in range(neighbours(voxel, shape, near)):
                other = near[m]
                its = levels[other]
                if its < level or capacities[other] < level:
                    continue
                if its > level or flags[other] & (POINT | HELD):
                    holds = True
                    break
                if not flags[other] & SEEN:
                    flags[other] |= SEEN
                    plateau[size] = other
                    size += 1
        for n in range(size):
            voxel = plateau[n]
            flags[voxel] &= ~np.uint8(SEEN)
            if holds:
                flags[voxel] |= HELD
                if held_count == held.size:
                    held = doubled(held)
                held[held_count] = voxel
                held_count += 1
            else:
                changed, before, count = note(voxel, levels, flags, changed, before, count)
                levels[voxel] = 0
        if holds:
            continue
        for n in range(size):
            for m in range(neighbours(plateau[n], shape, near)):
                other = near[m]
                its = np.int64(levels[other])
                if 0 < its < level and not flags[other] & (POINT | QUEUED):
                    flags[other] |= QUEUED
                    queued, below, entries = push(heads, queued, below, entries, its, other)
    for n in range(held_count):
        flags[held[n]] &= ~np.uint8(HELD)
    return changed, before, count


@compiled_inside
def _rise(first, limit, volume, changes):
    """Raise voxels by their neighbours, and whatever these or points among them raise."""
    capacities, levels, flags, shape = volume
    changed, before, count = changes
    near = np.empty(NEIGHBOURS, np.int64)
    firm = np.zeros(first.size, np.uint16)  # before any of them has risen
    for n in range(first.size):
        voxel = first[n]
        if flags[voxel] & POINT:
            firm[n] = capacities[voxel]
            continue
        for m in range(neighbours(voxel, shape, near)):
            other = near[m]
            firm[n] = max(firm[n], min(levels[other], capacities[other]))
        firm[n] = min(firm[n], capacities[voxel])
    heads, queued, below, entries = empty_queue()
    bucket = 0
    for n in range(first.size):
        voxel, level = first[n], np.int64(firm[n])
        if not flags[voxel] & POINT:
            if level <= levels[voxel]:
                continue
            changed, before, count = note(voxel, levels, flags, changed, before, count)
            levels[voxel] = level
        queued, below, entries = push(heads, queued, below, entries, level, voxel)
        bucket = max(bucket, level)
    while bucket > 0 and count <= limit:
        entry = heads[bucket]
        if entry < 0:
            bucket -= 1
            continue
        heads[bucket] = below[entry]
        voxel = queued[entry]
        if min(levels[voxel], capacities[voxel]) != bucket:
            continue  # a stronger path came later
        for m in range(neighbours(voxel, shape, near)):
            other = near[m]
            level = min(np.int64(capacities[other]), bucket)
            if level > levels[other]:
                changed, before, count = note(other, levels, flags, changed, before, count)
                levels[other] = level
                queued, below, entries = push(heads, queued, below, entries, level, other)
    return changed, before, count
