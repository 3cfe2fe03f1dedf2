"""Intensities around the seeds, from which the affinity is estimated."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..input_validation import checked_seeds


@dataclass(frozen=True)
class SeedStatistics:
    """Intensities at and around each seed, in the volume's unit.

    Attributes
    ----------
    intensity : ndarray, shape (n,), float64
        At the seed.
    mean, deviation : ndarray, shape (n,), float64
        Of the neighbourhood: mean and standard deviation.
    """

    intensity: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray


def neighbourhoods(volume: np.ndarray, seeds: np.ndarray, radius: int) -> list[np.ndarray]:
    """The boxes of voxels around seeds.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
    seeds : ndarray, shape (n, 3), integers K, J, I
        Inside the volume.
    radius : int
        Boxes have ``2 * radius + 1`` voxels a side, cut at the volume's border.

    Returns
    -------
    list of ndarray, float64
        Copies, of three axes.

    Raises
    ------
    InputError
        The radius is no integer of at least 1.
    """
    if not isinstance(radius, Integral) or radius < 1:
        raise InputError(
            f"The neighbourhood's radius is {radius}, but must be an integer of at least 1."
        )
    return [
        volume[tuple(slice(max(c - radius, 0), c + radius + 1) for c in seed)].astype(np.float64)
        for seed in seeds
    ]


def seed_statistics(
    volume: np.ndarray, seeds: np.ndarray | Sequence, radius: int = 2
) -> SeedStatistics:
    """Statistics of the intensities around each seed.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
        Of any numeric type; not copied.
    seeds : array_like, shape (n, 3), integers K, J, I
    radius : int
        See `neighbourhoods`.

    Returns
    -------
    SeedStatistics

    Raises
    ------
    InputError
        There is no seed, one lies outside, or the radius is invalid.
    """
    seeds = checked_seeds(seeds, volume.shape)
    boxes = neighbourhoods(volume, seeds, radius)
    return SeedStatistics(
        volume[tuple(seeds.T)].astype(np.float64),
        np.array([box.mean() for box in boxes]),
        np.array([box.std() for box in boxes]),
    )
