"""Each voxel to the branch that is nearest along the object.

The distance is the exact length of the shortest way over steps between 26 neighbours inside the
object (Dijkstra 1959), from the branch's own curve on; of branches equally near the lower number
is taken.
"""

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..graph.curve_skeleton import CurveSkeleton

SAMPLES_PER_VOXEL = 4  # of a curve
VOXELS_A_LOOK = 1 << 18  # between two calls of the progress callback


def branch_labels(
    mask: np.ndarray,
    skeleton: CurveSkeleton,
    groups: Mapping[int, int] | None = None,
    progress: Progress | ProgressCallback | None = None,
) -> np.ndarray:
    """Split an object by branch, by generation, or by any groups of branches.

    Parameters
    ----------
    mask : ndarray, (K, J, I)
        Not 0 in the object.
    skeleton : CurveSkeleton
        Of that object.
    groups : mapping of int to int, optional
        A label from 1 for each branch that takes part, for example
        `{n: g + 1 for n, g in enumerate(skeleton.generations())}`; by default each branch its
        number plus 1.
    progress : callable, optional
        ``progress(share) -> bool``, called now and then; False cancels.

    Returns
    -------
    ndarray of int32, (K, J, I)
        0 outside the object, and in components without a branch.

    Raises
    ------
    InputError
        If the mask has another shape than the skeleton, or a group belongs to no branch.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> rod = np.ones((1, 1, 6), np.uint8)
    >>> halves = skeleton_of_polylines(
    ...     [[[0, 0, 0], [0, 0, 2.4]], [[0, 0, 2.4], [0, 0, 5]]], [[1, 1], [1, 1]]
    ... )
    >>> branch_labels(rod, halves)
    array([[[1, 1, 1, 2, 2, 2]]], dtype=int32)
    """
    seeds, distance = curve_seeds(mask, skeleton, groups)
    return grown_labels(mask, seeds, distance, skeleton.spacing, progress)


def curve_seeds(
    mask: np.ndarray, skeleton: CurveSkeleton, groups: Mapping[int, int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Labels (int32) of the mask's voxels through which curves go, and their distances from them.

    Parameters, errors
        As for `branch_labels`.
    """
    if mask.shape != tuple(skeleton.shape):
        raise InputError(
            f"The mask has the shape {mask.shape}, the skeleton's volume {tuple(skeleton.shape)} "
            "(K, J, I): give the mask on the same grid."
        )
    own = checked_groups(skeleton, groups)
    seeds, distance = np.zeros(mask.shape, np.int32), np.full(mask.shape, np.inf)
    for number in sorted(own, key=lambda n: own[n]):
        points = dense_points(skeleton.branches[number].points)
        voxels = np.floor(points + 0.5).astype(int)
        inside = ((voxels >= 0) & (voxels < mask.shape)).all(axis=1)
        points, voxels = points[inside], voxels[inside]
        away = np.linalg.norm((points - voxels) * skeleton.spacing, axis=1)
        for voxel, length in zip(map(tuple, voxels), away):
            if mask[voxel] and length < distance[voxel]:
                seeds[voxel], distance[voxel] = own[number], length
    return seeds, distance


def checked_groups(skeleton: CurveSkeleton, groups: Mapping[int, int] | None) -> dict[int, int]:
    """A label from 1 for each branch; `InputError` where one does not fit."""
    if groups is None:
        return {number: number + 1 for number in range(len(skeleton.branches))}
    for number, label in groups.items():
        if not 0 <= number < len(skeleton.branches) or label < 1:
            raise InputError(
                f"Branch {number} cannot get the label {label}: there are "
                f"{len(skeleton.branches)} branches, from 0, and labels are from 1 up."
            )
    return dict(groups)


def dense_points(points: np.ndarray) -> np.ndarray:
    """A polyline's points (voxels), with others between them a quarter of a voxel apart."""
    steps = np.abs(np.diff(points, axis=0)).max(axis=1)
    parts = [
        np.linspace(start, end, max(int(np.ceil(SAMPLES_PER_VOXEL * step)), 1), endpoint=False)
        for start, end, step in zip(points[:-1], points[1:], steps)
    ]
    return np.concatenate([*parts, points[-1:]])


def grown_labels(
    mask: np.ndarray,
    seeds: np.ndarray,
    distance: np.ndarray,
    spacing: Sequence[float],
    progress: Progress | ProgressCallback | None = None,
) -> np.ndarray:
    """Labels of the nearest seeds along the mask; arrays (K, J, I), `distance` in mm at the seeds.

    Returns
    -------
    ndarray of int32, (K, J, I)
    """
    inside = np.pad(np.asarray(mask) != 0, 1)
    labels = np.pad(seeds, 1).astype(np.int32)
    lengths = np.pad(distance, 1, constant_values=np.inf)
    steps = np.array([step for step in np.ndindex(3, 3, 3) if step != (1, 1, 1)]) - 1
    offsets = steps @ np.array([inside.shape[1] * inside.shape[2], inside.shape[2], 1])
    weights = np.sqrt(((steps * np.asarray(spacing)) ** 2).sum(axis=1))
    flat = inside.reshape(-1), labels.reshape(-1), lengths.reshape(-1)
    heap = [
        (float(flat[2][voxel]), int(flat[1][voxel]), int(voxel))
        for voxel in np.flatnonzero(flat[1])
    ]
    if not heap:
        return np.zeros(mask.shape, np.int32)
    heapq.heapify(heap)
    with needs_numba():  # only here: panels open without it
        from numba.typed import List

        from .geodesic_growth import spread
    queue, root = List(heap), Progress.of(progress)
    while spread(queue, *flat, offsets, weights, VOXELS_A_LOOK):
        root.check()
    return labels[1:-1, 1:-1, 1:-1] * inside[1:-1, 1:-1, 1:-1]
