"""Membership of a contrast, and the threshold of a scene: 0.5 always, and what contrast that is."""

from typing import Self

import numpy as np

CONTRAST_THRESHOLD = 0.5
# Threshold of a click: the geometric mean of noise and contrast, times this.
ABOVE_MIDWAY = 1.2


def midway(noise: float, contrast: float) -> float:
    """Threshold of a click, between the noise and its contrast."""
    return ABOVE_MIDWAY * float(np.sqrt(noise * contrast))


def membership(contrast: np.ndarray, threshold: float | np.ndarray) -> np.ndarray:
    """``s / (s + t)`` of contrasts s above 0, else 0, as float32."""
    contrast = np.maximum(contrast, np.float32(0))
    return contrast / (contrast + np.asarray(threshold, np.float32))


class ContrastThreshold(float):
    """The threshold of a scene of contrasts, and the contrast in the image that it stands for.

    Attributes
    ----------
    contrast, noise : float
        Voxels with at least this contrast to the local background belong to the vessels; and its
        standard deviation where there is no vessel. In the volume's unit.
    reason : str
    """

    contrast: float
    noise: float
    reason: str

    def __new__(cls, contrast: float, noise: float) -> Self:
        self = super().__new__(cls, CONTRAST_THRESHOLD)
        self.contrast, self.noise = float(contrast), float(noise)
        self.reason = (
            f"vessels differ from their surroundings by at least {contrast:.3g}, "
            f"{contrast / noise:.1f} times the noise"
        )
        return self

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return self.contrast, self.noise
