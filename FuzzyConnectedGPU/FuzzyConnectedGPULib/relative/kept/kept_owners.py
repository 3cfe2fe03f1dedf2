"""Owners by iterative relative connectedness that are kept while points and voxels change.

They are those of `listed_owners`, in arrays of the volume's shape. Only what changes is looked at:
levels first (`changed_levels`), then owners (`changed_owners`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.voxels.large_arrays import zeros

from .changed_levels import POINT, change_levels
from .changed_owners import change_owners


class KeptOwners:
    """Levels and owners of voxels, which follow changes of capacities and points.

    Parameters
    ----------
    shape : (K, J, I)

    Attributes
    ----------
    capacities, levels : ndarray, uint16, one-dimensional
        Of all voxels; 0 at first.
    owners : ndarray, uint8, one-dimensional
    """

    def __init__(self, shape: Sequence[int]) -> None:
        size = int(np.prod(shape))
        self._shape = tuple(int(n) for n in shape)
        self.capacities, self.levels = zeros((size,), np.uint16), zeros((size,), np.uint16)
        self.owners, self._flags = zeros((size,), np.uint8), zeros((size,), np.uint8)
        self.points: dict[int, int] = {}

    def begin(
        self,
        voxels: np.ndarray,
        capacities: np.ndarray,
        levels: np.ndarray,
        owners: np.ndarray,
        points: dict[int, int],
    ) -> None:
        """Take what was found for a list of voxels; all others have capacity 0, as at first.

        Parameters
        ----------
        voxels : ndarray, int
            Flat indices, each once.
        capacities, levels, owners : ndarray
            Of each.
        points : dict of int to int
            As of `change`; all are in the list.
        """
        self.capacities[voxels], self.levels[voxels] = capacities, levels
        self.owners[voxels] = owners
        self.points = dict(points)
        self._flags[list(points)] = POINT

    def clear(self, voxels: np.ndarray) -> None:
        """Forget voxels: among them are all that have capacity, and the points."""
        for values in (self.capacities, self.levels, self.owners, self._flags):
            values[voxels] = 0
        self.points = {}

    def change(
        self, voxels: np.ndarray, wanted: np.ndarray, points: dict[int, int], limit: int
    ) -> tuple[np.ndarray, bool] | None:
        """Give voxels other capacities, and all groups their points.

        Parameters
        ----------
        voxels, wanted : ndarray, int64 and uint16
            Flat indices, each once, and their capacities from now on.
        points : dict of int to int
            Flat indices of all points, and their groups.
        limit : int
            Where more levels change, another way is faster.

        Returns
        -------
        changed : ndarray, int64
            The voxels that have another owner now.
        lost : bool
            Whether a voxel that has capacity may be nobody's now. None instead of both where more
            levels change than the limit; `clear` and `begin` have to follow.
        """
        before = self.points
        removed = [at for at in before if at not in points]
        added = [at for at in points if at not in before]
        other = [at for at in points if at in before and before[at] != points[at]]
        for at in (*added, *other):
            self.owners[at] = points[at]
        self.points = dict(points)
        gone, new = np.array(removed, np.int64), np.array(added, np.int64)
        risen = wanted > self.capacities[voxels]
        self.capacities[voxels[risen]] = wanted[risen]
        more = np.concatenate([new, voxels[risen]])
        volume: Any = (self.capacities, self.levels, self._flags, self._shape)
        changed, levels = change_levels(voxels, wanted, gone, new, more, limit, *volume)
        if changed.size > limit:
            return None
        told = np.array([*removed, *added, *other], np.int64)
        told_of: Any = (changed, levels, told, voxels, *volume, self.owners)
        return change_owners(*told_of)
