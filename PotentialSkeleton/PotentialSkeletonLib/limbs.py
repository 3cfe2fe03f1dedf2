"""Which local maxima of the distance from a core are the tops of limbs.

The voxels of an object are given away in falling order of their distance, of equal ones the last
in memory first. They make pieces, which grow and merge; when two merge, the lower top is given up,
of equally high ones the one that is later in memory. A top is a tip as soon as its piece is long
for its width, unless it was given up before or the piece holds a tip already.

Here each top has its piece grown for itself, in that same order, until it is a tip or given up:
what is told of a top depends only on its own piece. Lower tops go first, so that a piece that
reaches a lower tip knows it. A piece is never much longer than wide, so few voxels are visited.
"""

import numpy as np
from numba import njit

SLENDERNESS = 2.0  # length of a piece over its largest inscribed radius that makes its top a tip


@njit(cache=True)
def is_long(length, width, smallest):
    """Whether a piece (mm) is long enough for its width to be a limb."""
    return length > SLENDERNESS * width + smallest


@njit(cache=True)
def is_top(distances, offsets, voxel):
    """Whether a voxel begins a piece: all neighbours come after it."""
    here = distances[voxel]
    for offset in offsets:
        there = distances[voxel + offset]
        if there > here or (there == here and offset > 0):
            return False
    return True


@njit(cache=True)
def grow(top, number, distances, depth, offsets, unit, smallest, visited, tips):
    """Grow the piece of a top; its width in mm if the top is a tip, else -1.

    `visited` (int32) and `tips` (uint8) hold a number for each voxel; `number` must be new in
    `visited`, and `tips` is not 0 at the tips among lower tops.
    """
    height = distances[top]
    waiting = np.full(height + 1, -1, np.int64)  # of each distance the last voxel, by its place
    voxels, before = np.empty(64, np.int64), np.empty(64, np.int64)
    voxels[0], before[0], waiting[height], used = top, -1, 0, 1
    visited[top] = number
    width = np.float32(0.0)
    for level in range(height, -1, -1):
        if waiting[level] >= 0:
            # The last in memory joins first. Where it is not far enough for a tip none is at this
            # level, as the piece only gets wider: the others may join in any order.
            last_in_memory(voxels, before, waiting[level])
        while waiting[level] >= 0:
            joining = voxels[waiting[level]]
            waiting[level] = before[waiting[level]]
            climbing = [joining]
            while len(climbing) > 0:
                voxel = climbing.pop()
                if voxel != joining:
                    width = max(width, depth[voxel])
                if is_given_up(voxel, top, distances, offsets, tips):
                    return np.float32(-1)
                for offset in offsets:
                    other = voxel + offset
                    there = distances[other]
                    if there < 0 or visited[other] == number:
                        continue
                    visited[other] = number
                    if there > level or (there == level and other > joining):
                        climbing.append(other)
                        continue
                    if used == voxels.size:
                        voxels, before = doubled(voxels), doubled(before)
                    voxels[used], before[used], waiting[there] = other, waiting[there], used
                    used += 1
            is_tip = is_long((height - level) * unit, width, smallest)
            width = max(width, depth[joining])
            if is_tip:
                return width
            if not is_long(height * unit, width, smallest):
                return np.float32(-1)
    return np.float32(-1)


@njit(cache=True)
def last_in_memory(voxels, before, first):
    """Exchange the voxel at a place with the last in memory of those before it."""
    at = before[first]
    while at >= 0:
        if voxels[at] > voxels[first]:
            voxels[at], voxels[first] = voxels[first], voxels[at]
        at = before[at]


@njit(cache=True)
def doubled(array):
    return np.concatenate((array, np.empty_like(array)))


@njit(cache=True)
def is_given_up(voxel, top, distances, offsets, tips):
    """Whether a top's piece, by this voxel, holds a tip or a top that is kept before it."""
    if tips[voxel] or distances[voxel] > distances[top]:
        return True
    as_high = distances[voxel] == distances[top] and voxel < top
    return as_high and is_top(distances, offsets, voxel)
