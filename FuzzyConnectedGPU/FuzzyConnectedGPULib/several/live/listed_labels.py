"""Labels of the voxels of lists: where they are, whose, and how strongly they are connected."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled

from ...affinity import TOP_LEVEL
from ...relative.groups import NOBODY


@compiled
def survey(voxels, scene, threshold, owners, shape, ends):
    """Widen a box (first and end of each axis) to the voxels of at least a threshold.

    Returns
    -------
    unowned : bool
        Whether one of them is nobody's.
    """
    height, width = shape[1], shape[2]
    k, j, begin, unowned = np.int64(0), np.int64(0), np.int64(-width), False
    for voxel in voxels:
        if scene[voxel] < threshold:
            continue
        if not begin <= voxel < begin + width:  # mostly it is in the same row as the one before
            line = voxel // width
            k, begin = line // height, line * width
            j = line - k * height
        i = voxel - begin
        ends[0, 0], ends[0, 1] = min(ends[0, 0], k), max(ends[0, 1], k + 1)
        ends[1, 0], ends[1, 1] = min(ends[1, 0], j), max(ends[1, 1], j + 1)
        ends[2, 0], ends[2, 1] = min(ends[2, 0], i), max(ends[2, 1], i + 1)
        unowned |= owners[voxel] == NOBODY
    return unowned


@compiled
def weakest(voxels, scene, threshold, levels):
    """The lowest level of the voxels of at least a threshold; above all levels without any."""
    lowest = np.int64(TOP_LEVEL + 1)
    for voxel in voxels:
        if scene[voxel] >= threshold:
            lowest = min(lowest, np.int64(levels[voxel]))
    return lowest


@compiled
def paint(voxels, scene, threshold, owners, names, shape, origin, labels):
    """Write the names of the owners of voxels of at least a threshold, and else 0, into a box."""
    height, width = shape[1], shape[2]
    k, j, begin = np.int64(0), np.int64(0), np.int64(-width)
    for voxel in voxels:
        if not begin <= voxel < begin + width:
            line = voxel // width
            k, begin = line // height, line * width
            j = line - k * height
        z, y, x = k - origin[0], j - origin[1], voxel - begin - origin[2]
        within = 0 <= z < labels.shape[0] and 0 <= y < labels.shape[1] and 0 <= x < labels.shape[2]
        if within:
            labels[z, y, x] = names[owners[voxel]] if scene[voxel] >= threshold else 0


@compiled
def distinct(voxels, seen):
    """The voxels, each once, in the order in which they come first; `seen` are bits, all 0."""
    found, count = np.empty(voxels.size, np.int64), 0
    for voxel in voxels:
        word, bit = voxel >> 6, np.uint64(1) << np.uint64(voxel & 63)
        if not seen[word] & bit:
            seen[word] |= bit
            found[count] = voxel
            count += 1
    for n in range(count):
        seen[found[n] >> 6] = 0
    return found[:count].copy()
