"""A volume that is computed where it is read, so that no memory and no disk holds it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyVesselCoreLib.threads import usable_cores

TISSUE, VESSEL, NOISE = 100.0, 220.0, 25.0
PERIOD, RADIUS, WAVE = 48, 5.0, 9.0  # voxels between two vessels, of a vessel, and of its bends
AFFINITY = GaussianAffinity(VESSEL, 60.0, 30.0)


class ProceduralVolume:
    """Wavy vessels along all axes, which meet, in noise; int16. Reads as an array does.

    Examples
    --------
    >>> volume = ProceduralVolume((100, 100, 100))
    >>> bool((volume[10:20, 30:50, 0:9] == volume[0:50, 0:50, 0:50][10:20, 30:50, :9]).all())
    True
    """

    dtype = np.dtype(np.int16)

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = shape

    @property
    def seeds(self) -> np.ndarray:
        """The voxel on a vessel's axis next to the volume's middle, shape (1, 3)."""
        j, i = ((n // 2 // PERIOD) * PERIOD + PERIOD // 2 for n in self.shape[1:])
        k = self.shape[0] // 2
        place = [k, round(j + bend(k)), round(i + bend(k + PERIOD / 3))]
        return np.minimum([place], np.array(self.shape) - 1)

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        values = np.empty([part.stop - part.start for part in index], self.dtype)
        ranges = [np.arange(part.start, part.stop, dtype=np.float32) for part in index]
        bends = [(bend(along), bend(along + np.float32(PERIOD / 3))) for along in ranges]
        first = np.array([part.start for part in index], np.uint64)
        size = np.array(self.shape, np.uint64)
        with ThreadPoolExecutor(usable_cores()) as pool:
            planes = range(len(values))
            list(pool.map(lambda k: _fill_plane(values, k, first, size, *bends), planes))
        return values


def bend(along: Any) -> Any:
    """Deviation of a vessel from its straight axis."""
    return np.float32(WAVE) * np.sin(along * np.float32(2 * np.pi / (4 * PERIOD)))


@njit(cache=True, nogil=True)
def _fill_plane(
    values: np.ndarray,
    k: int,
    first: np.ndarray,
    shape: np.ndarray,
    bends_k: tuple[np.ndarray, np.ndarray],
    bends_j: tuple[np.ndarray, np.ndarray],
    bends_i: tuple[np.ndarray, np.ndarray],
) -> None:
    """Compute a plane of a box whose first voxel is `first`."""
    at_k, widest = np.float32(first[0]) + np.float32(k), np.float32(4 * RADIUS * RADIUS)
    for j in range(values.shape[1]):
        at_j = np.float32(first[1]) + np.float32(j)
        row = (first[0] + np.uint64(k)) * shape[1] + first[1] + np.uint64(j)
        number = row * shape[2] + first[2]
        across_k = _squared(at_j - bends_k[0][k])
        across_j = _squared(at_k - bends_j[1][j])
        for i in range(values.shape[2]):
            at_i = np.float32(first[2]) + np.float32(i)
            to_k = across_k + _squared(at_i - bends_k[1][k])
            to_j = across_j + _squared(at_i - bends_j[0][j])
            to_i = _squared(at_k - bends_i[0][i]) + _squared(at_j - bends_i[1][i])
            inside = max(np.float32(1) - min(to_k, to_j, to_i) / widest, np.float32(0))
            uniform = np.float32(_mixed(number + np.uint64(i)) >> np.uint64(40)) / np.float32(2**24)
            value = np.float32(VESSEL - TISSUE) * inside * inside + np.float32(TISSUE)
            value += np.float32(NOISE) * (uniform - np.float32(0.5))
            values[k, j, i] = np.int16(np.floor(value + np.float32(0.5)))


@njit(cache=True, nogil=True)
def _squared(deviation: np.float32) -> np.float32:
    """Squared distance along one axis to the middle of the period that it lies in."""
    period = np.float32(PERIOD)
    rest = deviation - period * np.floor(deviation / period) - period / np.float32(2)
    return rest * rest


@njit(cache=True, nogil=True)
def _mixed(number: np.uint64) -> np.uint64:
    """A number of 64 bits for each number, as if at random (splitmix64)."""
    number = number + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@njit(cache=True, nogil=True)
def hash_of_plane(levels: np.ndarray, first: np.uint64, row: np.uint64) -> np.uint64:
    """Sum over a plane of a random number for voxel and level, modulo 2**64.

    `first` is the flat index of the plane's first voxel in the volume, `row` the length of its rows
    there.
    """
    total = np.uint64(0)
    for j in range(levels.shape[0]):
        number = first + np.uint64(j) * row
        for i in range(levels.shape[1]):
            level = np.uint64(levels[j, i]) << np.uint64(48)
            total += _mixed((number + np.uint64(i)) ^ level)
    return total
