"""Membership of a contrast at a threshold, and the threshold of a click."""

import numpy as np

from ..paths.reached import STEPS

# Threshold of a click: the geometric mean of noise and contrast, times this.
ABOVE_MIDWAY = 1.2


def midway(noise: float, contrast: float) -> float:
    """Threshold of a click, between the noise and its contrast."""
    return ABOVE_MIDWAY * float(np.sqrt(noise * contrast))


def connectedness_of(levels: np.ndarray, contrast: np.ndarray, threshold: float) -> np.ndarray:
    """Connectedness (float32) of voxels: their membership, limited by the levels of their paths."""
    level = levels.astype(np.float32)
    return np.minimum(membership(contrast, threshold), level / (level + np.float32(STEPS)))


def membership(contrast: np.ndarray, threshold: float) -> np.ndarray:
    """``s / (s + t)`` of contrasts s above 0, else 0, as float32."""
    contrast = np.maximum(contrast, np.float32(0))
    return contrast / (contrast + np.float32(threshold))
