"""The voxels that paths reach."""

from dataclasses import dataclass

import numpy as np


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
