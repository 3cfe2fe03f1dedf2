"""Affinity: how strongly two neighbouring voxels hang together, in 65,536 levels."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.threads import thread_count

from ..input_validation import checked_seeds, checked_volume
from .bell import bell
from .seed_statistics import neighbourhoods

TOP_LEVEL = 65535
FORMS = ("geometric", "weighted")
SIDES = ("both", "bright", "dark")
VALUES_A_PART = 1 << 21  # converted by one thread at a time

# A robust standard deviation is this many median absolute deviations of a normal distribution.
MAD_TO_SIGMA = 1.4826
# No sigma below this share of the volume's range: seeds in a flat spot must not forbid everything.
SIGMA_FLOOR = 1e-3
# Intensities are computed in float32, which reaches from 1e-38 to 3e38: within these bounds what
# overflows is many sigmas off, and nothing becomes NaN.
LARGEST_PARAMETER, LEAST_SIGMA = 1e30, 1e-30


@dataclass(frozen=True)
class GaussianAffinity:
    """Affinity of two 6-neighbours c, d from their intensities f(c), f(d).

    ``form="geometric"`` is equation 1 of the CUDA-kFOE papers, ``sqrt(g1 * g2)``: g1 is a
    Gaussian of ``(f(c) + f(d)) / 2`` with ``mean`` and ``sigma``, g2 a zero-mean Gaussian of
    ``|f(c) - f(d)| / 2`` with ``gradient_sigma``; both have peak 1. ``form="weighted"`` is the
    form of ITK 3's fuzzy connectedness filter, ``weight * g1 + (1 - weight) * g2``, there with
    the full difference ``|f(c) - f(d)|``.

    Affinities are resolved to 65,536 even levels, ``level / 65535``. Fuzzy connectedness only
    compares affinities, so the scene of the levels is the exact scene rounded once at its end:
    half a level, and what float32 adds to it, however long the path.

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
    """

    mean: float
    sigma: float
    gradient_sigma: float
    form: str = "geometric"
    weight: float = 0.5
    side: str = "both"

    def __post_init__(self):
        for name in ("mean", "sigma", "gradient_sigma", "weight"):
            if not np.isfinite(getattr(self, name)):
                raise InputError(f"The affinity's {name} is {getattr(self, name)}; give a number.")
        for name in ("sigma", "gradient_sigma"):
            if getattr(self, name) <= 0:
                raise InputError(
                    f"The affinity's {name} is {getattr(self, name):g}, but must be above 0: "
                    "take seeds from a region that is not constant, or give a sigma."
                )
        for name, least in (("mean", 0), ("sigma", LEAST_SIGMA), ("gradient_sigma", LEAST_SIGMA)):
            if not least <= abs(getattr(self, name)) <= LARGEST_PARAMETER:
                raise InputError(
                    f"The affinity's {name} is {getattr(self, name):g}, which float32 cannot be "
                    "relied on for (1e-30 to 1e30): does the volume hold extreme values that mark "
                    "missing voxels? Replace them, or scale the volume."
                )
        if not 0 <= self.weight <= 1:
            raise InputError(f"The affinity's weight is {self.weight:g}, but must be within 0..1.")
        if self.form not in FORMS:
            raise InputError(f"Unknown affinity form {self.form!r}; one of {', '.join(FORMS)}.")
        if self.side not in SIDES:
            raise InputError(f"Unknown affinity side {self.side!r}; one of {', '.join(SIDES)}.")

    def coefficients(self):
        """The affinity as 8 float32 numbers, as every solver reads them.

        Returns
        -------
        ndarray, shape (8,), float32
            mean, factor of the deviation from it, factor of the difference, scales of the two
            Gaussians, 1 for the weighted form, 1 where bright costs nothing, 1 where dark does.
        """
        if self.form == "geometric":
            factors = 1 / (2 * self.sigma), 1 / (4 * self.gradient_sigma)
            scales = TOP_LEVEL, 1
        else:
            factors = 1 / (np.sqrt(2) * self.sigma), 1 / (np.sqrt(2) * self.gradient_sigma)
            scales = TOP_LEVEL * self.weight, TOP_LEVEL * (1 - self.weight)
        flags = self.form == "weighted", self.side == "bright", self.side == "dark"
        return np.array([self.mean, *factors, *scales, *flags], np.float32)

    def levels(self, first, second):
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
        with np.errstate(over="ignore"):  # beyond float32 is many sigmas off
            sum_term = self.sum_term(first + second)
            difference_term = self.difference_term(np.abs(first - second))
        return combine(sum_term, difference_term, self.form == "weighted")

    def sum_term(self, total):
        """The Gaussian of the pair's sum (float32 array), scaled to levels."""
        mean, factor, _, scale, _, _, bright, dark = self.coefficients()
        deviation = total * np.float32(0.5) - mean
        if bright:
            deviation = np.minimum(deviation, np.float32(0))
        if dark:
            deviation = np.maximum(deviation, np.float32(0))
        return scale * bell(deviation * factor)

    def difference_term(self, difference):
        """The Gaussian of the pair's absolute difference (float32 array), scaled to levels."""
        _, _, factor, _, scale, _, _, _ = self.coefficients()
        return scale * bell(difference * factor)


