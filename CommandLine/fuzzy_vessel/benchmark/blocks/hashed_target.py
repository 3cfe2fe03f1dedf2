"""A target that keeps a hash of what is written, and no voxel."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from FuzzyVesselCoreLib.threads import usable_cores

from .procedural_volume import hash_of_plane

MODULUS = 2**64


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
        found = hash_of_box(self.shape, index, levels)
        with self._lock:
            self.hash = (self.hash + found) % MODULUS

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        raise TypeError("only the hash is kept")


class HashedFolder:
    """The same for tasks of several processes: the hash of each box is a file of a folder."""

    dtype = np.dtype(np.uint16)

    def __init__(self, shape: tuple[int, int, int], folder: Path) -> None:
        self.shape, self._folder = shape, folder

    def __setitem__(self, index: tuple[slice, ...], levels: np.ndarray) -> None:
        name = "-".join(str(part.start) for part in index)
        (self._folder / name).write_text(str(hash_of_box(self.shape, index, levels)))

    @property
    def hash(self) -> int:
        """Of all boxes that were written."""
        return sum(int(place.read_text()) for place in self._folder.iterdir()) % MODULUS


def hash_of_box(shape: tuple[int, int, int], index: tuple[slice, ...], levels: np.ndarray) -> int:
    """The part of a box in the hash of a volume of levels, or of numbers of components."""
    if levels.dtype.itemsize > 2:  # numbers: an odd factor keeps the two halves apart
        levels = (levels ^ (levels >> np.uint32(16)) * np.uint32(40503)).astype(np.uint16)
    k, j, i = (part.start for part in index)
    row = shape[2]
    firsts = [((k + n) * shape[1] + j) * row + i for n in range(len(levels))]
    with ThreadPoolExecutor(usable_cores()) as pool:
        hashes = pool.map(
            lambda n: int(hash_of_plane(levels[n], np.uint64(firsts[n]), np.uint64(row))),
            range(len(levels)),
        )
        return sum(hashes) % MODULUS
