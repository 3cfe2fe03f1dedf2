"""A target that keeps a hash of what is written, and no voxel."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import DTypeLike

from FuzzyVesselCoreLib.threads import usable_cores

from .procedural_volume import hash_of_plane


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

    def __init__(self, shape: tuple[int, int, int], kind: DTypeLike = np.uint16) -> None:
        self.shape, self.dtype = shape, np.dtype(kind)
        self.hash = 0
        self._lock = threading.Lock()

    def __setitem__(self, index: tuple[slice, ...], levels: np.ndarray) -> None:
        k, j, i = (part.start for part in index)
        row = self.shape[2]
        if self.dtype.itemsize > 2:  # numbers: an odd factor keeps the two halves apart
            levels = (levels ^ (levels >> np.uint32(16)) * np.uint32(40503)).astype(np.uint16)
        firsts = [((k + n) * self.shape[1] + j) * row + i for n in range(len(levels))]
        with ThreadPoolExecutor(usable_cores()) as pool:
            hashes = pool.map(
                lambda n: int(hash_of_plane(levels[n], np.uint64(firsts[n]), np.uint64(row))),
                range(len(levels)),
            )
            found = sum(hashes)
        with self._lock:
            self.hash = (self.hash + found) % 2**64

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        raise TypeError("only the hash is kept")
