"""The affinity estimated from the neighbourhoods of the seeds."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.voxels.medians import median

from ..input_errors import ConstantVolumeError
from ..input_validation import checked_seeds, checked_volume
from .gaussian_affinity import GaussianAffinity
from .seed_statistics import neighbourhoods

# A robust standard deviation is this many median absolute deviations of a normal distribution.
MAD_TO_SIGMA = 1.4826
# Lower bound of sigma, as a share of the volume's range: seeds in a flat spot must not forbid all.
SIGMA_FLOOR = 1e-3


def estimate_affinity(
    volume: np.ndarray, seeds: np.ndarray | Sequence, *, radius: int = 2, side: str = "both"
) -> GaussianAffinity:
    """Affinity estimated from the intensities around the seeds.

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

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.random.default_rng(0).normal(100, 10, (9, 9, 9))
    >>> affinity = estimate_affinity(volume, [[4, 4, 4]])
    >>> 90 < affinity.mean < 110
    True
    """
    volume = checked_volume(volume)
    seeds = checked_seeds(seeds, volume.shape)
    boxes = neighbourhoods(volume, seeds, radius)
    extent = float(volume.max()) - float(volume.min())
    if extent == 0:
        raise ConstantVolumeError(volume.flat[0])
    intensities = np.concatenate([box.ravel() for box in boxes])
    half_differences = np.concatenate(
        [np.abs(np.diff(box, axis=axis)).ravel() / 2 for box in boxes for axis in range(3)]
    )
    mean = median(intensities)
    floor = SIGMA_FLOOR * extent
    sigma = MAD_TO_SIGMA * median(np.abs(intensities - mean))
    gradient_sigma = MAD_TO_SIGMA * median(half_differences) if half_differences.size else 0.0
    return GaussianAffinity(
        float(mean), float(max(sigma, floor)), float(max(gradient_sigma, floor)), side=side
    )
