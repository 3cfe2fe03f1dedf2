"""The threshold of a scene of contrasts: 0.5 always, and which contrast in the image that is."""

from typing import Self

CONTRAST_THRESHOLD = 0.5


class ContrastThreshold(float):
    """The threshold of a scene of contrasts, and the contrast in the image that it stands for.

    Attributes
    ----------
    contrast : float
        Voxels with at least this contrast to the local background belong to the vessels, in the
        volume's unit.
    noise : float
        Standard deviation of the contrast where there is no vessel.
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
