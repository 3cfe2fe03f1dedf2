"""The voxels that paths reach."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

STEPS = 256  # levels per unit of contrast; the level of the unit itself is exact


@dataclass(frozen=True)
class Reached:
    """Voxels with their level and contrast; a list, as they are few compared with the volume.

    Attributes
    ----------
    voxels : ndarray, shape (n,), int64
        Flat indices, each once, in any order.
    levels : ndarray, shape (n,), uint16
        Above 0.
    contrast : ndarray, shape (n,), float32
    """

    voxels: np.ndarray
    levels: np.ndarray
    contrast: np.ndarray

    @cached_property
    def strong(self) -> np.ndarray:
        """The contrast of the voxels whose level is at least `STEPS`."""
        return self.contrast[self.levels >= STEPS]

    def typical(self, threshold: float) -> float | None:
        """The 90th percentile of the `strong` ones from a threshold on; None without any."""
        if threshold not in self._typical:
            found = self.strong[self.strong >= threshold]
            self._typical[threshold] = float(np.percentile(found, 90)) if found.size else None
        return self._typical[threshold]

    @cached_property
    def _typical(self) -> dict[float, float | None]:
        return {}


NOTHING = Reached(np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.float32))
