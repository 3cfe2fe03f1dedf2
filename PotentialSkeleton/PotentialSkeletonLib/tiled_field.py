"""A force field in tiles, of which only those are fetched that curves come through.

Where the field lies on a card, most of it is never asked for.
"""

import numpy as np

SIDE = 5  # power of 2 of the voxels along the side of a tile
WHOLE = 62  # the same where all voxels are in one tile
NOT_HERE = -1


class TiledField:
    """Forces, and where curves may run.

    Parameters
    ----------
    shape : 3 ints K, J, I
    fetch : callable
        ``fetch(box)`` gives the forces, float32 (k, j, i, 3), 0 where there is none, and what is
        not 0 where curves may run, uint8 (k, j, i), in a box of the volume; a tuple of slices.

    Attributes
    ----------
    numbers : ndarray of int32
        Number of each tile, `NOT_HERE` where it was not fetched.
    side : int
        Power of 2 of the voxels from one tile to the next.
    forces : ndarray, shape (n, k, j, i, 3)
        Of the tiles, each with one voxel more at its end: so cells between voxels lie in a tile.
    free : ndarray of uint8, shape (n, k, j, i)
    """

    def __init__(self, shape, fetch):
        self.shape, self._fetch, self.side = tuple(shape), fetch, SIDE
        self.numbers = np.full([(n >> SIDE) + 1 for n in shape], NOT_HERE, np.int32)
        extent = [(1 << SIDE) + 1] * 3
        self.forces = np.empty((1, *extent, 3), np.float32)
        self.free = np.empty((1, *extent), np.uint8)
        self._count = 0

    @classmethod
    def whole(cls, forces, free):
        """A field that is here; forces (K, J, I, 3) and bool or uint8 (K, J, I)."""
        field = cls.__new__(cls)
        field.shape, field.side = free.shape, WHOLE
        field.numbers = np.zeros((1, 1, 1), np.int32)
        field.forces, field.free = forces[None], free.view(np.uint8)[None]
        return field

    def add(self, tile):
        """Fetch a tile; its place K, J, I among the tiles."""
        if self._count == len(self.free):
            self.forces, self.free = (
                np.concatenate([room, np.empty_like(room)]) for room in (self.forces, self.free)
            )
        low = [int(n) << SIDE for n in tile]
        box = tuple(slice(n, n + self.free.shape[1]) for n in low)
        forces, free = self._fetch(box)
        inner = tuple(slice(n) for n in free.shape)  # a tile at the end of the volume is not full
        self.forces[self._count][inner], self.free[self._count][inner] = forces, free
        self.numbers[tuple(tile)] = self._count
        self._count += 1
