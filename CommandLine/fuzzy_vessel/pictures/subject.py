"""What a picture shows: arrays of one segmentation, turned to the patient's axes."""

from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box


@dataclass(frozen=True)
class Vessel:
    """How one of several vessels is shown.

    Attributes
    ----------
    name : str
    colour : str
        "#rrggbb".
    """

    name: str
    colour: str


@dataclass(frozen=True)
class Subject:
    """One segmented volume.

    Attributes
    ----------
    volume : ndarray, (K, J, I)
    labels : ndarray of uint8, (K, J, I)
        1 in the vessels; with several the number of each, from 1 on.
    ijk_to_ras : ndarray, (4, 4)
        Voxel indices I, J, K to millimetres right, anterior, superior.
    seeds, background_seeds : ndarray, (n, 3)
        Voxels K, J, I.
    vessels : tuple of Vessel
        Several, in the order of their numbers; none where all are shown alike.
    """

    volume: np.ndarray
    labels: np.ndarray
    ijk_to_ras: np.ndarray
    seeds: np.ndarray
    background_seeds: np.ndarray = field(default_factory=lambda: np.empty((0, 3), int))
    vessels: tuple[Vessel, ...] = ()


@dataclass(frozen=True)
class Oriented:
    """A subject's arrays with the axes S, A, R (each growing in that direction), without copying.

    Axes that lie oblique keep their voxels; they are named after the nearest axis of the patient.

    Attributes
    ----------
    volume, labels : ndarray, (S, A, R)
    spacing : ndarray, (3,)
        mm along S, A, R.
    seeds, background_seeds : ndarray, (n, 3)
        Voxels S, A, R.
    vessels : tuple of Vessel
        As of the subject.
    """

    volume: np.ndarray
    labels: np.ndarray
    spacing: np.ndarray
    seeds: np.ndarray
    background_seeds: np.ndarray
    vessels: tuple[Vessel, ...]


def oriented(subject: Subject) -> Oriented:
    """The `Oriented` view of a subject."""
    # Columns of K, J, I in millimetres; rows S, A, R.
    directions = subject.ijk_to_ras[:3, :3][::-1, ::-1]
    spacing = np.linalg.norm(directions, axis=0)
    cosines = directions / spacing
    axes = max(permutations(range(3)), key=lambda order: abs(cosines[range(3), order]).sum())
    flipped = tuple(bool(cosines[row, axis] < 0) for row, axis in enumerate(axes))
    turn = tuple(slice(None, None, -1) if flip else slice(None) for flip in flipped)

    def turned_points(points):
        points = np.reshape(points, (-1, 3))[:, axes]
        return np.where(flipped, np.array(subject.volume.shape)[list(axes)] - 1 - points, points)

    return Oriented(
        volume=subject.volume.transpose(axes)[turn],
        labels=subject.labels.transpose(axes)[turn],
        spacing=spacing[list(axes)],
        seeds=turned_points(subject.seeds),
        background_seeds=turned_points(subject.background_seeds),
        vessels=subject.vessels,
    )


def box(labels: np.ndarray, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last voxel of the vessels and seeds along each axis, as two arrays."""
    low, high = seeds.min(axis=0), seeds.max(axis=0)
    vessels = bounding_box(labels)
    if vessels is None:
        return low, high
    first = [side.start for side in vessels]
    last = [side.stop - 1 for side in vessels]
    return np.minimum(low, first), np.maximum(high, last)
