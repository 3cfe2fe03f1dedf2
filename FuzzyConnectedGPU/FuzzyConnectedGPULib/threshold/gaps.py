"""Gaps that noise leaves in a wide vessel: single voxels whose own intensity is off."""

from numbers import Integral

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box

MOST_ROUNDS = 10
MAJORITY = 14  # of the 26 neighbours


def check_rounds(rounds):
    """Refuse a number of rounds that is no whole number from 0 to `MOST_ROUNDS`."""
    if (
        isinstance(rounds, bool)
        or not isinstance(rounds, Integral)
        or not (0 <= rounds <= MOST_ROUNDS)
    ):
        raise InputError(
            f"Gaps are filled in {rounds!r} rounds, but it must be a whole number from 0 to "
            f"{MOST_ROUNDS}."
        )


def fill_gaps(labels, rounds=1, mask=None, background_seeds=None):
    """Add voxels that the object surrounds: those with at least 14 of their 26 neighbours in it.

    Nothing is taken away. The border of a smooth object stays where it is, as a voxel outside of it
    has at most 13 neighbours inside; where it is bent inwards, it is rounded.

    Parameters
    ----------
    labels : ndarray, shape (K, J, I), uint8, 0 or 1
    rounds : int
        Each looks at what the one before has left, 0 to 10.
    mask : ndarray, shape (K, J, I), optional
        Nothing is added where it is 0.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
        Nothing is added there.

    Returns
    -------
    ndarray, uint8
        The labels themselves where nothing is to be done.

    Raises
    ------
    InputError
        The number of rounds cannot be used.
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


def _neighbours(labels):
    """How many of the 27 voxels of each neighbourhood are set."""
    total = np.pad(labels, 1)
    for axis in range(labels.ndim):
        total = np.moveaxis(total, axis, 0)
        total = np.moveaxis(total[:-2] + total[1:-1] + total[2:], 0, axis)
    return total
