"""A target that keeps a hash of what is written, and no voxel."""

import threading

import numpy as np

from .procedural_volume import mixed


class HashedTarget:
    """Sum over all voxels of a random number for voxel and level, modulo 2**64.

    It does not depend on the boxes in which the voxels are written, nor on their order.

    Examples
    --------
    >>> target, other = HashedTarget((1, 1, 4)), HashedTarget((1, 1, 4))
    >>> levels = np.array([[[3, 1, 4, 1]]], np.uint16)
    >>> target[0:1, 0:1, 0:4] = levels
    >>> other[0:1, 0:1, 2:4] = levels[..., 2:]
    >>> other[0:1, 0:1, 0:2] = levels[..., :2]
    >>> target.hash == other.hash
    True
    """

    dtype = np.dtype(np.uint16)

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = shape
        self.hash = 0
        self._lock = threading.Lock()

    def __setitem__(self, index: tuple[slice, ...], levels: np.ndarray) -> None:
        first = index[0].start
        for k, plane in enumerate(levels, first):  # planes: scratch memory stays small
            j, i = np.ix_(*(np.arange(p.start, p.stop, dtype=np.uint64) for p in index[1:]))
            voxels = (np.uint64(k * self.shape[1]) + j) * np.uint64(self.shape[2]) + i
            found = int(mixed(voxels ^ (plane.astype(np.uint64) << np.uint64(48))).sum())
            with self._lock:
                self.hash = (self.hash + found) % 2**64

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        raise TypeError("only the hash is kept")
