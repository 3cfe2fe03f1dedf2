"""Labels of the voxels of lists: where they are, whose, and how strongly they are connected."""

import numpy as np
from numba import njit

from ...relative.groups import NOBODY


@njit(cache=True, nogil=True)
def survey(voxels, scene, threshold, owners, levels, shape, ends):
    """Widen a box (first and end of each axis) to the voxels of at least a threshold.

    Returns
    -------
    unowned : bool
        Whether one of them is nobody's.
    weakest : int
        Their lowest level.
    """
    plane, row = shape[1] * shape[2], shape[2]
    unowned, weakest = False, np.int64(65536)
    for voxel in voxels:
        if scene[voxel] >= threshold:
            k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
            ends[0, 0], ends[0, 1] = min(ends[0, 0], k), max(ends[0, 1], k + 1)
            ends[1, 0], ends[1, 1] = min(ends[1, 0], j), max(ends[1, 1], j + 1)
            ends[2, 0], ends[2, 1] = min(ends[2, 0], i), max(ends[2, 1], i + 1)
            unowned |= owners[voxel] == NOBODY
            weakest = min(weakest, np.int64(levels[voxel]))
    return unowned, weakest


@njit(cache=True, nogil=True)
def paint(voxels, scene, threshold, owners, names, shape, origin, labels):
    """Write the names of the owners into the labels of a box."""
    plane, row = shape[1] * shape[2], shape[2]
    for voxel in voxels:
        if scene[voxel] >= threshold:
            k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
            labels[k - origin[0], j - origin[1], i - origin[2]] = names[owners[voxel]]


@njit(cache=True, nogil=True)
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
