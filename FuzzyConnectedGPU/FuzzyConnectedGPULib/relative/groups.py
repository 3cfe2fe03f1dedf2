"""Validation of groups of points: one group per object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError

from ..input_errors import SharedVoxelError
from ..input_validation import checked_seeds

MAX_GROUPS = 254
NOBODY, DISPUTED = 0, 255  # owners of voxels; the groups lie between

Groups = Mapping[str, ArrayLike] | Sequence[ArrayLike]


@dataclass(frozen=True)
class CheckedGroups:
    """The points of all groups.

    Attributes
    ----------
    names : tuple of str
        Of the groups; the group of label n has the name ``names[n - 1]``.
    seeds : ndarray, int64, shape (n, 3)
        K, J, I of the points of all groups, each once.
    owners : ndarray, uint8, shape (n,)
        Label of each point's group.
    """

    names: tuple[str, ...]
    seeds: np.ndarray
    owners: np.ndarray


def checked_groups(
    groups: Groups, shape: tuple[int, int, int], mask: np.ndarray | None
) -> CheckedGroups:
    """Validate groups of points.

    Parameters
    ----------
    groups : mapping of str to array_like, or sequence of array_like, shape (n, 3), integers K, J, I
    shape : tuple
        Of the volume: K, J, I.
    mask : ndarray of uint8, of that shape, or None
        Points outside it are dropped.

    Returns
    -------
    CheckedGroups

    Raises
    ------
    InputError
        There is no group, or more than 254; a group has no point inside the volume and the mask;
        two groups have a point on the same voxel.
    """
    groups = _named(groups)
    if not 1 <= len(groups) <= MAX_GROUPS:
        raise InputError(f"There are {len(groups)} groups of points; give 1 to {MAX_GROUPS}.")
    owner_of: dict[tuple[int, ...], int] = {}
    for label, (name, points) in enumerate(groups.items(), start=1):
        for point in _inside(points, name, shape, mask):
            other = owner_of.setdefault(point, label)
            if other != label:
                raise SharedVoxelError(list(groups)[other - 1], name, point)
    seeds = np.array(list(owner_of), np.int64)
    return CheckedGroups(tuple(groups), seeds, np.array(list(owner_of.values()), np.uint8))


def _named(groups: Groups) -> dict[str, ArrayLike]:
    if isinstance(groups, Mapping):
        return {str(name): points for name, points in groups.items()}
    try:
        return {f"group {n}": points for n, points in enumerate(groups, start=1)}
    except TypeError:
        raise InputError(
            f"The groups are {groups!r}; give a list of arrays of points, or a dict from names "
            "to them."
        ) from None


def _inside(
    points: ArrayLike, name: str, shape: tuple[int, int, int], mask: np.ndarray | None
) -> list[tuple[int, ...]]:
    """The points of a group inside the mask."""
    voxels = checked_seeds(points, shape, f"point of {name!r}")
    if mask is not None:
        voxels = voxels[mask[tuple(voxels.T)] > 0]
        if not len(voxels):
            raise InputError(
                f"Every point of {name!r} lies outside the mask: place one inside it, or choose "
                "another mask."
            )
    return list(map(tuple, voxels.tolist()))
