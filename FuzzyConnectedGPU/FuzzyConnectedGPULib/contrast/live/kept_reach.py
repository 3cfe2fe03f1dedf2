"""Paths of the starts that stay are kept; those of a start that moves are added to them.

Where the rivals are the same, starts compete for no voxel with one another: a voxel's level is the
highest that one of the starts alone gives it, 0 where a rival is first. For let the paths of
several starts come to v for the first time at level L. If no neighbour w has R(w) > L (see
`live_paths`), the start whose path that is has v alone, too, at the same level; and if there is
one, no other start alone, at a lower level, has v either. So a further start's paths are followed
only where they are stronger than those that are known.
"""

from typing import Any, NamedTuple

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled
from FuzzyVesselCoreLib.voxels.neighbourhood import rows_around

from ..paths.reached import Reached
from ..paths.widest_paths import TOP
from .packed_voxels import number_of, ones, row_of


class Kept(NamedTuple):
    """What is the same from one run to the next.

    Attributes
    ----------
    paths : Reached
        Of the starts that stay: the first voxels of what is reached. The same object again as long
        as they stay.
    raised : ndarray, int64
        All voxels (flat indices) that have another level.
    levels : ndarray, uint16
        Theirs.
    """

    paths: Reached
    raised: np.ndarray
    levels: np.ndarray


class KeptReach:
    """What the starts that stay reach; the same object as long as nothing changes.

    Parameters
    ----------
    voxels : ndarray, int32
        Flat indices of the voxels that paths may pass, ascending.
    contrast : ndarray, float32, one-dimensional
        Of the volume.
    """

    def __init__(self, voxels: np.ndarray, contrast: np.ndarray) -> None:
        self._voxels, self._contrast = voxels, contrast
        self._key: object = None
        self._base: tuple[frozenset[int], Reached]
        # .. and the voxels that others raise, and their levels.
        self._last: tuple[frozenset[int], Reached, np.ndarray, np.ndarray]

    def found(self, key: object, starts: np.ndarray, volume: tuple) -> tuple[Reached, "Kept"]:
        """What starts reach, and what of it is kept.

        Parameters
        ----------
        key : object
            Of the volume: paths are kept while it is equal.
        starts : ndarray, int64
            Flat indices.
        volume : tuple
            Of `_spread`: bits, before, levels, rivals, theirs, shape.
        """
        wanted = frozenset(starts.tolist())
        if key != self._key:
            self._begin(wanted, volume)
        elif wanted != self._last[0] and not self._base[0] <= wanted:
            self._begin(wanted & self._last[0] or wanted, volume)
        self._key = key
        if wanted != self._last[0]:
            self._last = wanted, *self._with(wanted - self._base[0], volume)
        return self._last[1], Kept(self._base[1], *self._last[2:])

    def _begin(self, starts: frozenset[int], volume: tuple) -> None:
        """Keep the paths of starts."""
        self._key = None  # if this fails
        count = volume[2].size
        self._levels = np.zeros(count, np.uint16)  # of the kept paths, by the voxels' numbers
        self._places = np.full(count, -1, np.int32)  # in the list of what is reached
        bits, before = volume[:2]
        reached, levels = self._spread(starts, volume)
        _keep(reached, levels, bits, before, self._levels)
        nodes = np.flatnonzero(self._levels)  # in their order, they are read and written faster
        self._places[nodes] = np.arange(nodes.size)
        voxels = self._voxels[nodes].astype(np.int64)
        ours = Reached(voxels, self._levels[nodes], self._contrast[voxels])
        self._base, self._last = (starts, ours), (starts, ours, voxels[:0], ours.levels[:0])

    def _with(
        self, starts: frozenset[int], volume: tuple
    ) -> tuple[Reached, np.ndarray, np.ndarray]:
        """The kept paths and those of further starts; the voxels that these raise, their levels."""
        kept = self._base[1]
        voxels, levels = self._spread(starts, volume)
        if not voxels.size:
            return kept, voxels, levels
        higher, new = kept.levels.copy(), np.empty(voxels.size, np.bool_)
        _raise(voxels, levels, *volume[:2], self._places, higher, new)
        more = voxels[new]
        reached = Reached(
            np.concatenate([kept.voxels, more]),
            np.concatenate([higher, levels[new]]),
            np.concatenate([kept.contrast, self._contrast[more]]),
        )
        return reached, voxels, levels

    def _spread(self, starts: frozenset[int], volume: Any) -> tuple[np.ndarray, np.ndarray]:
        bits, before, levels, rivals, theirs, shape = volume
        first = np.array(sorted(starts), np.int64)
        return _spread(first, bits, before, levels, rivals, theirs, shape, self._levels)


