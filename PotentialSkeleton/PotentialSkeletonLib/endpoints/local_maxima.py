"""Which local maxima of the distance from a core are the tops of limbs.

The voxels of an object are given away in falling order of their distance, of equal ones the last
in memory first. They make pieces, which grow and merge; when two merge, the lower top is given up,
of equally high ones the one that is later in memory. A top is a tip as soon as its piece is long
for its width, unless it was given up before or the piece holds a tip already.

Here each top has its piece grown for itself until it is a tip or given up: what is told of a top
depends only on its own piece. Lower tops go first, so that a piece that reaches a lower tip knows
it. A piece is never much longer than wide, so few voxels are visited.
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


@njit(cache=True, nogil=True)
def limb_widths(tops, distances, depth, offsets, unit, smallest, stop):
    """The width in mm of the limb of each top that is a tip, -1 of others; lower tops go first."""
    widths = np.full(tops.size, -1, np.float32)
    visited, tips = np.zeros(distances.size, np.int32), np.zeros(distances.size, np.uint8)
    for n in range(tops.size):
        widths[n] = grow(
            tops[n], n + 1, distances, depth, offsets, unit, smallest, visited, tips, stop
        )
        tips[tops[n]] = widths[n] >= 0
        if stop[0]:
            break
    return widths


@njit(cache=True)
def grow(top, number, distances, depth, offsets, unit, smallest, visited, tips, stop):
    """Grow the piece of a top; its width in mm if the top is a tip, else -1, also if it is stopped.

    `visited` (int32) and `tips` (uint8) hold a number for each voxel; `number` must be new in
    `visited`, and `tips` is not 0 at the tips among lower tops.

    Down to the distance at which the piece will be long for its width so far, all may join in any
    order: it only gets wider, so there is no tip before. There the first in order joins alone, with
    all that it leads up to; later ones at that distance find the piece as long and wider.
    """
    height, width, joining = distances[top], np.float32(0.0), -1
    visited[top] = number
    waiting, count, joined = np.array([top]), 1, np.empty(64, np.int64)
    while True:
        level = far_enough(height, width, unit, smallest)
        if level < 0:
            return np.float32(-1)
        # All join that come not after a place in the order: a distance and a place in memory.
        least, place = level + 1, 0
        if joining >= 0:
            least, place = distances[joining], joining
        used, count, joined = sift(waiting, count, joined, distances, least, place)
        while used > 0:
            used -= 1
            voxel = joined[used]
            if voxel != joining:
                width = max(width, depth[voxel])
            if stop[0] or is_given_up(voxel, top, distances, offsets, tips):
                return np.float32(-1)
            joined = with_room(joined, used + offsets.size)
            waiting = with_room(waiting, count + offsets.size)
            for offset in offsets:
                other = voxel + offset
                there = distances[other]
                if there < 0 or visited[other] == number:
                    continue
                visited[other] = number
                if there > least or (there == least and other >= place):
                    joined[used] = other
                    used += 1
                else:
                    waiting[count] = other
                    count += 1
        if joining >= 0:
            is_tip = is_long((height - distances[joining]) * unit, width, smallest)
            width = max(width, depth[joining])
            joining = -1
            if is_tip:
                return width
        elif far_enough(height, width, unit, smallest) == level:
            joining = first_of(waiting[:count], distances)
            if joining < 0:
                return np.float32(-1)


@njit(cache=True)
def sift(waiting, count, joined, distances, least, place):
    """Move to `joined` what waits and comes not after a place in the order; how many are where."""
    used = kept = 0
    for n in range(count):
        voxel = waiting[n]
        there = distances[voxel]
        if there > least or (there == least and voxel >= place):
            joined = with_room(joined, used + 1)
            joined[used] = voxel
            used += 1
        else:
            waiting[kept] = voxel
            kept += 1
    return used, kept, joined


@njit(cache=True)
def with_room(array, size):
    """The array, or a longer copy of it."""
    return array if size <= array.size else np.concatenate((array, np.empty(size, array.dtype)))


@njit(cache=True)
def far_enough(height, width, unit, smallest):
    """The largest distance so far below a height that a piece of a width is long; -1 for none."""
    if not is_long(height * unit, width, smallest):
        return -1
    level = min(max(height - int((SLENDERNESS * width + smallest) / unit), 0), height)
    while not is_long((height - level) * unit, width, smallest):
        level -= 1
    while level < height and is_long((height - level - 1) * unit, width, smallest):
        level += 1
    return level


@njit(cache=True)
def first_of(voxels, distances):
    """The voxel that joins first: the furthest, of equally far ones the last in memory; or -1."""
    first = -1
    for voxel in voxels:
        here = distances[voxel]
        if first < 0 or (here, voxel) > (distances[first], first):
            first = voxel
    return first


@njit(cache=True)
def is_given_up(voxel, top, distances, offsets, tips):
    """Whether a top's piece, by this voxel, holds a tip or a top that is kept before it."""
    if tips[voxel] or distances[voxel] > distances[top]:
        return True
    as_high = distances[voxel] == distances[top] and voxel < top
    return as_high and is_top(distances, offsets, voxel)
