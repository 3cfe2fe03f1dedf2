"""Affinity of adjacent voxels in 65,536 levels, and its estimation from the seeds.

Fuzzy connectedness only compares affinities, so solvers work on integer levels, ``level / 65535``:
the scene of the levels is the exact scene rounded once at its end, on every device.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .input_validation import ConstantVolumeError, checked_seeds, checked_volume
from .scene import TOP_LEVEL

FORMS, SIDES = ("geometric", "weighted"), ("both", "bright", "dark")
NUMBERS = ("mean", "sigma", "gradient_sigma", "weight")
# Intensities are computed in float32 (1e-38 to 3e38): within these bounds nothing becomes NaN.
MAX_PARAMETER, MIN_SIGMA = 1e30, 1e-30
# A robust standard deviation is this many median absolute deviations of a normal distribution.
MAD_TO_SIGMA = 1.4826
SIGMA_FLOOR = 1e-3  # of the volume's range: seeds in a flat spot must not forbid all

# ---- exp(-x * x) by basic operations only, which round alike on every device (IEEE 754);
# ---- solvers/affinity.cuh has the same steps

LOG2_E, HALF, ONE = np.float32(1.4426950408889634), np.float32(0.5), np.float32(1.0)
# Beyond 2**-30 every affinity rounds to level 0, and the powers below stay normal numbers.
MAX_EXPONENT = np.float32(30.0)
POWERS_OF_HALF = np.float32(2.0) ** -np.arange(32, dtype=np.float32)
# Taylor coefficients of 2**r, ln(2)**n / n!; for |r| <= 1/2 the remainder is below 2e-8.
C1, C2 = np.float32(0.6931471805599453), np.float32(0.24022650695910072)
C3, C4 = np.float32(0.05550410866482158), np.float32(0.009618129107628477)
C5, C6 = np.float32(0.0013333558146428443), np.float32(0.00015403530393381608)


def bell(x: Any) -> Any:
    """``exp(-x * x)`` of float32, as float32, not below 2**-30; relative error below 2e-6.

    Works on NumPy arrays and, compiled by numba, on scalars.
    """
    exponent = np.minimum(x * x * LOG2_E, MAX_EXPONENT)
    whole = np.floor(exponent + HALF)
    r = whole - exponent
    power = ONE + r * (C1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * C6)))))
    return power * POWERS_OF_HALF[np.int64(whole)]


@dataclass(frozen=True)
class GaussianAffinity:
    """Affinity of two 6-neighbours c, d from their intensities f(c), f(d).

    ``form="geometric"`` is equation 1 of the CUDA-kFOE papers, ``sqrt(g1 * g2)``: g1 is a
    Gaussian of ``(f(c) + f(d)) / 2`` with ``mean`` and ``sigma``, g2 a zero-mean Gaussian of
    ``|f(c) - f(d)| / 2`` with ``gradient_sigma``; both have peak 1. ``form="weighted"`` is the
    form of ITK 3's fuzzy connectedness filter, ``weight * g1 + (1 - weight) * g2``, there with
    the full difference ``|f(c) - f(d)|``.

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
        A parameter is not finite, a sigma not positive, one of them beyond 1e30 or a sigma below
        1e-30, or a name unknown.

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
        for name in NUMBERS:
            value = getattr(self, name)
            if not np.isfinite(value):
                raise InputError(f"The affinity's {name} is {value}; give a number.")
            if "sigma" in name and value <= 0:
                raise InputError(
                    f"The affinity's {name} is {value:g}, but must be above 0: take seeds from a "
                    "region that is not constant, or give a sigma."
                )
            least = MIN_SIGMA if "sigma" in name else 0
            if name != "weight" and not least <= abs(value) <= MAX_PARAMETER:
                raise InputError(
                    f"The affinity's {name} is {value:g}, which float32 cannot be relied on for "
                    "(1e-30 to 1e30): does the volume hold extreme values that mark missing "
                    "voxels? Replace them, or scale the volume."
                )
            if not isinstance(value, int):  # NumPy's shorter numbers would be rounded otherwise
                object.__setattr__(self, name, float(value))
        if not 0 <= self.weight <= 1:
            raise InputError(f"The affinity's weight is {self.weight:g}, but must be within 0..1.")
        for name, known in (("form", FORMS), ("side", SIDES)):
            if getattr(self, name) not in known:
                raise InputError(
                    f"Unknown affinity {name} {getattr(self, name)!r}; one of {', '.join(known)}."
                )

    def coefficients(self) -> np.ndarray:
        """The affinity as the 8 float32 numbers that solvers read.

        Mean, factor of the deviation from it, factor of the difference, scales of the two
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
        """Affinity levels (uint16) of pairs of voxels with these intensities, taken as float32."""
        first, second = np.float32(first), np.float32(second)
        with np.errstate(over="ignore"):  # overflow is many sigmas off
            one, other = self.sum_term(first + second), self.difference_term(np.abs(first - second))
        affinity = one + other if self.form == "weighted" else one * other
        return np.rint(affinity).astype(np.uint16)

    def sum_term(self, total: np.ndarray) -> np.ndarray:
        """The Gaussian of the pair's sum (float32 array), scaled to levels."""
        mean, factor, _, scale, *_, bright, dark = self.coefficients()
        deviation = total * HALF - mean
        if bright:
            deviation = np.minimum(deviation, np.float32(0))
        if dark:
            deviation = np.maximum(deviation, np.float32(0))
        return scale * bell(deviation * factor)

    def difference_term(self, difference: np.ndarray) -> np.ndarray:
        """The Gaussian of the pair's absolute difference (float32 array), scaled to levels."""
        _, _, factor, _, scale, *_ = self.coefficients()
        return scale * bell(difference * factor)


