"""The place where a limb's axis leaves it."""

import numpy as np
from numba import njit

from .geodesic import unit_of


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
    place = np.array(np.unravel_index(top, distances.shape))
    reach = max(reach, 0.5 * min(spacing))
    radius = np.ceil(3 * reach / np.asarray(spacing)).astype(int) + 1
    low = np.maximum(place - radius, 0)
    box = distances[tuple(slice(a, b) for a, b in zip(low, place + radius + 1))]
    lowest = distances.flat[top] - np.array([reach, 2 * reach]) / unit_of(spacing)
    piece = np.zeros(box.shape, np.uint8)
    marks = (1, lowest[1]), (2, lowest[0])  # the slab, and in it the cap
    sizes = [mark_piece(box, place - low, least, piece, mark) for mark, least in marks]
    lengths = np.array(spacing, float)
    middle, behind = means(piece, lengths, np.array(sizes[::-1]))
    axis = middle - behind
    length = np.linalg.norm(axis)
    if length == 0:
        return top
    best = furthest_along(piece, lengths, middle, axis / length)
    return int(np.ravel_multi_index(best + low, distances.shape))


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
def means(marks, spacing, sizes):
    """Mean places, in mm, of the voxels marked 2 and of all that are marked; summed in order."""
    sums = np.zeros((2, 3))
    for k in range(marks.shape[0]):
        for j in range(marks.shape[1]):
            for i in range(marks.shape[2]):
                mark = marks[k, j, i]
                for group in range(2 - mark, 2):
                    sums[group, 0] += k * spacing[0]
                    sums[group, 1] += j * spacing[1]
                    sums[group, 2] += i * spacing[2]
    return sums / sizes.reshape(2, 1)


@njit(cache=True)
def furthest_along(marks, spacing, middle, axis):
    """The voxel K, J, I of those marked 2 that is furthest along the axis and not far from it."""
    best, place = -np.inf, np.zeros(3, np.int64)
    for k in range(marks.shape[0]):
        for j in range(marks.shape[1]):
            for i in range(marks.shape[2]):
                if marks[k, j, i] != 2:
                    continue
                away_k = k * spacing[0] - middle[0]
                away_j = j * spacing[1] - middle[1]
                away_i = i * spacing[2] - middle[2]
                along = away_k * axis[0] + away_j * axis[1] + away_i * axis[2]
                across = np.sqrt(
                    (away_k - along * axis[0]) ** 2
                    + (away_j - along * axis[1]) ** 2
                    + (away_i - along * axis[2]) ** 2
                )
                # Rounded, so that symmetric places tie on every machine; the first wins.
                score = np.rint((along - 2 * across) * 1e6)
                if score > best:
                    best = score
                    place[0], place[1], place[2] = k, j, i
    return place
