"""Gaps in a wide vessel: single voxels that noise left out."""

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box

MAX_ROUNDS = 10
MAJORITY = 14  # of the 26 neighbours


def check_rounds(rounds: int) -> None:
    """Raise `InputError` unless rounds is an integer from 0 to `MAX_ROUNDS`."""
    if (
        isinstance(rounds, bool)
        or not isinstance(rounds, Integral)
        or not (0 <= rounds <= MAX_ROUNDS)
    ):
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
    """Add voxels that the object surrounds: those with at least 14 of their 26 neighbours in it.

    Nothing is removed. The border of a smooth object is unchanged, as a voxel outside of it has at
    most 13 neighbours inside; concave borders are rounded.

    Parameters
    ----------
    labels : ndarray, shape (K, J, I), uint8, 0 or 1
    rounds : int
        0 to 10; each uses the result of the one before.
    mask : ndarray, shape (K, J, I), optional
        Nothing is added where it is 0.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
        Nothing is added there.

    Returns
    -------
    ndarray, uint8
        The given array itself where nothing is added.

    Raises
    ------
    InputError
        The number of rounds is invalid.
    """
    check_rounds(rounds)
    if rounds == 0 or not labels.any():
        return labels
    labels = labels.copy()
    box = bounding_box(labels)  # nothing beyond it can have a majority
    part = labels[box]
    allowed = np.ones(part.shape, bool) if mask is None else np.asarray(mask)[box] != 0
    if background_seeds is not None:
        barred = np.zeros(labels.shape, bool)
        barred[tuple(np.asarray(background_seeds).T)] = True
        allowed &= ~barred[box]
    for _round in range(rounds):
        added = (_neighbours(part) >= MAJORITY) & (part == 0) & allowed
        if not added.any():
            break
        part[added] = 1
    return labels


def _neighbours(labels: np.ndarray) -> np.ndarray:
    """Number of set voxels among the 27 of each neighbourhood."""
    total = np.pad(labels, 1)
    for axis in range(labels.ndim):
        total = np.moveaxis(total, axis, 0)
        total = np.moveaxis(total[:-2] + total[1:-1] + total[2:], 0, axis)
    return total
