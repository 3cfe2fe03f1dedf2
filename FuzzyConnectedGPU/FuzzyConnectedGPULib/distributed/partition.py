"""The partition of a volume into blocks, and of the blocks into a hierarchy of groups 2x2x2."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

Index = tuple[int, int, int]


class Box(NamedTuple):
    """Voxels from `start` to before `stop` (K, J, I), in the volume."""

    start: Index
    stop: Index

    @property
    def shape(self) -> Index:
        """Numbers of voxels along K, J, I."""
        k, j, i = (stop - start for start, stop in zip(self.start, self.stop))
        return k, j, i

    @property
    def slices(self) -> tuple[slice, ...]:
        """The index of the box in an array of the volume."""
        return tuple(map(slice, self.start, self.stop))

    def flat_indices(self, places: np.ndarray) -> np.ndarray:
        """Flat indices in the box (sorted, each once) of those places (K, J, I) that it holds."""
        inside = ((places >= self.start) & (places < self.stop)).all(axis=1)
        return np.unique(np.ravel_multi_index((places[inside] - self.start).T, self.shape))

    def __str__(self) -> str:
        return "[" + ", ".join(f"{a}:{b}" for a, b in zip(self.start, self.stop)) + "] (K, J, I)"


class Group(NamedTuple):
    """A group of the hierarchy: a block on level 0, up to 8 groups of the level below on others."""

    level: int
    position: Index

    def __str__(self) -> str:
        return "-".join(map(str, (self.level, *self.position)))


@dataclass(frozen=True)
class Partition:
    """Blocks of `block` voxels (fewer at the end of an axis) of a volume of `shape`.

    Examples
    --------
    >>> partition = Partition((4, 4, 10), (4, 4, 4))
    >>> partition.levels, [len(partition.groups(level)) for level in range(3)]
    (2, [3, 2, 1])
    >>> str(partition.box(Group(0, (0, 0, 2))))
    '[0:4, 0:4, 8:10] (K, J, I)'
    """

    shape: Index
    block: Index

    @property
    def levels(self) -> int:
        """How often the groups are merged until one is left; 0 for a single block."""
        return int(max(self._count(axis, 0) - 1 for axis in range(3))).bit_length()

    def _count(self, axis: int, level: int) -> int:
        return -(-self.shape[axis] // (self.block[axis] << level))

    def groups(self, level: int) -> list[Group]:
        """All groups of a level."""
        counts = (range(self._count(axis, level)) for axis in range(3))
        return [Group(level, (k, j, i)) for k, j, i in product(*counts)]

    def members(self, group: Group) -> list[Group]:
        """The groups of the level below that a group is made of."""
        below = group.level - 1
        ranges = (
            range(2 * n, min(2 * n + 2, self._count(axis, below)))
            for axis, n in enumerate(group.position)
        )
        return [Group(below, (k, j, i)) for k, j, i in product(*ranges)]

    def box(self, group: Group) -> Box:
        """The voxels of a group."""
        sizes = [n << group.level for n in self.block]
        start = [n * size for n, size in zip(group.position, sizes)]
        stop = [min(a + size, n) for a, size, n in zip(start, sizes, self.shape)]
        return Box((start[0], start[1], start[2]), (stop[0], stop[1], stop[2]))

    @property
    def strides(self) -> Index:
        """Of the volume's flat indices along K, J, I."""
        return self.shape[1] * self.shape[2], self.shape[2], 1

    def inner_faces(self, box: Box) -> Iterator[tuple[int, int]]:
        """Axis and plane (its coordinate) of the faces of a box that another box adjoins."""
        for axis in range(3):
            if box.start[axis] > 0:
                yield axis, box.start[axis]
            if box.stop[axis] < self.shape[axis]:
                yield axis, box.stop[axis] - 1

    def face_voxels(self, box: Box) -> np.ndarray:
        """Flat indices in the volume (sorted, int64) of the voxels of the inner faces of a box."""
        k, j, i = (np.arange(a, b, dtype=np.int64) for a, b in zip(box.start, box.stop))
        planes: list[set[int]] = [set(), set(), set()]
        for axis, plane in self.inner_faces(box):
            planes[axis].add(plane)
        row, column, _ = self.strides
        inner_row = np.array(sorted(planes[2]), np.int64)
        inner_plane = [(i if n in planes[1] else inner_row) + n * column for n in j.tolist()]
        whole, ring = (j[:, None] * column + i).ravel(), np.concatenate(inner_plane)
        return np.concatenate([(whole if n in planes[0] else ring) + n * row for n in k.tolist()])

    def faces_inside(self, box: Box, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """`face_voxels` inside the box's mask: flat indices in the volume and in the box."""
        faces = self.face_voxels(box)
        inside = self.in_box(faces, box)
        if mask is None:
            return faces, inside
        kept = mask.ravel()[inside] > 0
        return faces[kept], inside[kept]

    def in_box(self, voxels: np.ndarray, box: Box) -> np.ndarray:
        """Flat indices in a box from those in the volume."""
        k, j, i = (self.coordinate(voxels, axis) - box.start[axis] for axis in range(3))
        return (k * box.shape[1] + j) * box.shape[2] + i

    def face_count(self, box: Box) -> int:
        """Number of the voxels that `face_voxels` gives."""
        inner = list(box.shape)
        for axis, _ in self.inner_faces(box):
            inner[axis] -= 1
        return prod(box.shape) - prod(max(n, 0) for n in inner)

    def on_inner_faces(self, voxels: np.ndarray, box: Box) -> np.ndarray:
        """Which voxels of a box (flat indices in the volume) lie on its inner faces."""
        found = np.zeros(voxels.size, bool)
        for axis, plane in self.inner_faces(box):
            found |= self.coordinate(voxels, axis) == plane
        return found

    def coordinate(self, voxels: np.ndarray, axis: int) -> np.ndarray:
        """Coordinate along an axis of voxels given by flat indices."""
        return voxels // self.strides[axis] % self.shape[axis]
