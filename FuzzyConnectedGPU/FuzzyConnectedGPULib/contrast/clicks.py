"""Clicks as the contrast model takes them: inside the mask, each once, and never both kinds."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..input_errors import SameVoxelError
from ..input_validation import checked_seeds


@dataclass(frozen=True)
class Clicks:
    """Voxels (int64, K, J, I) of the vessels, shape (n, 3), and of the background, shape (m, 3)."""

    positive: np.ndarray
    negative: np.ndarray

    def within(self, box: tuple[slice, ...]) -> "Clicks":
        """The clicks in the coordinates of a box; background clicks outside of it are dropped."""
        origin = np.array([s.start for s in box])
        shape = [s.stop - s.start for s in box]
        negative = self.negative - origin
        negative = negative[((negative >= 0) & (negative < shape)).all(axis=1)]
        return Clicks(self.positive - origin, negative)


def checked_clicks(
    seeds: np.ndarray,
    background_seeds: np.ndarray | None,
    mask: np.ndarray | None,
    shape: tuple[int, ...],
) -> Clicks:
    """The seeds inside the mask, each once, in their order, and the background seeds.

    Raises `InputError` where no seed is inside volume and mask, a background seed lies outside the
    volume, or a voxel is both.
    """
    seeds = checked_seeds(seeds, shape)
    positive = np.array(list(dict.fromkeys(map(tuple, seeds.tolist()))), np.int64)
    if mask is not None:
        positive = positive[mask[tuple(positive.T)] > 0]
        if not len(positive):
            raise InputError(
                "Every seed lies outside the mask: place one inside it, or choose another mask."
            )
    negative = np.empty((0, 3), np.int64)
    if background_seeds is not None and np.size(background_seeds):
        checked = checked_seeds(background_seeds, shape, "background seed")
        negative = np.unique(checked, axis=0)
    both = set(map(tuple, positive.tolist())) & set(map(tuple, negative.tolist()))
    if both:
        raise SameVoxelError(min(both))
    return Clicks(positive, negative)
