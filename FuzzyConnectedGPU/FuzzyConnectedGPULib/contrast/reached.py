"""The voxels that paths reach, and the levels of contrasts along which paths are compared."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

STEPS = 256  # levels per unit of contrast; the level of the unit itself is exact
TOP = 65535  # the highest level


@dataclass(frozen=True)
class Reached:
    """Voxels (flat indices, each once, in any order) with their level above 0 and their contrast.

    A list, as they are few compared with the volume.
    """

    voxels: np.ndarray
    levels: np.ndarray
    contrast: np.ndarray
    _typical: dict = field(default_factory=dict, repr=False)

    @property
    def is_strong(self) -> np.ndarray:
        """Whether the level of each voxel is at least `STEPS`."""
        return self.levels >= STEPS

    @cached_property
    def strong(self) -> np.ndarray:
        """The contrast of the voxels whose level is at least `STEPS`."""
        return self.contrast[self.is_strong]

    def typical(self, threshold: float) -> float | None:
        """The 90th percentile of the `strong` ones from a threshold on; None without any."""
        if threshold not in self._typical:
            found = self.strong[self.strong >= threshold]
            self._typical[threshold] = float(np.percentile(found, 90)) if found.size else None
        return self._typical[threshold]


def lowest_open(unit: float, floor: int) -> np.float32:
    """The least contrast whose level reaches the floor: levels never fall as contrasts rise."""

    def level(contrast: np.float32) -> float:
        return float(np.floor(np.float64(contrast) / unit * STEPS))

    lowest = np.float32(floor / STEPS * unit)
    while level(lowest) >= floor:
        lowest = np.nextafter(lowest, np.float32(-np.inf))
    while level(lowest) < floor:
        lowest = np.nextafter(lowest, np.float32(np.inf))
    return lowest
