"""Owners by iterative relative connectedness that are kept while points and voxels change.

They are those of `listed_owners`, in arrays of the volume's shape. Only what changes is looked at:
levels first (`changed_levels`), then owners, from the highest level down. Connected voxels of one
level (a plateau) have one owner: what comes to it along optimal edges from higher levels and from
points. A plateau is looked at where its level is new, or where a neighbour's level or owner has
changed in a way that it sees; where its owner stays, nothing further is looked at.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.growing_arrays import doubled
from FuzzyVesselCoreLib.voxels.large_arrays import zeros

from ..affinity.levels import TOP_LEVEL
from .bucket_queue import empty_queue, push
from .changed_levels import LISTED, POINT, QUEUED, SEEN, change_levels, neighbours
from .disputed import joined
from .groups import NOBODY


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
        self._shape = np.array(shape, np.int64)
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
        lists = [np.array(each, np.int64) for each in (removed, added)]
        volume = self.capacities, self.levels, self._flags, self._shape
        changed, levels = change_levels(voxels, wanted, *lists, limit, *volume)
        if changed.size > limit:
            return None
        told = np.array([*removed, *added, *other], np.int64)
        return _change_owners(changed, levels, told, voxels, *volume, self.owners)


@njit(cache=True, nogil=True)
def _change_owners(changed, before, told, voxels, capacities, levels, flags, shape, owners):
    """Owners where levels, points (told) or capacities of points have changed; see `change`."""
    near = np.empty(26, np.int64)
    heads, queued, below, entries = empty_queue()
    top, lost = 0, False
    for n in range(changed.size + told.size + voxels.size):
        low, high = 0, np.int64(0)
        if n < changed.size:
            voxel = changed[n]
            flags[voxel] &= ~np.uint8(LISTED)
            own = np.int64(levels[voxel])
            if own == before[n] and not flags[voxel] & POINT:
                continue
            now = min(own, np.int64(capacities[voxel]))
            low, high = min(now, np.int64(before[n])), max(now, np.int64(before[n]))
            if not flags[voxel] & POINT:
                if own == 0:
                    owners[voxel] = NOBODY
                    lost |= capacities[voxel] > 0
                elif not flags[voxel] & QUEUED:
                    flags[voxel] |= QUEUED
                    queued, below, entries = push(heads, queued, below, entries, own, voxel)
                    top = max(top, own)
        elif n < changed.size + told.size:
            voxel = told[n - changed.size]
            own, high = np.int64(levels[voxel]), np.int64(TOP_LEVEL)
            if not flags[voxel] & POINT:
                if own == 0:
                    owners[voxel] = NOBODY
                    lost |= capacities[voxel] > 0
                elif not flags[voxel] & QUEUED:
                    flags[voxel] |= QUEUED
                    queued, below, entries = push(heads, queued, below, entries, own, voxel)
                    top = max(top, own)
        else:
            voxel = voxels[n - changed.size - told.size]
            if not flags[voxel] & POINT:
                continue
            high = np.int64(TOP_LEVEL)
        for m in range(neighbours(voxel, shape, near)):
            other = near[m]
            its = np.int64(levels[other])
            if low < its <= high and not flags[other] & (POINT | QUEUED):
                flags[other] |= QUEUED
                queued, below, entries = push(heads, queued, below, entries, its, other)
                top = max(top, its)
    plateau, done_with, done_count = np.empty(1 << 10, np.int64), np.empty(1 << 10, np.int64), 0
    others, other_count = np.empty(1 << 10, np.int64), 0
    level = top
    while level > 0:
        entry = heads[level]
        if entry < 0:
            level -= 1
            continue
        heads[level] = below[entry]
        start = queued[entry]
        flags[start] &= ~np.uint8(QUEUED)
        if flags[start] & SEEN:
            continue
        plateau[0], size, done, owner = start, 1, 0, np.uint8(NOBODY)
        flags[start] |= SEEN
        while done < size:
            voxel = plateau[done]
            done += 1
            if plateau.size - size < 26:
                plateau = doubled(plateau)
            for m in range(neighbours(voxel, shape, near)):
                other = near[m]
                its = levels[other]
                if its < level or capacities[other] < level:
                    continue
                if its > level or flags[other] & POINT:
                    owner = joined(owner, owners[other])
                elif not flags[other] & SEEN:
                    flags[other] |= SEEN
                    plateau[size] = other
                    size += 1
        if done_with.size - done_count < size:
            longer = np.empty(2 * (done_count + size), np.int64)
            longer[:done_count] = done_with[:done_count]
            done_with = longer
        for n in range(size):
            voxel = plateau[n]
            done_with[done_count] = voxel
            done_count += 1
            if owners[voxel] == owner:
                continue
            owners[voxel] = owner
            if other_count == others.size:
                others = doubled(others)
            others[other_count] = voxel
            other_count += 1
            for m in range(neighbours(voxel, shape, near)):
                other = near[m]
                its = np.int64(levels[other])
                if 0 < its < level and not flags[other] & (POINT | QUEUED):
                    flags[other] |= QUEUED
                    queued, below, entries = push(heads, queued, below, entries, its, other)
    for n in range(done_count):
        flags[done_with[n]] &= ~np.uint8(SEEN)
    return others[:other_count].copy(), lost
