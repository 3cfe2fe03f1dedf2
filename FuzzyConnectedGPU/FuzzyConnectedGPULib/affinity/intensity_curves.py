"""An image's histogram and an affinity, as two curves over the intensity."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .gaussian_affinity import GaussianAffinity
from .levels import TOP_LEVEL

MAX_SAMPLES = 1 << 21  # a displayed histogram needs no more voxels
OUTLIERS = 0.001  # share of voxels beyond each end of the displayed range


def intensity_histogram(
    volume: np.ndarray, bins: int = 128, intensity_range: tuple[float, float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Histogram of a volume's intensities, from an even sample of its voxels.

    Parameters
    ----------
    volume : ndarray
        Of any shape.
    bins : int
    intensity_range : tuple of 2 float, optional
        Lowest and highest intensity; by default all but the outermost thousandths.

    Returns
    -------
    edges : ndarray, shape (bins + 1,), float64
    share : ndarray, shape (bins,), float64
        Share of the sample's voxels in each bin, 0..1.

    Raises
    ------
    InputError
        The volume has no voxel with a finite intensity.
    """
    flat = volume.reshape(-1)
    sample = flat[:: max(1, flat.size // MAX_SAMPLES)].astype(np.float64)
    sample = sample[np.isfinite(sample)]
    if not sample.size:
        raise InputError("The volume holds no finite intensity, so it has no histogram.")
    low, high = intensity_range or np.quantile(sample, (OUTLIERS, 1 - OUTLIERS))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    counts, edges = np.histogram(sample, bins, (low, high))
    return edges, counts / sample.size


def affinity_curve(affinity: GaussianAffinity, intensities: Any) -> np.ndarray:
    """Affinity of two adjacent voxels of the same intensity, over that intensity.

    Parameters
    ----------
    affinity : GaussianAffinity
    intensities : array_like

    Returns
    -------
    ndarray, float64, of the same shape
        0..1.
    """
    intensities = np.asarray(intensities, np.float32)
    return affinity.levels(intensities, intensities) / TOP_LEVEL
