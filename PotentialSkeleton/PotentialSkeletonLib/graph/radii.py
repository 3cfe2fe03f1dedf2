"""Radii: distances from points inside an object to its border, in mm.

The border is where the nearest voxel centres outside are. On the axis of a round tube of any
direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
would be right between flat walls along the grid only.
"""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts, usable_cores

POINTS_PER_TASK, TASKS_PER_SLICE = 32, 4  # for each thread
VOXELS_PER_POINT = 256  # that are worked on otherwise in the time of one point
ROUNDING = 1e-9  # more than the relative rounding error of a distance


def radius_at(
    points: np.ndarray,
    solid: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    start: Sequence[int] = (0, 0, 0),
) -> np.ndarray:
    """Distance of each point to the nearest voxel centre outside an object.

    Each point's neighbourhood is searched in the array itself, without any preparation. Where a
    point comes after one nearby, that one's distance is a lower bound of its own.

    Parameters
    ----------
    points : ndarray of float, (n, 3)
        In the array, in voxels.
    solid : ndarray, shape (K, J, I)
        Not 0 in the object. Beyond the array everything is outside.
    spacing : 3 floats K, J, I, in mm
    progress : Progress
    start : 3 ints K, J, I
        The voxel, as points count, at which the array begins. A part of a volume gives the volume's
        bits only where points are counted as in the volume.

    Returns
    -------
    ndarray of float64, (n,), in mm
    """
    radii, sides = np.empty(len(points)), np.array(spacing, float)
    first_voxel = np.array(start, np.int64)
    points = np.ascontiguousarray(points, float)
    step = POINTS_PER_TASK * TASKS_PER_SLICE * usable_cores()
    for first in range(0, len(points), step):
        some = slice(first, first + step)
        radii_of(points[some], solid, first_voxel, sides, radii[some])
        progress.check()
    return radii


def radii_of(
    points: np.ndarray,
    solid: np.ndarray,
    start: np.ndarray,
    spacing: np.ndarray,
    radii: np.ndarray,
) -> None:
    """Set the radii at some points, by threads."""

    def work(first: int, last: int) -> None:
        some = slice(first * POINTS_PER_TASK, last * POINTS_PER_TASK)
        fill_radii(points[some], solid, start, spacing, radii[some])

    tasks = -(-len(points) // POINTS_PER_TASK)
    in_parts(work, tasks, VOXELS_PER_POINT * len(points))


@compiled
def fill_radii(
    points: np.ndarray,
    solid: np.ndarray,
    start: np.ndarray,
    spacing: np.ndarray,
    radii: np.ndarray,
) -> None:
    """Set the radii at some points; what is known of one point helps the next ones of its task."""
    for task in range((len(points) + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
        first = task * POINTS_PER_TASK
        for n in range(first, min(first + POINTS_PER_TASK, len(points))):
            empty = 0.0  # so far there is nothing outside
            if n > first:
                squared = 0.0
                for axis in range(3):
                    squared += ((points[n, axis] - points[n - 1, axis]) * spacing[axis]) ** 2
                moved = np.sqrt(squared)
                empty = max(0.0, (1 - ROUNDING) * radii[n - 1] - (1 + ROUNDING) * moved)
            radii[n] = np.sqrt(nearest_outside(points[n], solid, start, spacing, empty * empty))


@compiled_inside
def nearest_outside(
    point: np.ndarray, solid: np.ndarray, start: np.ndarray, spacing: np.ndarray, empty: float
) -> float:
    """Squared distance to the nearest voxel outside; it is known to be at least `empty`.

    The rows along I are searched in square rings round the point's own, until all rows of a ring
    are further away than the best voxel: those of the next rings are so too.
    """
    depth, rows, _ = solid.shape
    own_k, own_j = int(np.floor(point[0])), int(np.floor(point[1]))
    best, ring, is_useful = np.inf, 0, True
    while is_useful:
        is_useful = False
        low, high = max(own_k - ring, start[0] - 1), min(own_k + ring, start[0] + depth)
        for k in range(low, high + 1):
            away_k = (point[0] * spacing[0] - k * spacing[0]) ** 2
            step = 1 if abs(k - own_k) == ring else 2 * ring
            for j in range(own_j - ring, own_j + ring + 1, step):
                to_row = away_k + (point[1] * spacing[1] - j * spacing[1]) ** 2
                at_k, at_j = k - start[0], j - start[1]
                if at_j < -1 or at_j > rows or to_row >= best:
                    continue
                is_useful = True
                is_there = 0 <= at_k < depth and 0 <= at_j < rows
                row = solid[at_k, at_j] if is_there else solid[0, 0, :0]
                best = search_row(row, start[2], point[2], spacing[2], to_row, empty, best)
        ring += 1
    return best


@compiled_inside
def search_row(
    row: np.ndarray,
    start: int,
    point: float,
    step: float,
    to_row: float,
    empty: float,
    best: float,
) -> float:
    """The lower of `best` and the squared distances to the voxels of a row that are outside.

    `to_row` is that to the row's line; it begins at voxel `start`, and beyond its ends everything
    is outside.
    """
    own, at, skipped = int(np.floor(point)), point * step, 0
    if empty > to_row:
        skipped = max(int(np.sqrt(empty - to_row) / step) - 1, 0)
    for direction in (-1, 1):
        i = own - skipped if direction < 0 else own + 1 + skipped
        distance = to_row + (at - i * step) ** 2
        while distance < best:
            if i < start or i >= start + row.size or row[i - start] == 0:
                best = distance
                break
            i += direction
            distance = to_row + (at - i * step) ** 2
    return best
