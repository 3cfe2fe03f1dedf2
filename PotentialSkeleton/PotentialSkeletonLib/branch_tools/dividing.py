"""Voxels divided among branches: of the vessels themselves, and of an organ that they supply.

The distance along an object is the exact length of the shortest way over steps between 26
neighbours inside it (Dijkstra 1959), from the branch's own curve on; of branches equally near the
lower number is taken.
"""

import functools
import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _

from ..curve_skeleton import CurveSkeleton
from ..interchange.vmtk import check_names
from ..tree.rooting import Forest
from .measuring import check_grid

STRAIGHT, GEODESIC = "straight", "geodesic"
SAMPLES_PER_VOXEL = 4  # of a curve
VOXELS_AT_ONCE = 1 << 18  # between two calls of the progress callback


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
        Not 0 in the object; on the skeleton's grid, else `InputError`.
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
    seeds, distance = _curve_seeds(mask, skeleton, _checked_groups(skeleton, groups))
    return _grown(mask, seeds, distance, skeleton.spacing, Progress.of(progress))


@dataclass(frozen=True)
class Territories:
    """Parts of an organ."""

    labels: np.ndarray  # int32 (K, J, I); 0 outside the organ, and where no branch is reached
    volumes: dict[int, float]  # ml of each label
    unreached: float  # ml of the organ without a label


def territories(
    organ: np.ndarray,
    skeleton: CurveSkeleton,
    groups: Mapping[int, int] | None = None,
    distance: str = STRAIGHT,
    progress: Progress | ProgressCallback | None = None,
) -> Territories:
    """Divide an organ among branches.

    Parameters
    ----------
    organ : ndarray, (K, J, I)
        Not 0 in the organ; on the skeleton's grid, else `InputError`.
    skeleton, groups, progress
        As for `branch_labels`.
    distance : str
        "straight": to the nearest point of the curves, also through what is no organ. "geodesic":
        along the organ, from the curves' points within it.
    """
    if distance not in (STRAIGHT, GEODESIC):
        text = _("The distance {distance!r} is unknown: use {straight} or {geodesic}.")
        raise InputError(text.format(distance=distance, straight=STRAIGHT, geodesic=GEODESIC))
    check_grid(organ, skeleton)
    own = _checked_groups(skeleton, groups)
    if not np.any(organ) or not own:
        raise InputError(
            _("There is nothing to divide: the organ is empty, or no branch takes part.")
        )
    root = Progress.of(progress)
    if distance == GEODESIC:
        seeds, lengths = _curve_seeds(organ, skeleton, own)
        if not seeds.any():
            raise InputError(_("No branch goes through the organ: use the straight distance."))
        labels = _grown(organ, seeds, lengths, skeleton.spacing, root)
    else:
        labels = _straight(organ, skeleton, own, root)
    millilitres = float(np.prod(skeleton.spacing)) / 1000
    counts = np.bincount(labels.reshape(-1), minlength=max(own.values()) + 1)
    volumes = {label: float(counts[label] * millilitres) for label in sorted(set(own.values()))}
    left = np.count_nonzero(organ) - sum(counts[1:])
    return Territories(labels, volumes, float(left * millilitres))


def inherited_names(forest: Forest, names: Mapping[int, str]) -> dict[int, str]:
    """Name of each branch: its own, or that of the nearest branch upstream that has one.

    Branches before the first name, and those that close loops without a name, are left out.
    `InputError` if one of the names (of the skeleton's branches) belongs to no branch.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import rooted_forest, skeleton_of_polylines
    >>> line = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [18, 0, 0]], [[9, 0, 0], [9, 9, 0]]],
    ...     [[3, 2], [2, 1], [2, 1]],
    ... )
    >>> inherited_names(rooted_forest(line, roots=[0]), {0: "trunk", 2: "left"})
    {0: 'trunk', 1: 'trunk', 2: 'left'}
    """
    check_names(forest.skeleton, names)
    found = {number: name for number, name in names.items() if name}
    for branch in forest.branches:  # parents come first
        upstream = forest.branches[branch.parent].number if branch.parent >= 0 else None
        if branch.number not in found and upstream in found:
            found[branch.number] = found[upstream]
    return dict(sorted(found.items()))


