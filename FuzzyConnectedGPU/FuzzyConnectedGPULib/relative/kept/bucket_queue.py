"""A queue of voxels by level, the highest first, for compiled code.

A queue is a tuple: heads by level, entries (voxels and the entries below them), the number of the
entries, and the highest level that may have some. Each function returns the queue as it is then.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled

from ...affinity.levels import TOP_LEVEL

FIRST_SIZE = 1 << 12


@compiled_inside
def empty_queue():
    """A queue without entries."""
    heads = np.full(TOP_LEVEL + 1, -1, np.int32)
    return heads, np.empty(FIRST_SIZE, np.int64), np.empty(FIRST_SIZE, np.int32), 0, np.int64(0)


@compiled_inside
def push(queue, level, voxel):
    """Add a voxel of a level from 1 on."""
    heads, voxels, below, count, top = queue
    if count == voxels.size:
        voxels, below = doubled(voxels), doubled(below)
    voxels[count], below[count] = voxel, heads[level]
    heads[level] = count
    return heads, voxels, below, count + 1, max(top, level)


@compiled_inside
def pop(queue):
    """Take the last voxel of the highest level; returns queue, level (0: it was empty), voxel."""
    heads, voxels, below, count, top = queue
    while top > 0 and heads[top] < 0:
        top -= 1
    entry = max(heads[top], 0)
    if top > 0:
        heads[top] = below[entry]
    return (heads, voxels, below, count, top), top, voxels[entry]
