"""A queue of voxels by level, the highest first, for compiled code."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled

from ...affinity import TOP_LEVEL

FIRST_SIZE = 1 << 12


@compiled_inside
def empty_queue():
    """Heads by level, entries (voxels and the entries below them), and their number."""
    heads = np.full(TOP_LEVEL + 1, -1, np.int32)
    return heads, np.empty(FIRST_SIZE, np.int64), np.empty(FIRST_SIZE, np.int32), 0


@compiled_inside
def push(heads, voxels, below, count, level, voxel):
    """Add a voxel; returns the entries, which may be other arrays now, and their number."""
    if count == voxels.size:
        voxels, below = doubled(voxels), doubled(below)
    voxels[count], below[count] = voxel, heads[level]
    heads[level] = count
    return voxels, below, count + 1
