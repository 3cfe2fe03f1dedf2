"""What a step has written of a scene: listed voxels and boxes, all else is 0."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box

from ..paths.reached import NOTHING, Reached

Box = tuple[slice, ...]


class Touched:
    """The voxels of a scene that may be above 0.

    Parameters
    ----------
    shape : (K, J, I)
        Of the scene.

    Attributes
    ----------
    kept : Reached
        Paths that are kept: voxels all above 0 unless `cleared`; where they have another value than
        these paths give them, they are listed again.
    lowered, cleared : bool
        Whether any voxel may have been lowered; whether kept ones may have been set to 0.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self._shape = tuple(shape)
        self.kept = NOTHING
        self.cleared = self.lowered = False
        self._lists: list[np.ndarray] = []
        self._boxes: list[Box] = []

    def add_kept(self, paths: Reached) -> None:
        """Paths that are kept; the same object again where they are the same."""
        if self.kept is not paths:
            self._lists.append(self.kept.voxels)
            self.kept = paths

    def add_voxels(self, voxels: np.ndarray) -> None:
        """Voxels (int64), by their flat indices."""
        self._lists.append(voxels)

    def add_box(self, box: Box) -> None:
        """All voxels of a box."""
        self._boxes.append(tuple(slice(*side.indices(n)) for side, n in zip(box, self._shape)))

    def others(self, scene: np.ndarray) -> np.ndarray:
        """The voxels (flat indices, int64) above 0 that are not kept ones; some may be.

        A voxel may be listed several times.
        """
        flat = scene.reshape(-1)
        found = [voxels[flat[voxels] > 0] for voxels in self._lists]
        for box in self._boxes:
            ends = np.array([(side.start, side.stop) for side in box])
            found.append(_above_0(scene, ends))
        return np.concatenate([np.empty(0, np.int64), *found])

    def written(self, scene: np.ndarray) -> np.ndarray:
        """The voxels (flat indices, int64) above 0; a voxel may be listed several times."""
        kept = self.kept.voxels
        if self.cleared:
            kept = kept[scene.reshape(-1)[kept] > 0]
        return np.concatenate([kept, self.others(scene)])

    def labels(self, scene: np.ndarray, threshold: np.float32) -> tuple[Box, np.ndarray]:
        """Where the scene is at least a threshold.

        Parameters
        ----------
        scene : ndarray, float32
        threshold : float32
            Above 0.

        Returns
        -------
        box : tuple of slice
            That holds all of it; of one voxel where there is none.
        labels : ndarray, uint8, of the box's shape
        """
        shape = np.array(self._shape, np.int64)
        ends = np.array([(n, 0) for n in self._shape], np.int64)
        lists = [self.kept.voxels, *self._lists]
        for voxels in lists:
            _widen(voxels, scene.reshape(-1), threshold, shape, ends)
        dense = [(box, scene[box] >= threshold) for box in self._boxes]
        for box, found in dense:
            inner = bounding_box(found)
            for axis, side in enumerate(inner or ()):
                ends[axis, 0] = min(ends[axis, 0], box[axis].start + side.start)
                ends[axis, 1] = max(ends[axis, 1], box[axis].start + side.stop)
        if (ends[:, 0] >= ends[:, 1]).any():
            ends = np.array([(0, 1)] * 3, np.int64)
        labels = np.zeros(ends[:, 1] - ends[:, 0], np.uint8)
        for voxels in lists:
            _mark(voxels, scene.reshape(-1), threshold, shape, ends[:, 0].copy(), labels)
        for box, found in dense:
            _put(labels, ends[:, 0], box, found)
        return tuple(slice(int(first), int(last)) for first, last in ends), labels


def _put(labels: np.ndarray, origin: np.ndarray, box: Box, found: np.ndarray) -> None:
    """Set the labels of a box where they lie in the array; elsewhere none is found."""
    target, source = [], []
    for first, side, length in zip(origin, box, labels.shape):
        begin, end = max(side.start, int(first)), min(side.stop, int(first) + length)
        target.append(slice(begin - int(first), max(end, begin) - int(first)))
        source.append(slice(begin - side.start, max(end, begin) - side.start))
    labels[tuple(target)] |= found[tuple(source)]


@njit(cache=True, nogil=True)
def _above_0(scene, ends):
    """The voxels (flat indices) of a box that are above 0."""
    sides = ends[:, 1] - ends[:, 0]
    found, count = np.empty(sides[0] * sides[1] * sides[2], np.int64), 0
    for k in range(ends[0, 0], ends[0, 1]):
        for j in range(ends[1, 0], ends[1, 1]):
            for i in range(ends[2, 0], ends[2, 1]):
                if scene[k, j, i] > 0:
                    found[count] = (k * scene.shape[1] + j) * scene.shape[2] + i
                    count += 1
    return found[:count].copy()


@njit(cache=True, nogil=True)
def _widen(voxels, scene, threshold, shape, ends):
    plane, row = shape[1] * shape[2], shape[2]
    for voxel in voxels:
        if scene[voxel] >= threshold:
            k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
            ends[0, 0], ends[0, 1] = min(ends[0, 0], k), max(ends[0, 1], k + 1)
            ends[1, 0], ends[1, 1] = min(ends[1, 0], j), max(ends[1, 1], j + 1)
            ends[2, 0], ends[2, 1] = min(ends[2, 0], i), max(ends[2, 1], i + 1)


@njit(cache=True, nogil=True)
def _mark(voxels, scene, threshold, shape, origin, labels):
    plane, row = shape[1] * shape[2], shape[2]
    for voxel in voxels:
        if scene[voxel] >= threshold:
            k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
            labels[k - origin[0], j - origin[1], i - origin[2]] = 1
