"""A volume that is computed where it is read, so that no memory and no disk holds it."""

from typing import Any

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity

TISSUE, VESSEL, NOISE = 100.0, 220.0, 25.0
PERIOD, RADIUS, WAVE = 48, 5.0, 9.0  # voxels between two vessels, of a vessel, and of its bends
SLAB = 8  # planes that are computed at a time
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
        for n in range(0, len(values), SLAB):  # scratch memory stays small
            first = index[0].start + n
            slab = slice(first, min(first + SLAB, index[0].stop))
            values[n : n + SLAB] = self._computed((slab, *index[1:]))
        return values

    def _computed(self, index: tuple[slice, ...]) -> np.ndarray:
        ranges = [np.arange(part.start, part.stop, dtype=np.float32) for part in index]
        k, j, i = np.ix_(*ranges)
        distance = np.minimum(_to_axis(k, j, i), _to_axis(j, i, k))
        distance = np.minimum(distance, _to_axis(i, k, j))
        values = (VESSEL - TISSUE) * np.exp(-distance / np.float32(2 * RADIUS * RADIUS)) + TISSUE
        values += np.float32(NOISE) * (_uniform(index, self.shape) - np.float32(0.5))
        return np.rint(values)


def bend(along: Any) -> Any:
    """Deviation of a vessel from its straight axis."""
    return np.float32(WAVE) * np.sin(along * np.float32(2 * np.pi / (4 * PERIOD)))


def _to_axis(along: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Squared distance to the next vessel along an axis, in the plane across."""
    first = (first - bend(along)) % PERIOD - PERIOD // 2
    second = (second - bend(along + np.float32(PERIOD / 3))) % PERIOD - PERIOD // 2
    return first * first + second * second


def _uniform(index: tuple[slice, ...], shape: tuple[int, int, int]) -> np.ndarray:
    """Noise of 0 to 1 that depends on the voxel alone."""
    k, j, i = np.ix_(*(np.arange(part.start, part.stop, dtype=np.uint64) for part in index))
    return (mixed((k * shape[1] + j) * shape[2] + i) >> np.uint64(40)).astype(np.float32) / 2**24


def mixed(number: np.ndarray) -> np.ndarray:
    """A number of 64 bits for each number (uint64), as if at random (splitmix64)."""
    number = number + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
