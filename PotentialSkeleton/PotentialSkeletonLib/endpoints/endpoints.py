"""Tips of an object: where it reaches furthest from a core, and by more than its own width.

Seen from the core, each limb of the object holds a local maximum of the geodesic distance. The
voxels further out than some distance fall into pieces, one a limb; as that distance sinks, pieces
grow and merge. A piece's top is a tip as soon as the piece is long for its width. Bumps on a
surface, blunt ends and the corners of boxes merge into larger pieces before. Where a
skeleton ends within a limb, little is left of the limb beyond: such an end is drawn out.
"""

import numpy as np
from numba import njit, prange

from FuzzyVesselCoreLib.progress import ask_while
from FuzzyVesselCoreLib.voxels.distance.geodesic import neighbour_steps, unit_of

from .end_caps import middle_of_cap
from .local_maxima import is_long, is_top, limb_widths

DRAWN_OUT = 1.3  # inscribed radii at an end of the core beyond which its limb goes on
CAP = 0.75  # share of a limb's radius: so far from the top reaches the cap that the tip is put on
VOXELS_A_SLICE = 1 << 22  # looked at for tops between two looks at the progress callback
TOPS_A_PLANE = 64  # a first guess


def geodesic_tips(distances, depth, spacing, smallest, report=None):
    """Ends of the object's limbs.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        Geodesic distance from the core, -1 outside the object (`geodesic_distance`).
    depth : ndarray of float32, shape (K, J, I)
        Distance to the outside in mm.
    spacing : 3 floats K, J, I, in mm
    smallest : float
        Millimetres that a limb is longer than `SLENDERNESS` times its radius.
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    ndarray of int64
        Flat indices in rising order.
    """
    tops = may_be_tips(distances, depth, spacing, smallest, report)
    return tips_among(tops, distances, depth, spacing, smallest, report)


