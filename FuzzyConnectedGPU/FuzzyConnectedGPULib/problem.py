"""A connectedness problem in the form that solvers read."""

from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .affinity import GaussianAffinity, estimate_affinity
from .input_validation import LargeValuesError, checked_mask, checked_seeds, checked_volume
from .scene import TOP_LEVEL, level_values

SMALL_INTEGERS = (np.uint8, np.int16, np.uint16)


@dataclass(frozen=True)
class Problem:
    """Voxels, affinity, seeds, mask and cut of one run.

    `voxels` (K, J, I) are uint8, int16, uint16 or float32, C-contiguous; `seeds` (n,) flat indices,
    sorted, each once, inside the mask (uint8, 1 where paths may be); affinities below `cut_level`
    count as 0. `seed_levels` (uint16) is the connectedness that seeds begin with, 65535 where it is
    None: below that a seed is a voxel that a path from elsewhere reaches. Only the exact solvers
    take it.
    """

    voxels: np.ndarray
    affinity: GaussianAffinity
    seeds: np.ndarray
    mask: np.ndarray | None
    cut_level: int
    seed_levels: np.ndarray | None = None

    @property
    def first_seed_levels(self) -> np.ndarray:
        """`seed_levels`, or the highest level for each seed."""
        if self.seed_levels is None:
            return np.full(self.seeds.size, TOP_LEVEL, np.uint16)
        return self.seed_levels

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The papers' look-up tables of an integer volume's affinities.

        Term of the sum of two intensities (float32), from twice the type's lowest value on; term of
        the absolute difference, from 0 on; sum of the first entry. Empty for a float volume.
        """
        if self.voxels.dtype.kind == "f":
            return np.empty(0, np.float32), np.empty(0, np.float32), 0
        return _tables(self.affinity, self.voxels.dtype)


@lru_cache(maxsize=4)
def _tables(affinity: GaussianAffinity, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, int]:
    # Not read-only: the solvers would be compiled once more for such arrays.
    limits = np.iinfo(dtype)
    sums = np.arange(2 * limits.min, 2 * limits.max + 1).astype(np.float32)
    differences = np.arange(limits.max - limits.min + 1).astype(np.float32)
    return affinity.sum_term(sums), affinity.difference_term(differences), 2 * limits.min


def state_problem(
    volume: np.ndarray,
    seeds: Any,
    affinity: GaussianAffinity | None = None,
    cut: float = 0.0,
    mask: np.ndarray | None = None,
) -> Problem:
    """Validate the inputs of `connectedness` and state them as a `Problem`; raises as it does."""
    volume = checked_volume(volume)
    seeds = checked_seeds(seeds, volume.shape)
    mask = checked_mask(mask, volume.shape)
    cut_level = level_of_cut(cut)
    voxels = as_solver_voxels(volume)
    if affinity is None:
        affinity = estimate_affinity(volume, seeds)
    elif not isinstance(affinity, GaussianAffinity):
        raise InputError(f"The affinity is {affinity!r}, but must be a GaussianAffinity.")
    flat_seeds = np.unique(np.ravel_multi_index(seeds.T, volume.shape))
    if mask is not None:
        flat_seeds = flat_seeds[mask.ravel()[flat_seeds] > 0]
        if flat_seeds.size == 0:
            raise InputError(
                "Every seed lies outside the mask: place a seed inside it, or choose another mask."
            )
    return Problem(voxels, affinity, flat_seeds, mask, cut_level)


def as_solver_voxels(volume: np.ndarray) -> np.ndarray:
    """Return the checked volume in one of the types that the solvers are compiled for.

    int32 becomes int16 or uint16 where its values allow it, else float32 (exact up to 2**24);
    float64 becomes float32. Raises `LargeValuesError` if a value is beyond float32.
    """
    if volume.dtype.type in (*SMALL_INTEGERS, np.float32):
        return volume
    low, high = volume.min(), volume.max()
    if volume.dtype.kind == "i":
        for small in SMALL_INTEGERS[1:]:
            if np.iinfo(small).min <= low and high <= np.iinfo(small).max:
                return volume.astype(small)
    elif max(-low, high) > np.finfo(np.float32).max:
        raise LargeValuesError(low, high)
    return volume.astype(np.float32)


def level_of_cut(cut: float) -> int:
    """The lowest level whose affinity is at least `cut` (0..1)."""
    if not isinstance(cut, Real):
        raise InputError(f"The cut is {cut!r}, but must be a number within 0..1.")
    if not 0 <= cut <= 1:
        raise InputError(f"The cut is {cut:g}, but must be within 0..1.")
    return int(np.searchsorted(level_values(np.arange(TOP_LEVEL + 1)), np.float32(cut)))
