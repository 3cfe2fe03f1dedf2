"""Plateaus: connected voxels of one level, which hold one another up.

What changes spreads from plateau to plateau, from the highest level down, so that all that a
plateau depends on is known when it is looked at. A volume is a tuple: capacities, levels and flags
(uint16, uint16 and uint8, of all voxels), and its shape.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled, longer
from FuzzyVesselCoreLib.voxels.neighbourhood import NEIGHBOURS, neighbours

from .bucket_queue import push

POINT, HELD, SEEN, QUEUED, LISTED = 1, 2, 4, 8, 16  # bits of a voxel's flags


@compiled_inside
def enqueue(queue, voxel, level, flags):
    """Queue a voxel that is neither a point nor queued; returns the queue."""
    if flags[voxel] & (POINT | QUEUED):
        return queue
    flags[voxel] |= QUEUED
    return push(queue, level, voxel)


@compiled_inside
def enqueue_around(queue, voxel, above, highest, volume, near):
    """Queue the neighbours whose level is above a number, and at most another one."""
    _, levels, flags, shape = volume
    for m in range(neighbours(voxel, shape, near)):
        level = np.int64(levels[near[m]])
        if above < level <= highest:
            queue = enqueue(queue, near[m], level, flags)
    return queue


@compiled_inside
def grown(plateau, size, voxel, level, firm, volume, near):
    """Add what is new of a plateau beside one of its voxels.

    Parameters
    ----------
    plateau, size
        Its voxels so far (`SEEN`), and how many these are.
    voxel, level : int64
    firm : int
        Bits of flags: a voxel of the same level that has one of them holds the plateau.
    volume : tuple
    near : ndarray of int64, (`NEIGHBOURS`,)
        What holds the plateau is written there: firm voxels and those of a higher level.

    Returns
    -------
    plateau, size
        As they are now.
    count : int
        How many voxels hold it.
    """
    capacities, levels, flags, shape = volume
    if plateau.size - size < NEIGHBOURS:
        plateau = doubled(plateau)
    count = 0
    for m in range(neighbours(voxel, shape, near)):
        other = near[m]
        its = levels[other]
        if its < level or capacities[other] < level:
            continue
        if its > level or flags[other] & firm:
            near[count] = other
            count += 1
        elif not flags[other] & SEEN:
            flags[other] |= SEEN
            plateau[size] = other
            size += 1
    return plateau, size, count


@compiled_inside
def extended(listed, count, voxels, size):
    """A list of so many voxels, and the first ones of another; returns the list and its length."""
    if listed.size - count < size:
        listed = longer(listed, 2 * (count + size))
    for n in range(size):
        listed[count + n] = voxels[n]
    return listed, count + size
