"""Volumes in tiles, which are fetched when they are needed.

Most tiles of volumes on a CUDA device are never needed: curves pass through few.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled

SIDE = 5  # binary logarithm of the voxels along the side of a tile
WHOLE = 62  # the same where all voxels are in one tile
MISSING, REQUESTED = -1, -2


class Tiles:
    """Volumes of the same shape.

    Parameters
    ----------
    shape : 3 ints K, J, I
    fetch : callable
        ``fetch(box)`` gives the part of each volume that lies in a box, a tuple of slices; arrays
        (k, j, i, ...).

    Attributes
    ----------
    numbers : ndarray of int32
        Number of each tile, below 0 where it was not fetched.
    side : int
        Binary logarithm of the voxels from one tile to the next.
    volumes : list of ndarray, shape (n, k, j, i, ...)
        The tiles, each with one voxel more at its end: so each cell between voxels lies in a tile.
    is_complete : bool
        Whether nothing has to be fetched.
    """

    def __init__(
        self, shape: tuple[int, ...], fetch: Callable[[tuple[slice, ...]], list[Any]]
    ) -> None:
        self.shape: tuple[int, int, int] = (shape[0], shape[1], shape[2])
        self._fetch, self.side = fetch, SIDE
        self.numbers = np.full([(n >> SIDE) + 1 for n in shape], MISSING, np.int32)
        extent = [(1 << SIDE) + 1] * 3
        nothing = fetch((slice(0, 0),) * 3)
        self.volumes = [np.empty((1, *extent, *v.shape[3:]), v.dtype) for v in nothing]
        self._count = 0
        self.is_complete = False

    @classmethod
    def whole(cls, *volumes: np.ndarray) -> "Tiles":
        """Make one tile of volumes in host memory."""
        tiles = cls.__new__(cls)
        depth, rows, width = volumes[0].shape[:3]
        tiles.shape, tiles.side = (depth, rows, width), WHOLE
        tiles.numbers = np.zeros((1, 1, 1), np.int32)
        tiles.volumes = [volume[None] for volume in volumes]
        tiles.is_complete = True
        return tiles

    @classmethod
    def listed(
        cls, shape: tuple[int, ...], side: int, places: np.ndarray, *volumes: np.ndarray
    ) -> "Tiles":
        """Make tiles of all that is not 0 in some volumes.

        Parameters
        ----------
        shape : 3 ints K, J, I
        side : int
            Power of 2 of the voxels from one tile to the next.
        places : ndarray of int, (n - 1, 3)
            K, J, I among the tiles of all but the first of the tiles below.
        *volumes : ndarray, shape (n, k, j, i, ...)
            The first tile of each holds 0 alone.
        """
        tiles = cls.__new__(cls)
        tiles.shape = (shape[0], shape[1], shape[2])
        tiles.side, tiles.volumes = side, list(volumes)
        tiles.numbers = np.zeros([(n >> side) + 1 for n in shape], np.int32)
        tiles.numbers[tuple(places.T)] = np.arange(1, len(places) + 1)
        tiles.is_complete = True
        return tiles

    def add(self, tile: Any) -> None:
        """Fetch a tile; its place K, J, I among the tiles."""
        if self._count == len(self.volumes[0]):
            self.volumes = [np.concatenate([v, np.empty_like(v)]) for v in self.volumes]
        low = [int(n) << SIDE for n in tile]
        box = tuple(slice(n, n + (1 << SIDE) + 1) for n in low)
        for volume, part in zip(self.volumes, self._fetch(box), strict=True):
            inner = tuple(slice(n) for n in part.shape[:3])  # tiles at the end are not full
            volume[self._count][inner] = part
        self.numbers[tuple(tile)] = self._count
        self._count += 1

    def require_tiles(self, tiles: Iterable[Any]) -> None:
        """Fetch tiles, by their places K, J, I, unless they were fetched."""
        for tile in tiles:
            if self.numbers[tuple(tile)] < 0:
                self.add(tile)

    def require(self, voxels: np.ndarray, reach: int = 0) -> None:
        """Fetch those missing tiles that hold voxels (n, 3), or voxels this far from them.

        Parameters
        ----------
        voxels : ndarray of int, (n, 3)
            May lie beyond the volume, where nothing is required.
        reach : int
        """
        if not self.is_complete:
            for tile in missing_tiles(self.numbers, self.side, self.shape, voxels, reach):
                self.add(tile)

    def at(self, voxels: np.ndarray) -> np.ndarray:
        """Return the values of the first volume at voxels (n, 3) that lie in it."""
        self.require(voxels)
        tile, within = voxels >> self.side, voxels & ((1 << self.side) - 1)
        return self.volumes[0][(self.numbers[tuple(tile.T)], *within.T)]


@compiled
def missing_tiles(
    numbers: np.ndarray, side: int, shape: tuple[int, ...], voxels: np.ndarray, reach: int
) -> np.ndarray:
    """Return the tiles (n, 3) that were not fetched; they are marked as requested."""
    found = np.empty((numbers.size, 3), np.int64)
    count = 0
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for n in range(voxels.shape[0]):
        for axis in range(3):
            low[axis] = max(voxels[n, axis] - reach, 0) >> side
            high[axis] = min(voxels[n, axis] + reach, shape[axis] - 1) >> side
        for k in range(low[0], high[0] + 1):
            for j in range(low[1], high[1] + 1):
                for i in range(low[2], high[2] + 1):
                    if numbers[k, j, i] == MISSING:
                        numbers[k, j, i] = REQUESTED
                        found[count, 0], found[count, 1], found[count, 2] = k, j, i
                        count += 1
    return found[:count]
