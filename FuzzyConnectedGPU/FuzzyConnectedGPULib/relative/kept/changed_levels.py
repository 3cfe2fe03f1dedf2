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

from ...affinity.levels import TOP_LEVEL
from .bucket_queue import empty_queue, pop, push
from .plateaus import HELD, LISTED, POINT, QUEUED, SEEN, enqueue_around, extended, grown


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
    volume, near = (capacities, levels, flags, shape), np.empty(NEIGHBOURS, np.int64)
    changes = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.uint16), 0
    for voxel in added:
        changes = _set(voxel, TOP_LEVEL, volume, changes)
        flags[voxel] |= POINT
    changes = _rise(more, limit, volume, changes, near)
    if changes[2] <= limit:
        queue, changes = _take_away(removed, voxels, wanted, volume, changes, near)
        changes = _fall(queue, limit, volume, changes, near)
    if changes[2] <= limit:
        changes = _rise(_fallen(changes, levels), limit, volume, changes, near)
    changed, before, count = changes
    return changed[:count].copy(), before[:count].copy()


@compiled_inside
def _set(voxel, level, volume, changes):
    """Give a voxel another level; it is listed once, with the level before all changes."""
    _, levels, flags, _ = volume
    changed, before, count = changes
    if not flags[voxel] & LISTED:
        flags[voxel] |= LISTED
        if count == changed.size:
            changed, before = doubled(changed), doubled(before)
        changed[count], before[count] = voxel, levels[voxel]
        count += 1
    levels[voxel] = level
    return changed, before, count


@compiled_inside
def _take_away(removed, voxels, wanted, volume, changes, near):
    """Remove points and capacity; returns what these have held up, queued, and the changes."""
    capacities, levels, flags, _ = volume
    queue = empty_queue()
    for n in range(removed.size + voxels.size):
        of_point = n < removed.size
        voxel = removed[n] if of_point else voxels[n - removed.size]
        held = np.int64(min(levels[voxel], capacities[voxel]))
        if of_point:
            flags[voxel] &= ~np.uint8(POINT)
        else:
            capacities[voxel] = wanted[n - removed.size]
            if capacities[voxel] >= held:
                continue
        if not flags[voxel] & POINT:
            changes = _set(voxel, 0, volume, changes)
        queue = enqueue_around(queue, voxel, 0, held, volume, near)
    return queue, changes


@compiled_inside
def _fall(queue, limit, volume, changes, near):
    """Plateaus that nothing holds fall to 0, and what they alone have held."""
    _, levels, flags, _ = volume
    plateau, held, held_count = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64), 0
    while changes[2] <= limit:
        queue, level, start = pop(queue)
        if level == 0:
            break
        flags[start] &= ~np.uint8(QUEUED)
        if levels[start] != level or flags[start] & HELD:
            continue
        plateau, size, holds = _plateau(plateau, start, level, volume, near)
        for n in range(size):
            flags[plateau[n]] &= ~np.uint8(SEEN)
            if holds:
                flags[plateau[n]] |= HELD
            else:
                changes = _set(plateau[n], 0, volume, changes)
        if holds:
            held, held_count = extended(held, held_count, plateau, size)
            continue
        for n in range(size):
            queue = enqueue_around(queue, plateau[n], 0, level - 1, volume, near)
    for n in range(held_count):
        flags[held[n]] &= ~np.uint8(HELD)
    return changes


@compiled_inside
def _plateau(plateau, start, level, volume, near):
    """A voxel's plateau, as far as it takes to see what holds it: voxels, number, whether held."""
    plateau[0], size, done, holds = start, 1, 0, False
    volume[2][start] |= SEEN
    while done < size and not holds:
        firm = POINT | HELD
        plateau, size, count = grown(plateau, size, plateau[done], level, firm, volume, near)
        done, holds = done + 1, count > 0
    return plateau, size, holds


@compiled_inside
def _fallen(changes, levels):
    """The changed voxels whose level is 0."""
    changed, _, count = changes
    fallen, size = np.empty(count, np.int64), 0
    for n in range(count):
        if levels[changed[n]] == 0:
            fallen[size] = changed[n]
            size += 1
    return fallen[:size]


@compiled_inside
def _rise(first, limit, volume, changes, near):
    """Raise voxels by their neighbours, and whatever these or points among them raise."""
    capacities, levels, _, shape = volume
    queue, changes = _raised(first, volume, changes, near)
    while changes[2] <= limit:
        queue, bucket, voxel = pop(queue)
        if bucket == 0:
            break
        if min(levels[voxel], capacities[voxel]) != bucket:
            continue  # a stronger path came later
        for m in range(neighbours(voxel, shape, near)):
            level = min(np.int64(capacities[near[m]]), bucket)
            if level > levels[near[m]]:
                changes = _set(near[m], level, volume, changes)
                queue = push(queue, level, near[m])
    return changes


@compiled_inside
def _raised(first, volume, changes, near):
    """Raise voxels as far as their neighbours do; returns those that may raise more, queued."""
    capacities, levels, flags, shape = volume
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
    queue = empty_queue()
    for n in range(first.size):
        voxel, level = first[n], np.int64(firm[n])
        if not flags[voxel] & POINT:
            if level <= levels[voxel]:
                continue
            changes = _set(voxel, level, volume, changes)
        if level:
            queue = push(queue, level, voxel)
    return queue, changes
