"""The centre of an end cap: where a protrusion's axis leaves it."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.voxels.distance.geodesic import unit_of

OUTSIDE = -1  # the distance outside of the object


def end_cap_centre(
    distances: np.ndarray, maximum: int, reach: float, spacing: tuple[float, ...]
) -> int:
    """The voxel where a protrusion's axis leaves it: a blunt end has its maximum on the rim.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        From the core, along the object.
    maximum : int
        Flat index of the protrusion's furthest voxel.
    reach : float
        Millimetres by which the voxels of the end cap are nearer to the core at most.
    spacing : 3 floats K, J, I, in mm

    Returns
    -------
    int
        Flat index.
    """
    low, high, lowest = bounds(distances.flat[maximum], maximum, reach, distances.shape, spacing)
    box = distances[tuple(slice(a, b) for a, b in zip(low, high))]
    voxel = np.array(np.unravel_index(maximum, distances.shape)) - low
    marks, slab = np.zeros(box.shape, np.uint8), None
    if lowest[1] > OUTSIDE:
        slab = marked(marks, 1, mark_component(box, voxel, lowest[1], marks, 1))
    else:
        marks[:] = 1
    cap = marked(marks, 2, mark_component(box, voxel, lowest[0], marks, 2))
    sides = np.array(spacing, float)
    middle = mean(cap, sides)
    axis = middle - (mean_of_box(high - low, sides) if slab is None else mean(slab, sides))
    length = np.linalg.norm(axis)
    if length == 0:
        return int(maximum)
    furthest = furthest_along(cap, sides, middle, axis / length)
    return int(np.ravel_multi_index(cap[furthest] + low, distances.shape))


def bounds(
    height: np.int32,
    maximum: int,
    reach: float,
    shape: tuple[int, ...],
    spacing: tuple[float, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The box that an end cap and the slab behind it are looked for in, and their levels.

    Parameters
    ----------
    height : np.int32
        The distance of the maximum.
    maximum, reach, spacing
        As for `end_cap_centre`.
    shape : 3 ints
        Of the volume.

    Returns
    -------
    low, high : ndarray of int, (3,)
        First voxel of the box, and beyond the last one.
    lowest : ndarray of float, (2,)
        Lowest distance in the cap, and in the slab: the cap with as much behind it. The slab is
        the whole box, also outside of the object, where that is not above `OUTSIDE`.
    """
    voxel = np.array(np.unravel_index(maximum, shape))
    reach = max(reach, 0.5 * min(spacing))
    radius = np.ceil(3 * reach / np.asarray(spacing)).astype(int) + 1
    lowest = height - np.array([reach, 2 * reach]) / unit_of(spacing)
    return np.maximum(voxel - radius, 0), np.minimum(voxel + radius + 1, shape), lowest


@compiled
def mark_component(
    distances: np.ndarray, voxel: np.ndarray, lowest: float, marks: np.ndarray, mark: int
) -> int:
    """Mark the 26-connected component, of distances from `lowest` up, of a voxel; its size.

    It grows by runs of voxels along I, among those whose mark is the preceding one.
    """
    waiting = [(voxel[0], voxel[1], voxel[2])]
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


@compiled
def marked(marks: np.ndarray, lowest: int, count: int) -> np.ndarray:
    """The voxels (count, 3) that are marked with a number or a larger one, ascending."""
    voxels = np.empty((count, 3), np.int32)
    n = 0
    for k in range(marks.shape[0]):
        for j in range(marks.shape[1]):
            for i in range(marks.shape[2]):
                if marks[k, j, i] >= lowest:
                    voxels[n, 0], voxels[n, 1], voxels[n, 2] = k, j, i
                    n += 1
    return voxels


@compiled
def mean(voxels: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Mean position in mm, summed up voxel by voxel."""
    sums = np.zeros(3)
    for n in range(len(voxels)):
        for axis in range(3):
            sums[axis] += voxels[n, axis] * spacing[axis]
    return sums / len(voxels)


@compiled
def mean_of_box(shape: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Mean position in mm of all voxels of a box, summed up as `mean` does."""
    sums = np.zeros(3)
    for k in range(shape[0]):
        for j in range(shape[1]):
            for i in range(shape[2]):
                sums[0] += k * spacing[0]
                sums[1] += j * spacing[1]
                sums[2] += i * spacing[2]
    return sums / (shape[0] * shape[1] * shape[2])


@compiled
def furthest_along(
    voxels: np.ndarray, spacing: np.ndarray, middle: np.ndarray, axis: np.ndarray
) -> int:
    """Which voxel is furthest along the axis through the middle, and not far from it."""
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
        # Rounded, so that symmetric voxels tie on every machine; the first wins.
        score = np.rint((along - 2 * np.sqrt(across)) * 1e6)
        if score > highest:
            best, highest = n, score
    return best