@compiled
def _keep(voxels, levels, bits, before, kept):
    for n in range(voxels.size):
        kept[number_of(voxels[n], bits, before)] = levels[n]


@compiled
def _raise(voxels, levels, bits, before, places, kept, new):
    """Raise kept levels; says which voxels have none."""
    for n in range(voxels.size):
        place = places[number_of(voxels[n], bits, before)]
        new[n] = place < 0
        if place >= 0:
            kept[place] = levels[n]


@compiled
def _spread(starts, bits, before, levels, rivals, theirs, shape, kept):
    """The voxels in which paths of the starts are stronger than kept ones, and their levels."""
    voxels, found = np.empty(1 << 16, np.int64), np.empty(1 << 16, np.uint16)
    unseen = bits.copy()
    heads = np.full(TOP + 1, -1, np.int32)
    queued = np.empty((2, 1 << 16), np.int32)  # voxel, and the entry queued before
    bucket, count, size = 0, 0, 0
    for voxel in starts:
        node = number_of(voxel, bits, before)
        word, bit = voxel >> 6, np.uint64(1) << np.uint64(voxel & 63)
        if node >= 0 and levels[node] > kept[node] and unseen[word] & bit:
            unseen[word] &= ~bit
            own = np.int64(levels[node])
            queued[0, count], queued[1, count], heads[own] = voxel, heads[own], count
            count += 1
            bucket = max(bucket, own)
    volume = bits, before, rivals, theirs, shape
    while bucket > 0:
        entry = heads[bucket]
        if entry < 0:
            bucket -= 1
            continue
        heads[bucket] = queued[1, entry]
        voxel = np.int64(queued[0, entry])
        if size == voxels.size:
            voxels, found = doubled(voxels), doubled(found)
        voxels[size], found[size] = voxel, bucket
        size += 1
        if queued.shape[1] - count < 27:
            larger = np.empty((2, 2 * queued.shape[1]), np.int32)
            larger[:, :count] = queued[:, :count]
            queued = larger
        planes, rows, low, span = rows_around(voxel, shape)
        for k in range(*planes):
            for j in range(*rows):
                first = (k * shape[1] + j) * shape[2] + low
                near = row_of(first, span, unseen)
                if not near:
                    continue
                for step in range(span):
                    if not (near >> np.uint64(step)) & np.uint64(1):
                        continue
                    other = first + step
                    unseen[other >> 6] &= ~(np.uint64(1) << np.uint64(other & 63))
                    node = number_of(other, bits, before)
                    level = np.int64(levels[node])
                    if min(level, bucket) <= kept[node]:
                        continue
                    is_new = theirs.size and kept[node] == 0
                    if is_new and _is_theirs(other, node, level, bucket, *volume):
                        continue
                    level = min(level, bucket)
                    queued[0, count], queued[1, count], heads[level] = other, heads[level], count
                    count += 1
    return voxels[:size].copy(), found[:size].copy()


@compiled_inside
def _is_theirs(voxel, node, level, reached, bits, before, rivals, theirs, shape):
    """Whether a voxel that the starts come to at a level belongs to rivals."""
    if rivals[node]:
        return True
    own = np.int64(theirs[node])
    if own < level or level > reached:
        return own > reached
    planes, rows, low, span = rows_around(voxel, shape)
    for k in range(*planes):
        for j in range(*rows):
            first = (k * shape[1] + j) * shape[2] + low
            near = row_of(first, span, bits)
            if not near:
                continue
            while not near & np.uint64(1):
                near >>= np.uint64(1)
                first += 1
            other = np.int64(number_of(first, bits, before))
            for _ in range(ones(near)):  # the numbers of a row go up by one
                if theirs[other] > reached:
                    return True
                other += 1
    return False
