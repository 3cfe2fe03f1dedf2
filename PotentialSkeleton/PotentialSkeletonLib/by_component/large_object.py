"""An object whose components are in memory one after another."""

from collections.abc import Iterator

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..graph.radii import radius_at
from .component_folder import ComponentFolder

KEPT_BYTES = 1 << 26  # of packed components that stay in memory


class LargeComponents:
    """`Components` from a folder.

    Parameters
    ----------
    folder : ComponentFolder
    numbers : ndarray of int64, (n,)
        Which of the folder's.
    low, high : ndarray of int64, (n, 3)
        Their boxes.
    origin : ndarray of int64, (3,)
        First voxel of the box of all components before any was dropped.
    spacing : 3 floats K, J, I, in mm
    """

    def __init__(
        self,
        folder: ComponentFolder,
        numbers: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        origin: np.ndarray,
        spacing: tuple[float, float, float],
    ) -> None:
        self._folder, self._numbers, self._low, self._high = folder, numbers, low, high
        self._origin, self._spacing = origin, spacing
        self._kept: dict[int, tuple[np.ndarray, tuple[int, ...]]] = {}
        self._kept_bytes = 0

    def origin(self, number: int) -> np.ndarray:
        return self._low[number] - 1

    def mask(self, number: int, margin: int = 1) -> np.ndarray:
        packed, shape = self._packed(number)
        filled = np.zeros([n + 2 * margin for n in shape], np.uint8)
        inner = tuple(slice(margin, margin + n) for n in shape)
        count = int(np.prod(shape, dtype=object))
        filled[inner] = np.unpackbits(packed, count=count).reshape(shape)
        return filled.view(bool)

    def _packed(self, number: int) -> tuple[np.ndarray, tuple[int, ...]]:
        """A component's box, a bit for each voxel, and the box's shape."""
        if number in self._kept:
            return self._kept[number]
        record = self._folder.get("filled", int(self._numbers[number]))
        found = record["packed"], tuple(record["shape"].tolist())
        if self._kept_bytes + found[0].nbytes <= KEPT_BYTES:
            self._kept[number] = found
            self._kept_bytes += found[0].nbytes
        return found

    def radius_at(self, points: np.ndarray, progress: Progress) -> np.ndarray:
        radii = np.full(len(points), np.nan)
        low, high = np.floor(points).astype(np.int64), np.ceil(points).astype(np.int64)
        for number, some in self.around(low, 1):
            mask, start = self.mask(number, 2), self.origin(number) - 1
            inside = np.zeros(some.size, bool)
            for corner in np.ndindex(2, 2, 2):  # a point can lie on the face between two voxels
                at = np.where(corner, high[some], low[some]) - start
                inside |= mask[tuple(at.T)]
            some = some[inside]
            given = points[some] - self._origin
            begin = (start - self._origin).tolist()
            radii[some] = radius_at(given, mask, self._spacing, progress, begin)
        return radii

    def around(self, voxels: np.ndarray, before: int = 0) -> Iterator[tuple[int, np.ndarray]]:
        """Components in whose boxes some of the voxels (n, 3) lie, and which these are.

        The boxes begin so many voxels `before` their components.
        """
        lowest = self._low - before
        order = np.argsort(voxels[:, 0], kind="stable")
        planes = voxels[order, 0]
        first = np.searchsorted(planes, lowest[:, 0])
        last = np.searchsorted(planes, self._high[:, 0])
        for number in np.flatnonzero(last > first).tolist():
            near = order[first[number] : last[number]]
            at = voxels[near, 1:]
            inside = (at >= lowest[number, 1:]) & (at < self._high[number, 1:])
            near = near[inside.all(axis=1)]
            if near.size:
                yield number, np.sort(near)


class LargeObject:
    """What is asked of the object's array: its shape, and values at voxels."""

    def __init__(self, parts: LargeComponents, shape: tuple[int, ...]) -> None:
        self._parts, self.shape = parts, shape

    def __getitem__(self, index: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
        voxels = np.stack([np.ravel(along) for along in index], axis=1).astype(np.int64)
        found = np.zeros(len(voxels), np.uint8)
        for number, some in self._parts.around(voxels):
            own = voxels[some] - self._parts.origin(number)
            found[some] |= self._parts.mask(number)[tuple(own.T)].view(np.uint8)
        return found.reshape(np.shape(index[0]))
