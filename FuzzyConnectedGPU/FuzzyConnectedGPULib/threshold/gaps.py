"""Gaps in a wide vessel: single voxels that noise left out."""

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.masks import bounding_box

MAX_ROUNDS = 10


def check_rounds(rounds: int) -> None:
    """Raise `InputError` unless rounds is an integer from 0 to `MAX_ROUNDS`."""
    whole = isinstance(rounds, Integral) and not isinstance(rounds, bool)
    if not whole or not 0 <= rounds <= MAX_ROUNDS:
        raise InputError(
            f"Gaps are filled in {rounds!r} rounds, but it must be a whole number from 0 to "
            f"{MAX_ROUNDS}."
        )


def fill_gaps(
    labels: np.ndarray,
    rounds: int = 1,
    mask: np.ndarray | None = None,
    background_seeds: np.ndarray | Sequence | None = None,
) -> np.ndarray:
    """Add voxels that the object surrounds: those with most of their neighbours in it.

    These are 14 of 26, in a single slice 5 of 8. Nothing is removed. The border of a smooth object
    is unchanged, as a voxel outside of it has at most half of its neighbours inside.

    Parameters
    ----------
    labels : ndarray, shape (K, J, I) or (J, I), uint8, 0 or 1
        The result is a new array, unless nothing can be added.
    rounds : int
        0 to 10, else `InputError`; each uses the result of the one before.
    mask : ndarray of the same shape, optional
        Nothing is added where it is 0, nor at background seeds.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
    """
    check_rounds(rounds)
    if rounds == 0 or not labels.any():
        return labels
    result = labels.copy()
    solid = result.reshape((1,) * (3 - labels.ndim) + labels.shape)  # of a slice (1, J, I)
    majority = 3 ** sum(length > 1 for length in solid.shape) // 2 + 1
    allowed = np.ones(solid.shape, bool)
    if mask is not None:
        allowed &= np.reshape(mask, solid.shape) != 0
    if background_seeds is not None and np.size(background_seeds):
        allowed[tuple(np.reshape(background_seeds, (-1, 3)).T)] = False
    box = bounding_box(solid)  # nothing beyond it can have a majority
    part, allowed = solid[box], allowed[box]
    for _round in range(rounds):
        added = (_neighbours(part) >= majority) & (part == 0) & allowed
        if not added.any():
            break
        part[added] = 1
    return result


def _neighbours(labels: np.ndarray) -> np.ndarray:
    """Number of set voxels among the 27 of each neighbourhood."""
    total = np.pad(labels, 1)
    for axis in range(labels.ndim):
        total = np.moveaxis(total, axis, 0)
        total = np.moveaxis(total[:-2] + total[1:-1] + total[2:], 0, axis)
    return total
