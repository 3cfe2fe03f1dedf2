"""The components of an object, one after another; those on CUDA are in `cuda_preparing`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import component_boxes

from ..graph.radii import radius_at


class Components(Protocol):
    """The components of an object, one after another, on the CPU or on a CUDA device."""

    def origin(self, number: int) -> np.ndarray:
        """Return where the array of a component, counted from 0, begins in the volume."""

    def mask(self, number: int) -> np.ndarray:
        """Return a component in its box with a margin of one empty voxel; numpy's bool."""

    def radius_at(self, points: np.ndarray, progress: Progress) -> np.ndarray:
        """Return the distance of points (n, 3) of the volume to the outside of the object; mm."""


class CpuComponents:
    """The components of an object on the CPU.

    Parameters
    ----------
    labels : ndarray of int32
        Labels of the components, from 1, in the object's box.
    count : int
    origin : ndarray of int, (3,)
        Of the box in the volume.
    spacing : 3 floats K, J, I, in mm
    """

    def __init__(
        self, labels: np.ndarray, count: int, origin: np.ndarray, spacing: Sequence[float]
    ) -> None:
        self._labels, self._origin, self._spacing = labels, origin, spacing
        self._boxes = component_boxes(labels, count)

    def origin(self, number: int) -> np.ndarray:
        return np.array([side.start - 1 for side in self._boxes[number]]) + self._origin

    def mask(self, number: int) -> np.ndarray:
        return np.pad(self._labels[self._boxes[number]] == number + 1, 1)

    def radius_at(self, points: np.ndarray, progress: Progress) -> np.ndarray:
        return radius_at(points - self._origin, self._labels, self._spacing, progress)
