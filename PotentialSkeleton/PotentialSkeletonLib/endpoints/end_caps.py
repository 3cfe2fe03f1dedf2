"""The place where a limb's axis leaves it."""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.distance.geodesic import unit_of

OUTSIDE = -1  # the distance outside of the object


def middle_of_cap(distances, top, reach, spacing):
    """The voxel where a limb's axis leaves it: a blunt end has its top on the rim.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        From the core, along the object.
    top : int
        Flat index of the limb's furthest voxel.
    reach : float
        Millimetres by which the voxels of the cap are nearer to the core at most.
    spacing : 3 floats K, J, I, in mm

    Returns
    -------
    int
        Flat index.
    """
    low, high, lowest = bounds(distances.flat[top], top, reach, distances.shape, spacing)
    box = distances[tuple(slice(a, b) for a, b in zip(low, high))]
    place = np.array(np.unravel_index(top, distances.shape)) - low
    marks, slab = np.zeros(box.shape, np.uint8), None
    if lowest[1] > OUTSIDE:
        slab = marked(marks, 1, mark_piece(box, place, lowest[1], marks, 1))
    else:
        marks[:] = 1
    cap = marked(marks, 2, mark_piece(box, place, lowest[0], marks, 2))
    return middle_of(cap, slab, low, high, top, distances.shape, spacing)


def bounds(height, top, reach, shape, spacing):
    """The box that a cap and what is behind it are looked for in, and how near they come.

    Parameters
    ----------
    height : np.int32
        The distance of the top.
    top, reach, spacing
        As for `middle_of_cap`.
    shape : 3 ints
        Of the volume.

    Returns
    -------
    low, high : ndarray of int, (3,)
        First voxel of the box, and beyond the last one.
    lowest : ndarray of float, (2,)
        Least distance in the cap, and in the cap with as much behind it. What is outside of the
        object is not left out where it is not more than `OUTSIDE`.
    """
    place = np.array(np.unravel_index(top, shape))
    reach = max(reach, 0.5 * min(spacing))
    radius = np.ceil(3 * reach / np.asarray(spacing)).astype(int) + 1
    lowest = height - np.array([reach, 2 * reach]) / unit_of(spacing)
    return np.maximum(place - radius, 0), np.minimum(place + radius + 1, shape), lowest


def middle_of(cap, slab, low, high, top, shape, spacing):
    """The flat index of the cap's middle.

    `cap` and `slab`, the cap with as much behind it, are voxels (n, 3) from `low`, in rising order;
    None is the whole box.
    """
    lengths = np.array(spacing, float)
    middle = mean(cap, lengths)
    axis = middle - (mean_of_box(high - low, lengths) if slab is None else mean(slab, lengths))
    length = np.linalg.norm(axis)
    if length == 0:
        return int(top)
    best = furthest_along(cap, lengths, middle, axis / length)
    return int(np.ravel_multi_index(cap[best] + low, shape))


@njit(cache=True)
def mark_piece(distances, place, lowest, marks, mark):
    """Mark the 26-connected piece of voxels from `lowest` on that holds a place; its size.

    It grows by runs along I. Only voxels whose mark is the one before are looked at.
    """
    waiting = [(place[0], place[1], place[2])]
    size = 0
    while len(waiting) > 0:
        k, j, i = waiting.pop()
        row, values = marks[k, j], distances[k, j]
        if row[i] == mark:
            continue
        first, last = i, i + 1
        while first > 0 and row[first - 1] == mark - 1 and values[first - 1] >= lowest:
            first -= 1
        while last < row.size and row[last] == mark - 1 and values[last] >= lowest:
            last += 1
        row[first:last] = mark
        size += last - first
        for other_k in range(max(k - 1, 0), min(k + 2, marks.shape[0])):
            for other_j in range(max(j - 1, 0), min(j + 2, marks.shape[1])):
                row, values = marks[other_k, other_j], distances[other_k, other_j]
                before = False
                for n in range(max(first - 1, 0), min(last + 1, row.size)):
                    is_new = row[n] == mark - 1 and values[n] >= lowest
                    if is_new and not before:
                        waiting.append((other_k, other_j, n))
                    before = is_new
    return size


@njit(cache=True)
def marked(marks, least, count):
    """The voxels (count, 3) that are marked with a number or a larger one, in rising order."""
    voxels = np.empty((count, 3), np.int32)
    n = 0
    for k in range(marks.shape[0]):
        for j in range(marks.shape[1]):
            for i in range(marks.shape[2]):
                if marks[k, j, i] >= least:
                    voxels[n, 0], voxels[n, 1], voxels[n, 2] = k, j, i
                    n += 1
    return voxels


@njit(cache=True)
def places_in(voxels, low, shape):
    """Places (n, 3) from `low` of flat indices of a volume."""
    places = np.empty((voxels.size, 3), np.int32)
    for n in range(voxels.size):
        line, i = divmod(voxels[n], shape[2])
        k, j = divmod(line, shape[1])
        places[n, 0], places[n, 1], places[n, 2] = k - low[0], j - low[1], i - low[2]
    return places


@njit(cache=True)
def mean(voxels, spacing):
    """Mean place in mm, summed up voxel by voxel."""
    sums = np.zeros(3)
    for n in range(len(voxels)):
        for axis in range(3):
            sums[axis] += voxels[n, axis] * spacing[axis]
    return sums / len(voxels)


@njit(cache=True)
def mean_of_box(shape, spacing):
    """Mean place of all voxels of a box, summed up as `mean` does."""
    sums = np.zeros(3)
    for k in range(shape[0]):
        for j in range(shape[1]):
            for i in range(shape[2]):
                sums[0] += k * spacing[0]
                sums[1] += j * spacing[1]
                sums[2] += i * spacing[2]
    return sums / (shape[0] * shape[1] * shape[2])


@njit(cache=True)
def furthest_along(voxels, spacing, middle, axis):
    """Which voxel is furthest along the axis through the middle and not far from it."""
    best, highest = 0, -np.inf
    away = np.empty(3)
    for n in range(len(voxels)):
        along = 0.0
        for side in range(3):
            away[side] = voxels[n, side] * spacing[side] - middle[side]
            along += away[side] * axis[side]
        across = 0.0
        for side in range(3):
            across += (away[side] - along * axis[side]) ** 2
        # Rounded, so that symmetric places tie on every machine; the first wins.
        score = np.rint((along - 2 * np.sqrt(across)) * 1e6)
        if score > highest:
            best, highest = n, score
    return best
