"""A scene for one position of the clicks after the other: what paths write stays."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.voxels.large_arrays import zeros

from ..clicks.membership import connectedness_of
from ..contrast_threshold import CONTRAST_THRESHOLD
from ..paths.reached import NOTHING, Reached
from .kept_reach import Kept
from .touched import Box


class KeptScene:
    """A scene in which the values of kept paths stay, and all else is put back after each step.

    Parameters
    ----------
    shape : (K, J, I)

    Attributes
    ----------
    values : ndarray, float32, of that shape
    base : tuple of Reached and float
        The kept paths and the threshold of the contrast; what stays are their values.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self.values = zeros(tuple(shape), np.float32)
        self.base: tuple[Reached, float] = NOTHING, 0.0
        self._size = 0
        self._before: list[tuple[np.ndarray | Box, np.ndarray]] = []

    def write(self, kept: Kept, threshold: float, contrast: np.ndarray) -> int:
        """Write the connectedness of kept paths, and of what other paths raise.

        Parameters
        ----------
        kept : Kept
        threshold : float
            Of the contrast.
        contrast : ndarray, float32
            Of the raised voxels.

        Returns
        -------
        int
            Number of the object's voxels.
        """
        flat, paths = self.values.reshape(-1), kept.paths
        if self.base[0] is not paths or self.base[1] != threshold:
            if self.base[0] is not paths:
                flat[self.base[0].voxels] = 0
            self.base = paths, -1.0  # until it is written
            own = connectedness_of(paths.levels, paths.contrast, threshold)
            flat[paths.voxels] = own
            self._size = int(np.count_nonzero(own >= CONTRAST_THRESHOLD))
            self.base = paths, threshold
        if not kept.raised.size:
            return self._size
        before = self.change(kept.raised)
        after = connectedness_of(kept.levels, contrast, threshold)
        flat[kept.raised] = after
        grown = np.count_nonzero(after >= CONTRAST_THRESHOLD)
        return self._size + int(grown) - int(np.count_nonzero(before >= CONTRAST_THRESHOLD))

    def change(self, place: "np.ndarray | Box") -> np.ndarray:
        """Keep what is at voxels (flat indices) or in a box, which rules may change now."""
        if isinstance(place, tuple):
            before = self.values[place].copy()
        else:
            before = self.values.reshape(-1)[place]
        self._before.append((place, before))
        return before

    def put_back(self) -> None:
        """Undo all changes."""
        while self._before:
            place, before = self._before.pop()
            if isinstance(place, tuple):
                self.values[place] = before
            else:
                self.values.reshape(-1)[place] = before