def combine(sum_term, difference_term, weighted):
    """Affinity levels (uint16) from the two terms."""
    affinity = sum_term + difference_term if weighted else sum_term * difference_term
    return np.rint(affinity).astype(np.uint16)


def level_values(levels):
    """The affinity (float32, 0..1) of each level: ``level / 65535``, rounded once."""
    levels = np.asarray(levels)
    values = np.empty(levels.shape, np.float32)
    if levels.size < 2 * VALUES_A_PART:
        return np.divide(levels, np.float32(TOP_LEVEL), out=values, dtype=np.float32)
    flat_levels, flat_values = levels.reshape(-1), values.reshape(-1)

    def convert(start):
        part = slice(start, start + VALUES_A_PART)
        top = np.float32(TOP_LEVEL)
        np.divide(flat_levels[part], top, out=flat_values[part], dtype=np.float32)

    with ThreadPoolExecutor(thread_count()) as pool:  # numpy leaves Python's lock meanwhile
        list(pool.map(convert, range(0, levels.size, VALUES_A_PART)))
    return values


def estimate_affinity(volume, seeds, *, radius=2, side="both"):
    """Affinity from the intensities around the seeds.

    The mean is the median over all seeds' neighbourhoods, sigma 1.4826 times the median
    absolute deviation from it, the gradient sigma the same of half the differences between
    6-neighbours. No sigma falls below a thousandth of the volume's range.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
    seeds : array_like, shape (n, 3), integers K, J, I
    radius : int
        Neighbourhoods have ``2 * radius + 1`` voxels a side, cut at the volume's border.
    side : {"both", "bright", "dark"}
        Of the affinity.

    Returns
    -------
    GaussianAffinity

    Raises
    ------
    InputError
        If the volume is constant, or as `connectedness` does for volume and seeds.
    """
    volume = checked_volume(volume)
    seeds = checked_seeds(seeds, volume.shape)
    boxes = neighbourhoods(volume, seeds, radius)
    extent = float(volume.max()) - float(volume.min())
    if extent == 0:
        raise InputError(
            f"The volume is constant (every voxel is {volume.flat[0]}), so there is no vessel "
            "to find: was the right volume chosen?"
        )
    intensities = np.concatenate([box.ravel() for box in boxes])
    half_differences = np.concatenate(
        [np.abs(np.diff(box, axis=axis)).ravel() / 2 for box in boxes for axis in range(3)]
    )
    mean = np.median(intensities)
    floor = SIGMA_FLOOR * extent
    sigma = MAD_TO_SIGMA * np.median(np.abs(intensities - mean))
    gradient_sigma = MAD_TO_SIGMA * np.median(half_differences) if half_differences.size else 0.0
    return GaussianAffinity(
        float(mean), float(max(sigma, floor)), float(max(gradient_sigma, floor)), side=side
    )