def dense_points(points: np.ndarray) -> np.ndarray:
    """A polyline's points (voxels), with others between them a quarter of a voxel apart."""
    steps = np.abs(np.diff(points, axis=0)).max(axis=1)
    parts = [
        np.linspace(start, end, max(int(np.ceil(SAMPLES_PER_VOXEL * step)), 1), endpoint=False)
        for start, end, step in zip(points[:-1], points[1:], steps)
    ]
    return np.concatenate([*parts, points[-1:]])


def _checked_groups(skeleton, groups):
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


def _curve_seeds(mask, skeleton, own):
    """Labels (int32) of the mask's voxels through which curves go, and distances from them, mm."""
    check_grid(mask, skeleton)
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


def _grown(mask, seeds, distance, spacing, progress):
    """Labels (int32) of the nearest seeds along the mask; arrays (K, J, I)."""
    inside = np.pad(np.asarray(mask) != 0, 1)
    labels = np.pad(seeds, 1)
    lengths = np.pad(distance, 1, constant_values=np.inf)
    steps = np.array([step for step in np.ndindex(3, 3, 3) if step != (1, 1, 1)]) - 1
    offsets = steps @ np.array([inside.shape[1] * inside.shape[2], inside.shape[2], 1])
    weights = np.sqrt(((steps * np.asarray(spacing)) ** 2).sum(axis=1))
    flat = inside.reshape(-1), labels.reshape(-1), lengths.reshape(-1)
    found = np.flatnonzero(labels)
    if not found.size:
        return np.zeros(mask.shape, np.int32)
    heap = list(zip(flat[2][found].tolist(), flat[1][found].tolist(), found.tolist()))
    heapq.heapify(heap)
    with needs_numba():  # only here: panels open without it
        from numba.typed import List
    queue, spread = List(heap), _compiled_spread()
    while spread(queue, *flat, offsets, weights, VOXELS_AT_ONCE):
        progress.check()
    return labels[1:-1, 1:-1, 1:-1] * inside[1:-1, 1:-1, 1:-1]


@functools.cache
def _compiled_spread() -> Any:
    from FuzzyVesselCoreLib.jit import compiled

    return compiled(_assign)


def _assign(heap, inside, labels, lengths, offsets, weights, most):
    """Settle some voxels in the order of length and label; False when none is left."""
    count = 0
    while len(heap) and count < most:
        length, label, voxel = heapq.heappop(heap)
        if length > lengths[voxel] or label != labels[voxel]:
            continue
        count += 1
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if not inside[other]:
                continue
            further = length + weights[side]
            if further < lengths[other] or (further == lengths[other] and label < labels[other]):
                lengths[other], labels[other] = further, label
                heapq.heappush(heap, (further, label, other))
    return len(heap) > 0


def _straight(organ, skeleton, own, progress):
    from scipy.spatial import cKDTree

    spacing = np.asarray(skeleton.spacing)
    numbers = sorted(own, key=lambda n: own[n])
    lines = [dense_points(skeleton.branches[number].points) for number in numbers]
    label_of = np.repeat([own[number] for number in numbers], [len(line) for line in lines])
    nearest = cKDTree(np.concatenate(lines) * spacing)
    voxels = np.flatnonzero(organ)
    labels = np.zeros(organ.shape, np.int32)
    for first in range(0, len(voxels), VOXELS_AT_ONCE):
        some = voxels[first : first + VOXELS_AT_ONCE]
        places = np.stack(np.unravel_index(some, organ.shape), axis=1) * spacing
        labels.reshape(-1)[some] = label_of[nearest.query(places, workers=-1)[1]]
        progress.check()
    return labels
