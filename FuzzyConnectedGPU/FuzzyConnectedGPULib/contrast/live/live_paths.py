"""Widest paths of a few starts, while the paths of other objects are kept.

The result is that of `paths.widest_paths`, voxel by voxel. There, starts and other objects (rivals)
spread together, and a voxel belongs to whoever reaches it first, from the highest level down. Here
only the starts spread. Let R(v) be the level of the widest path from any rival, whoever owns its
voxels. Let the starts' paths come from a voxel of level L to its neighbour v for the first time.
Then v belongs to them where no neighbour w has R(w) > L:

- Such a w was reached before, at its level of at least R(w): v belongs to a rival then, since the
  starts' paths would have come from w before if w were theirs.
- Without one, no neighbour was reached at a level above L by anybody else, so the starts are first,
  or tie, and a tie is theirs.

With l(v) the level of v itself, R(v) = min(l(v), max R(w)) says it without a look at the
neighbours, unless R(v) = l(v) <= L.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

from ..paths.open_voxels import certainly_low, level_of
from ..paths.reached import Reached
from ..paths.widest_paths import TOP
from .max_tree import MaxTree, max_tree
from .packed_voxels import number_of, ones, row_of

SPARE = 0.7  # of the contrast that is wanted: a tree that goes deeper serves more starts


class LivePaths:
    """Widest paths through one contrast; from run to run what does not change is kept.

    Parameters
    ----------
    contrast, smooth : ndarray, shape (K, J, I), float32
        Rivals are where `smooth` is above a number.
    inside : ndarray of uint8, same shape, or None
        Paths stay where it is not 0.
    """

    def __init__(self, contrast: np.ndarray, smooth: np.ndarray, inside: np.ndarray | None) -> None:
        self._contrast, self._smooth, self._inside = contrast, smooth, inside
        self._tree: MaxTree | None = None
        self._kept: dict[str, tuple] = {}

    def widest_paths(
        self,
        starts: Sequence[Sequence[int]],
        unit: float,
        floor: int,
        brighter: float | None,
    ) -> Reached:
        """The same as `paths.widest_paths.widest_paths`; rivals are where smooth > brighter."""
        shape = self._contrast.shape
        ours = np.array([np.ravel_multi_index(s, shape) for s in starts], np.int64)
        tree = self._deep_enough(float(certainly_low(unit, floor)))
        levels = self._once("levels", (unit, floor), lambda: _levels(tree.contrast, unit, floor))
        rivals, theirs = self._rivals(tree, ours, unit, floor, brighter)
        voxels = np.empty(tree.voxels.size, np.int64)
        found = np.empty(tree.voxels.size, np.uint16)
        size = _spread(
            ours, *tree.packed, levels, rivals, theirs, np.array(shape, np.int64), voxels, found
        )
        voxels = voxels[:size].copy()
        return Reached(voxels, found[:size].copy(), self._contrast.reshape(-1)[voxels])

    def prepare(self, contrast: float) -> None:
        """Be ready for paths that are not weaker than a contrast."""
        self._deep_enough(contrast)

    def _deep_enough(self, least: float) -> MaxTree:
        if self._tree is None or self._tree.least > least:
            self._kept.clear()
            self._tree = max_tree(self._contrast, self._inside, SPARE * least)
        return self._tree

    def _once(self, name, key, compute):
        """What was computed for the same key, or is now."""
        if name not in self._kept or self._kept[name][0] != key:
            self._kept[name] = key, compute()
        return self._kept[name][1]

    def _rivals(self, tree, ours, unit, floor, brighter):
        """Where rivals start (bool), and the levels of their paths; empty without any."""
        if brighter is None:
            return np.empty(0, bool), np.empty(0, np.uint16)
        smooth = self._once("smooth", (), lambda: self._smooth.reshape(-1)[tree.voxels])
        of_tree = np.searchsorted(tree.voxels, ours)
        of_tree = of_tree[of_tree < tree.voxels.size]
        # A start is no rival, however bright; elsewhere where our starts are does not matter.
        own = of_tree[np.isin(tree.voxels[of_tree], ours) & (smooth[of_tree] > brighter)]

        def start() -> np.ndarray:
            rivals = smooth > np.float32(brighter)
            rivals[own] = False
            return rivals

        key = brighter, tuple(own.tolist())
        rivals = self._once("rivals", key, start)
        widest = self._once("widest", key, lambda: tree.widest_from(rivals))
        theirs = self._once("theirs", (key, unit, floor), lambda: _levels(widest, unit, floor))
        return rivals, theirs


@njit(cache=True, nogil=True)
def _levels(contrast, unit, floor):
    """Levels (uint16) of contrasts; 0 below the floor."""
    levels = np.zeros(contrast.size, np.uint16)
    for n in range(contrast.size):
        if contrast[n] > 0:
            level = level_of(contrast[n], unit)
            levels[n] = level if level >= floor else 0
    return levels


@njit(cache=True, nogil=True)
def _spread(starts, bits, before, levels, rivals, theirs, shape, voxels, found):
    """List the voxels of the starts and their levels; returns how many there are."""
    unseen = bits.copy()
    heads = np.full(TOP + 1, -1, np.int32)
    queued = np.empty((2, 1 << 16), np.int32)  # voxel, and the entry queued before
    bucket, count, size = 0, 0, 0
    for voxel in starts:
        node = number_of(voxel, bits, before)
        word, bit = voxel >> 6, np.uint64(1) << np.uint64(voxel & 63)
        if node >= 0 and levels[node] and unseen[word] & bit:
            unseen[word] &= ~bit
            own = np.int64(levels[node])
            queued[0, count], queued[1, count], heads[own] = voxel, heads[own], count
            count += 1
            bucket = max(bucket, own)
    plane, row = shape[1] * shape[2], shape[2]
    while bucket > 0:
        entry = heads[bucket]
        if entry < 0:
            bucket -= 1
            continue
        heads[bucket] = queued[1, entry]
        voxel = np.int64(queued[0, entry])
        voxels[size], found[size] = voxel, bucket
        size += 1
        if queued.shape[1] - count < 27:
            larger = np.empty((2, 2 * queued.shape[1]), np.int32)
            larger[:, :count] = queued[:, :count]
            queued = larger
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        low = max(i - 1, 0)
        span = min(i + 1, row - 1) - low + 1
        for ok in range(max(k - 1, 0), min(k + 2, shape[0])):
            for oj in range(max(j - 1, 0), min(j + 2, shape[1])):
                first = ok * plane + oj * row + low
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
                    if level == 0:
                        continue
                    if theirs.size and _is_theirs(
                        other, node, level, bucket, bits, before, rivals, theirs, shape
                    ):
                        continue
                    level = min(level, bucket)
                    queued[0, count], queued[1, count], heads[level] = other, heads[level], count
                    count += 1
    return size


@njit(cache=True, nogil=True)
def _is_theirs(voxel, node, level, reached, bits, before, rivals, theirs, shape):
    """Whether a voxel that the starts come to at a level belongs to rivals."""
    if rivals[node]:
        return True
    own = np.int64(theirs[node])
    if own < level or level > reached:
        return own > reached
    plane, row = shape[1] * shape[2], shape[2]
    k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
    low = max(i - 1, 0)
    span = min(i + 1, row - 1) - low + 1
    for ok in range(max(k - 1, 0), min(k + 2, shape[0])):
        for oj in range(max(j - 1, 0), min(j + 2, shape[1])):
            first = ok * plane + oj * row + low
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