# ---- estimation from the seeds


def estimate_affinity(
    volume: np.ndarray, seeds: np.ndarray | Sequence, *, radius: int = 2, side: str = "both"
) -> GaussianAffinity:
    """Affinity estimated from the intensities around the seeds.

    The mean is the median over all seeds' neighbourhoods, sigma 1.4826 times the median absolute
    deviation from it, the gradient sigma the same of half the differences between 6-neighbours. No
    sigma falls below a thousandth of the volume's range.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
    seeds : array_like, shape (n, 3), integers K, J, I
    radius : int
        Neighbourhoods have ``2 * radius + 1`` voxels a side, cut at the volume's border.
    side : {"both", "bright", "dark"}
        Of the affinity.

    Raises
    ------
    InputError
        The volume is constant, or as `connectedness` does for volume and seeds.

    Examples
    --------
    >>> volume = np.random.default_rng(0).normal(100, 10, (9, 9, 9))
    >>> 90 < estimate_affinity(volume, [[4, 4, 4]]).mean < 110
    True
    """
    volume = checked_volume(volume)
    seeds = checked_seeds(seeds, volume.shape)
    boxes = [neighbourhood(volume, seed, radius) for seed in seeds]
    extent = float(volume.max()) - float(volume.min())
    if extent == 0:
        raise ConstantVolumeError(volume.flat[0])
    intensities = np.concatenate([box.ravel() for box in boxes])
    steps = [np.abs(np.diff(box, axis=axis)).ravel() for box in boxes for axis in range(3)]
    mean, floor = np.median(intensities), SIGMA_FLOOR * extent
    sigma = MAD_TO_SIGMA * np.median(np.abs(intensities - mean))
    halves = np.concatenate(steps) / 2
    gradient_sigma = MAD_TO_SIGMA * np.median(halves) if halves.size else 0.0
    return GaussianAffinity(
        float(mean), float(max(sigma, floor)), float(max(gradient_sigma, floor)), side=side
    )


def neighbourhood(volume: np.ndarray, seed: Sequence[int], radius: int) -> np.ndarray:
    """A copy (float64) of the box of voxels around a seed; `radius` as of `estimate_affinity`."""
    if not isinstance(radius, Integral) or radius < 1:
        raise InputError(
            f"The neighbourhood's radius is {radius}, but must be an integer of at least 1."
        )
    box = tuple(slice(max(c - radius, 0), c + radius + 1) for c in seed)
    return volume[box].astype(np.float64)
