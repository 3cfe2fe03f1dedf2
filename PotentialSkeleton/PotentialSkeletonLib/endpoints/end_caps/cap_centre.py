"""The centre of an end cap: where a protrusion's axis leaves it."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.voxels.distances import unit_of

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
        mark_component(box, voxel, lowest[1], marks, 1)
        slab = np.argwhere(marks)
    else:
        marks[:] = 1
    mark_component(box, voxel, lowest[0], marks, 2)
    cap = np.argwhere(marks == 2)
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
) -> None:
    """Mark the 26-connected component, of distances from `lowest` up, of a voxel.

    It grows by runs of voxels along I, among those whose mark is the preceding one.
    """
    waiting = [(voxel[0], voxel[1], voxel[2])]
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
        for other_k in range(max(k - 1, 0), min(k + 2, marks.shape[0])):
            for other_j in range(max(j - 1, 0), min(j + 2, marks.shape[1])):
                row, values = marks[other_k, other_j], distances[other_k, other_j]
                before = False
                for n in range(max(first - 1, 0), min(last + 1, row.size)):
                    is_new = row[n] == mark - 1 and values[n] >= lowest
                    if is_new and not before:
                        waiting.append((other_k, other_j, n))
                    before = is_new


def mean(voxels: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Mean position in mm, summed up voxel by voxel: in another order it would round otherwise."""
    return np.cumsum(voxels * spacing, axis=0)[-1] / len(voxels)


def mean_of_box(shape: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Mean position in mm of all voxels of a box, summed up as `mean` does, plane by plane."""
    depth, rows, width = shape
    sums, plane = np.zeros(3), np.indices((1, rows, width)).reshape(3, -1).T * spacing
    for k in range(depth):
        plane[:, 0] = k * spacing[0]
        sums = np.cumsum(np.vstack((sums, plane)), axis=0)[-1]
    return sums / np.prod(shape)


def furthest_along(
    voxels: np.ndarray, spacing: np.ndarray, middle: np.ndarray, axis: np.ndarray
) -> int:
    """Which voxel is furthest along the axis through the middle, and not far from it."""
    away = voxels * spacing - middle
    along = np.cumsum(away * axis, axis=1)[:, -1:]  # a matrix product would round otherwise
    across = np.cumsum((away - along * axis) ** 2, axis=1)[:, -1]
    # Rounded, so that symmetric voxels tie on every machine; the first wins.
    return int(np.argmax(np.rint((along[:, 0] - 2 * np.sqrt(across)) * 1e6)))
