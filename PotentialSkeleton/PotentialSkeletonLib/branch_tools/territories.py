"""Territories of branches within an organ: each voxel to the nearest branch, and volumes in ml."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from .nearest_branch import checked_groups, curve_seeds, dense_points, grown_labels

STRAIGHT, GEODESIC = "straight", "geodesic"
VOXELS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Territories:
    """Parts of an organ.

    Attributes
    ----------
    labels : ndarray of int32, (K, J, I)
        0 outside the organ, and where no branch is reached.
    volumes : dict of int to float
        ml of each label.
    unreached : float
        ml of the organ without a label.
    """

    labels: np.ndarray
    volumes: dict
    unreached: float


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
        Not 0 in the organ; on the skeleton's grid.
    skeleton : CurveSkeleton
    groups : mapping of int to int, optional
        A label from 1 for each branch that takes part; by default each branch its number plus 1.
    distance : str
        "straight": to the nearest point of the curves, also through what is no organ. "geodesic":
        along the organ, from the curves' points within it.
    progress : callable, optional
        ``progress(share) -> bool``, called now and then; False cancels.

    Raises
    ------
    InputError
        If the organ is empty or on another grid, a group does not fit, no branch takes part, or
        none goes through the organ where the distance is geodesic.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> organ = np.ones((1, 10, 6), np.uint8)
    >>> two = skeleton_of_polylines(
    ...     [[[0, 0, 0], [0, 0, 5]], [[0, 9, 0], [0, 9, 5]]], [[1, 1], [1, 1]], (10, 10, 10)
    ... )
    >>> territories(organ, two).volumes
    {1: 30.0, 2: 30.0}
    """
    if distance not in (STRAIGHT, GEODESIC):
        raise InputError(
            _("The distance {distance!r} is unknown: use {straight} or {geodesic}.").format(
                distance=distance, straight=STRAIGHT, geodesic=GEODESIC
            )
        )
    if organ.shape != tuple(skeleton.shape):
        raise InputError(
            _(
                "The organ has the shape {shape}, the skeleton's volume {volume} (K, J, I): "
                "give the organ on the same grid."
            ).format(shape=organ.shape, volume=tuple(skeleton.shape))
        )
    own = checked_groups(skeleton, groups)
    if not np.any(organ) or not own:
        raise InputError(
            _("There is nothing to divide: the organ is empty, or no branch takes part.")
        )
    if distance == GEODESIC:
        seeds, lengths = curve_seeds(organ, skeleton, own)
        if not seeds.any():
            raise InputError(_("No branch goes through the organ: use the straight distance."))
        labels = grown_labels(organ, seeds, lengths, skeleton.spacing, progress)
    else:
        labels = _straight(organ, skeleton, own, Progress.of(progress))
    millilitres = float(np.prod(skeleton.spacing)) / 1000
    counts = np.bincount(labels.reshape(-1), minlength=max(own.values()) + 1)
    volumes = {label: float(counts[label] * millilitres) for label in sorted(set(own.values()))}
    left = np.count_nonzero(organ) - sum(counts[1:])
    return Territories(labels, volumes, float(left * millilitres))


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
        labels.reshape(-1)[some] = label_of[nearest.query(places)[1]]
        progress.check()
    return labels
