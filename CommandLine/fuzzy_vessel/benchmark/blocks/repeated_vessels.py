"""A labelmap that is computed where it is read: one tree of vessels, again and again."""

from functools import cache

import numpy as np

from FuzzyVesselCoreLib.phantom.liver import liver_phantom

SIDE, MARGIN = 96, 2  # voxels of a cell, and those at its faces that are empty
SPECKLE = 0.002  # share of voxels that noise has set


class RepeatedVessels:
    """Cells with a vascular tree and speckle in each, uint8. Reads as an array does.

    Examples
    --------
    >>> volume = RepeatedVessels((100, 100, 200))
    >>> bool((volume[10:20, 30:50, 0:9] == volume[0:50, 0:50, 0:50][10:20, 30:50, :9]).all())
    True
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = shape
        self._cell = _cell()

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        k, j, i = (np.arange(part.start, part.stop) % SIDE for part in index)
        return self._cell[:, :, i][np.ix_(k, j)]  # rows are copied as a whole

    @property
    def whole(self) -> np.ndarray:
        """All voxels."""
        k, j, i = (slice(0, n) for n in self.shape)
        return self[k, j, i]


@cache
def _cell() -> np.ndarray:
    inner = (SIDE - 2 * MARGIN,) * 3
    cell = liver_phantom(inner).mask > 0
    cell |= np.random.default_rng(0).random(inner) < SPECKLE
    return np.pad(cell, MARGIN).view(np.uint8)
