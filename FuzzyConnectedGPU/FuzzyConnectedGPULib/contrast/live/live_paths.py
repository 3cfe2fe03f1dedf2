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

from ..paths.levels import level_of
from ..paths.open_voxels import certainly_low
from ..paths.reached import Reached
from .kept_reach import Kept, KeptReach
from .max_tree import MaxTree, max_tree

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
    ) -> tuple[Reached, Kept]:
        """The same as `paths.widest_paths.widest_paths`; rivals are where smooth > brighter.

        Returns
        -------
        reached : Reached
        kept : Kept
        """
        shape = self._contrast.shape
        ours = np.array([np.ravel_multi_index(s, shape) for s in starts], np.int64)
        tree = self._deep_enough(float(certainly_low(unit, floor)))
        levels = self._once("levels", (unit, floor), lambda: _levels(tree.contrast, unit, floor))
        rivals, theirs = self._rivals(tree, ours, unit, floor, brighter)
        volume = *tree.packed, levels, rivals, theirs, shape
        key = unit, floor, self._kept.get("rivals", (None,))[0] if theirs.size else None
        return self._reach.found(key, ours, volume)

    def prepare(self, contrast: float) -> None:
        """Be ready for paths that are not weaker than a contrast."""
        self._deep_enough(contrast)

    def _deep_enough(self, least: float) -> MaxTree:
        if self._tree is None or self._tree.least > least:
            self._kept.clear()
            self._tree = max_tree(self._contrast, self._inside, SPARE * least)
            self._reach = KeptReach(self._tree.voxels, self._contrast.reshape(-1))
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
        of_tree = np.searchsorted(tree.voxels, ours.astype(np.int32))
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