def may_be_tips(distances, depth, spacing, smallest, report=None):
    """Flat indices of the tops that pass a quick test, which all tips do.

    From a top a shortest way to the core is followed. When a piece has sunk to some distance it
    holds the voxels of the way that are further out than that. So it is at least as wide as these,
    and as long at most as down to the first voxel of the way that is not further out: a top that
    is a tip must pass the comparison of length and width at some voxel of its way. Until then
    its piece must not hold a higher top, as to which the steepest ascent from the way may lead.
    """
    offsets, weights = neighbour_steps(distances.shape, spacing)
    steps = offsets, weights, unit_of(spacing), smallest
    planes = max(1, VOXELS_A_SLICE // distances[0].size)
    room, found, first = TOPS_A_PLANE, [], 1
    while first < distances.shape[0] - 1:
        last = min(first + planes, distances.shape[0] - 1)
        tops, counts = tops_with_long_ways(distances, depth.reshape(-1), *steps, first, last, room)
        if report is not None:
            report()
        if counts.max() > room:
            room = int(counts.max())
            continue
        found += [some[:count] for some, count in zip(tops, counts)]
        first = last
    return np.concatenate(found)


@njit(cache=True, parallel=True)
def tops_with_long_ways(distances, depth, offsets, weights, unit, smallest, first, last, room):
    """Tops of some planes that pass the test, up to `room` for each plane, and their numbers."""
    flat, size = distances.reshape(-1), distances.shape[1] * distances.shape[2]
    found = np.empty((last - first, room), np.int64)
    counts = np.zeros(last - first, np.int64)
    for plane in prange(last - first):
        count = 0
        for voxel in range((first + plane) * size, (first + plane + 1) * size):
            if not flat[voxel] * unit > smallest or not is_top(flat, offsets, voxel):
                continue
            if has_long_way(voxel, flat, depth, offsets, weights, unit, smallest):
                if count < room:
                    found[plane, count] = voxel
                count += 1
        counts[plane] = count
    return found, counts


@njit(cache=True)
def has_long_way(top, distances, depth, offsets, weights, unit, smallest):
    """Whether a way to the core, at some voxel, is long enough for the width of the ones before."""
    height, voxel, width = distances[top], top, np.float32(0.0)
    while is_long(height * unit, width, smallest):
        here = distances[voxel]
        if is_long((height - here) * unit, width, smallest):
            return True
        higher = top_above(voxel, height, distances, offsets)
        if distances[higher] > height or (distances[higher] == height and higher < top):
            return False
        width = max(width, depth[voxel])
        following = voxel
        for side in range(offsets.size):
            other = voxel + offsets[side]
            is_nearer = distances[other] >= 0 and distances[other] == here - weights[side]
            if is_nearer and (following == voxel or depth[other] > depth[following]):
                following = other
        if following == voxel:
            return False
        voxel = following
    return False


@njit(cache=True)
def top_above(voxel, height, distances, offsets):
    """The top to which the steepest ascent leads, or the first voxel on it above a height."""
    while distances[voxel] <= height:
        steepest = voxel
        for offset in offsets:
            other = voxel + offset
            rise = distances[other] - distances[steepest]
            if rise > 0 or (rise == 0 and other > steepest):
                steepest = other
        if steepest == voxel:
            break
        voxel = steepest
    return voxel


def tips_among(tops, distances, depth, spacing, smallest, report=None):
    """Ends of limbs, as flat indices in rising order; `tops` hold all that may be their tops."""
    flat, deep, unit = distances.reshape(-1), depth.reshape(-1), unit_of(spacing)
    offsets, _ = neighbour_steps(distances.shape, spacing)
    tops = tops[np.lexsort((-tops, flat[tops]))]
    widths = ask_while(report, limb_widths, tops, flat, deep, offsets, unit, smallest)
    tips = []
    for top, width in zip(tops[widths >= 0], widths[widths >= 0]):
        tips.append(middle_of_cap(distances, top, CAP * width, spacing))
        if report is not None:
            report()
    return np.unique(np.array(tips, np.int64))


def drawn_out_ends(distances, depth, skeleton, spacing, tips, report=None):
    """Ends of the limbs that go on beyond an end of a skeleton.

    Parameters
    ----------
    distances, depth, spacing
        As for `geodesic_tips`; the distances from the skeleton.
    skeleton : ndarray of int
        Flat indices of its voxels, rising.
    tips : ndarray of int
        Flat indices of ends that stay.
    report : callable, optional
        Called at each end of the skeleton; raises to cancel.

    Returns
    -------
    ndarray of int64
        Flat indices in rising order.
    """
    flat, deep = distances.reshape(-1), depth.reshape(-1)
    offsets, weights = neighbour_steps(distances.shape, spacing)
    seen = np.zeros(flat.size, np.uint8)
    unit, found = unit_of(spacing), []
    for voxel in ends_of(skeleton, distances.shape, tips):
        if report is not None:
            report()
        top, width = furthest_beyond(flat, offsets, weights, voxel, seen), deep[voxel]
        if flat[top] * unit > DRAWN_OUT * width:
            found.append(middle_of_cap(distances, top, CAP * width, spacing))
    return np.unique(np.array(found, np.int64))


def ends_of(skeleton, shape, tips):
    """Voxels of a skeleton that have one neighbour in it and are no tips; flat indices, rising."""
    ends = np.array([], skeleton.dtype)
    if len(skeleton):
        offsets, _ = neighbour_steps(shape, (1, 1, 1))
        ends = skeleton[count_beside(skeleton, offsets) == 1]
    return np.setdiff1d(ends, tips)


@njit(cache=True)
def count_beside(voxels, offsets):
    """How many neighbours of each voxel are among them; flat indices in rising order."""
    counts = np.zeros(len(voxels), np.int64)
    for offset in offsets:
        at = 0
        for n in range(len(voxels)):
            while at < len(voxels) and voxels[at] < voxels[n] + offset:
                at += 1
            if at < len(voxels) and voxels[at] == voxels[n] + offset:
                counts[n] += 1
    return counts


@njit(cache=True)
def furthest_beyond(distances, offsets, weights, start, seen):
    """The voxel furthest from the skeleton of those whose shortest way to it ends at `start`."""
    waiting = [start]
    best = start
    while len(waiting) > 0:
        voxel = waiting.pop()
        if (distances[voxel], -voxel) > (distances[best], -best):
            best = voxel
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if not seen[other] and distances[other] == distances[voxel] + weights[side]:
                seen[other] = 1
                waiting.append(other)
    return best
