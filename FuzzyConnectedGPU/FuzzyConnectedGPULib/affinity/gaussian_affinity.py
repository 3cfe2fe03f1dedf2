"""Affinity of adjacent voxels, in 65,536 levels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .bell import bell
from .levels import TOP_LEVEL, combine

FORMS = ("geometric", "weighted")
SIDES = ("both", "bright", "dark")
NUMBERS = ("mean", "sigma", "gradient_sigma", "weight")
# Intensities are computed in float32, whose range is 1e-38 to 3e38: within these bounds intensities
# that overflow are many sigmas off, and nothing becomes NaN.
MAX_PARAMETER, MIN_SIGMA = 1e30, 1e-30


@dataclass(frozen=True)
class GaussianAffinity:
    """Affinity of two 6-neighbours c, d from their intensities f(c), f(d).

    ``form="geometric"`` is equation 1 of the CUDA-kFOE papers, ``sqrt(g1 * g2)``: g1 is a
    Gaussian of ``(f(c) + f(d)) / 2`` with ``mean`` and ``sigma``, g2 a zero-mean Gaussian of
    ``|f(c) - f(d)| / 2`` with ``gradient_sigma``; both have peak 1. ``form="weighted"`` is the
    form of ITK 3's fuzzy connectedness filter, ``weight * g1 + (1 - weight) * g2``, there with
    the full difference ``|f(c) - f(d)|``.

    Affinities are quantized to 65,536 even levels, ``level / 65535``. Fuzzy connectedness only
    compares affinities, so the scene of the levels is the exact scene rounded once at its end: half
    a level plus float32's rounding, however long the path.

    Parameters
    ----------
    mean, sigma, gradient_sigma : float
        In the volume's intensity unit (HU for CT); the sigmas are positive.
    form : {"geometric", "weighted"}
    weight : float
        Share of g1 in the weighted form, 0..1.
    side : {"both", "bright", "dark"}
        "bright": intensities above the mean cost nothing (contrast-filled vessels);
        "dark": intensities below it cost nothing.

    Raises
    ------
    InputError
        If a parameter is not finite, a sigma not positive, one of them beyond 1e30 or a sigma
        below 1e-30, or a name unknown.

    Examples
    --------
    >>> affinity = GaussianAffinity(mean=100, sigma=10, gradient_sigma=10)
    >>> affinity.levels([100, 100], [100, 130]).tolist()
    [65535, 21276]
    """

    mean: float
    sigma: float
    gradient_sigma: float
    form: str = "geometric"
    weight: float = 0.5
    side: str = "both"

    def __post_init__(self) -> None:
        self._check_numbers()
        if not 0 <= self.weight <= 1:
            raise InputError(f"The affinity's weight is {self.weight:g}, but must be within 0..1.")
        if self.form not in FORMS:
            raise InputError(f"Unknown affinity form {self.form!r}; one of {', '.join(FORMS)}.")
        if self.side not in SIDES:
            raise InputError(f"Unknown affinity side {self.side!r}; one of {', '.join(SIDES)}.")
        # Equal affinities share their tables (`Problem.tables`): of NumPy's shorter numbers the
        # factors would be rounded in another way, and its arrays have no hash.
        for name in NUMBERS:
            if not isinstance(getattr(self, name), int):
                object.__setattr__(self, name, float(getattr(self, name)))

    def _check_numbers(self) -> None:
        for name in NUMBERS:
            if not np.isfinite(getattr(self, name)):
                raise InputError(f"The affinity's {name} is {getattr(self, name)}; give a number.")
        for name in ("sigma", "gradient_sigma"):
            if getattr(self, name) <= 0:
                raise InputError(
                    f"The affinity's {name} is {getattr(self, name):g}, but must be above 0: "
                    "take seeds from a region that is not constant, or give a sigma."
                )
        for name, least in (("mean", 0), ("sigma", MIN_SIGMA), ("gradient_sigma", MIN_SIGMA)):
            if not least <= abs(getattr(self, name)) <= MAX_PARAMETER:
                raise InputError(
                    f"The affinity's {name} is {getattr(self, name):g}, which float32 cannot be "
                    "relied on for (1e-30 to 1e30): does the volume hold extreme values that mark "
                    "missing voxels? Replace them, or scale the volume."
                )

    def coefficients(self) -> np.ndarray:
        """The affinity as 8 float32 numbers, the form that solvers read.

        Returns
        -------
        ndarray, shape (8,), float32
            mean, factor of the deviation from it, factor of the difference, scales of the two
            Gaussians, 1 for the weighted form, 1 for side "bright", 1 for side "dark".
        """
        if self.form == "geometric":
            factors = 1 / (2 * self.sigma), 1 / (4 * self.gradient_sigma)
            scales: tuple[float, float] = TOP_LEVEL, 1
        else:
            factors = 1 / (np.sqrt(2) * self.sigma), 1 / (np.sqrt(2) * self.gradient_sigma)
            scales = TOP_LEVEL * self.weight, TOP_LEVEL * (1 - self.weight)
        flags = self.form == "weighted", self.side == "bright", self.side == "dark"
        return np.array([self.mean, *factors, *scales, *flags], np.float32)

    def levels(self, first: Any, second: Any) -> np.ndarray:
        """Affinity levels of voxel pairs.

        Parameters
        ----------
        first, second : array_like
            Intensities of the two voxels of each pair; taken as float32.

        Returns
        -------
        ndarray, uint16
            0..65535, of the broadcast shape; ``level / 65535`` is the affinity.
        """
        first, second = np.float32(first), np.float32(second)
        with np.errstate(over="ignore"):  # overflow is many sigmas off
            sum_term = self.sum_term(first + second)
            difference_term = self.difference_term(np.abs(first - second))
        return combine(sum_term, difference_term, self.form == "weighted")

    def sum_term(self, total: np.ndarray) -> np.ndarray:
        """The Gaussian of the pair's sum (float32 array), scaled to levels."""
        mean, factor, _, scale, _, _, bright, dark = self.coefficients()
        deviation = total * np.float32(0.5) - mean
        if bright:
            deviation = np.minimum(deviation, np.float32(0))
        if dark:
            deviation = np.maximum(deviation, np.float32(0))
        return scale * bell(deviation * factor)

    def difference_term(self, difference: np.ndarray) -> np.ndarray:
        """The Gaussian of the pair's absolute difference (float32 array), scaled to levels."""
        _, _, factor, _, scale, _, _, _ = self.coefficients()
        return scale * bell(difference * factor)
