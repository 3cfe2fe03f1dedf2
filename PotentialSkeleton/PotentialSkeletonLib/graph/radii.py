"""Distances from points inside an object to its border, in mm.

The border is where the nearest voxel centres outside are. On the axis of a round tube of any
direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
would be right between flat walls along the grid only.
"""

import numpy as np
from numba import get_num_threads, njit, prange

POINTS_A_TASK, TASKS_A_SLICE = 32, 4  # for each thread
SAFE = 1e-9  # more than what rounding can do to a distance


def radius_at(points, solid, spacing, report=None):
    """Distance of each point to the nearest voxel centre outside an object.

    Each point's surroundings are searched in the array itself, so that it costs nothing to begin.
    Where a point comes after one nearby, that one's distance tells how near the border can be.

    Parameters
    ----------
    points : ndarray of float, (n, 3)
        In voxels of the array, and in it.
    solid : ndarray, shape (K, J, I)
        Not 0 in the object. Beyond the array everything is outside.
    spacing : 3 floats K, J, I, in mm
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    ndarray of float64, (n,), in mm
    """
    radii, spacing = np.empty(len(points)), np.array(spacing, float)
    points = np.ascontiguousarray(points, float)
    step = POINTS_A_TASK * TASKS_A_SLICE * get_num_threads()
    for first in range(0, len(points), step):
        some = slice(first, first + step)
        fill_radii(points[some], solid, spacing, radii[some])
        if report is not None:
            report()
    return radii


@njit(cache=True, parallel=True)
def fill_radii(points, solid, spacing, radii):
    for task in prange((len(points) + POINTS_A_TASK - 1) // POINTS_A_TASK):
        first = task * POINTS_A_TASK
        for n in range(first, min(first + POINTS_A_TASK, len(points))):
            empty = 0.0  # so far there is nothing outside
            if n > first:
                moved = np.sqrt((((points[n] - points[n - 1]) * spacing) ** 2).sum())
                empty = max(0.0, (1 - SAFE) * radii[n - 1] - (1 + SAFE) * moved)
            radii[n] = np.sqrt(nearest_outside(points[n], solid, spacing, empty * empty))


@njit(cache=True)
def nearest_outside(point, solid, spacing, empty):
    """Squared distance to the nearest voxel outside; it is known to be at least `empty`.

    The rows along I are searched in square rings round one beside the point, until all rows of a
    ring are further away than the best voxel: those of the next rings are so too.
    """
    depth, rows, _ = solid.shape
    own_k, own_j = int(np.floor(point[0])), int(np.floor(point[1]))
    best, ring, is_useful = np.inf, 0, True
    while is_useful:
        is_useful = False
        for k in range(max(own_k - ring, -1), min(own_k + ring, depth) + 1):
            away_k = (point[0] * spacing[0] - k * spacing[0]) ** 2
            step = 1 if abs(k - own_k) == ring else 2 * ring
            for j in range(own_j - ring, own_j + ring + 1, step):
                beside = away_k + (point[1] * spacing[1] - j * spacing[1]) ** 2
                if j < -1 or j > rows or beside >= best:
                    continue
                is_useful = True
                row = solid[k, j] if 0 <= k < depth and 0 <= j < rows else solid[0, 0, :0]
                best = search_row(row, point[2], spacing[2], beside, empty, best)
        ring += 1
    return best


@njit(cache=True)
def search_row(row, point, step, beside, empty, best):
    """The least of `best` and the squared distances to the voxels of a row that are outside.

    `beside` is the row's own; beyond its ends everything is outside.
    """
    own, at, skipped = int(np.floor(point)), point * step, 0
    if empty > beside:
        skipped = max(int(np.sqrt(empty - beside) / step) - 1, 0)
    for direction in (-1, 1):
        i = own - skipped if direction < 0 else own + 1 + skipped
        distance = beside + (at - i * step) ** 2
        while distance < best:
            if i < 0 or i >= row.size or row[i] == 0:
                best = distance
                break
            i += direction
            distance = beside + (at - i * step) ** 2
    return best
