"""The skeleton of one component from level to level: grown, thinned and trimmed homotopically."""

from heapq import heappop, heappush

import numpy as np

from FuzzyVesselCoreLib.jit import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import removal_order

from .component_volumes import ComponentVolumes
from .thinning import empty_states, grow, peel, removable, thin, trim

NO_VOXELS = np.empty(0, np.int64)
SKELETON, CURVE, GAP_PATH, SEEN, TAKEN = 1, 2, 4, 8, 16  # states of voxels
FIRST = np.float32(-np.inf)  # key of the voxels of curves
MAX_SEEN = 1 << 18  # voxels from one end, after which the search for a path is given up


class LevelThinning:
    """Thins a component along its traced curves; each level contains the one before.

    All sets of voxels are ascending arrays of flat indices.

    Attributes
    ----------
    anchors : ndarray of int
        Voxels that the skeleton must hold: critical points, endpoints and seeds.
    skeleton : ndarray of int
        After the last `thin`.
    level_voxels : list of int
        Skeleton voxels of each level.
    removable, is_thin : int, bool
        Voxels that could go without a change of topology and are no ends; whether all of these
        belong to the level before, which must stay whole.
    """

    def __init__(self, volumes: ComponentVolumes, characteristic: int) -> None:
        self._volumes, self._shape = volumes, volumes.shape
        self._has_tunnels = characteristic != 1
        self._states = empty_states(volumes.shape)
        self._level = NO_VOXELS  # skeleton of the level before
        self.anchors = self.skeleton = NO_VOXELS
        self.level_voxels: list[int] = []
        self.removable, self.is_thin = 0, True

    def anchor(self, voxels: np.ndarray) -> None:
        """Let the skeleton hold voxels."""
        self.anchors = union(self.anchors, voxels)

    def thin(self, traced: np.ndarray, progress: Progress) -> None:
        """Thin the voxels of traced curves, brought to the object's topology, to the skeleton."""
        voxels = self._start(union(traced, self.anchors, self.skeleton), progress)
        progress.check()
        order = removal_order(self._volumes.depth, voxels)
        stays = membership(voxels, self.anchors, self._level)
        on_curve = membership(voxels, traced)
        skeleton = thin(voxels, order, stays, on_curve, self._shape, self._states)
        progress.check()
        self.skeleton = trim(skeleton, self._level, self._shape, self._states)
        self.anchors = np.intersect1d(self.anchors, self.skeleton, assume_unique=True)

    def end_level(self) -> None:
        """The skeleton is that of a level: it stays whole from now on."""
        self.level_voxels.append(len(self.skeleton))
        voxels = removable(self.skeleton, self._shape, self._states)
        self.removable = len(voxels)
        self.is_thin = bool(np.isin(voxels, self._level, assume_unique=True).all())
        self._level = self.skeleton

    def _start(self, wanted: np.ndarray, progress: Progress) -> np.ndarray:
        """The wanted voxels in the object's topology.

        They are grown from the skeleton of the stage before; where there is none yet, and the
        object has no tunnel, from one voxel. Else they are what is left of the object when all
        others are peeled off.
        """
        start = self.skeleton
        if not self.level_voxels and not self._has_tunnels and len(wanted):
            start = wanted[[np.argmax(removal_order(self._volumes.depth, wanted))]]
        if not len(start):
            return self._peeled(wanted)
        grown = self._grow(start, wanted, self.anchors, progress)
        missed = np.setdiff1d(self.anchors, grown, assume_unique=True)
        if len(missed):
            depth = self._volumes.depth
            paths = gap_paths(grown, wanted, missed, depth, self._states, progress)
            grown = self._grow(grown, union(wanted, paths), wanted, progress)
            missed = np.setdiff1d(self.anchors, grown, assume_unique=True)
        return self._peeled(wanted) if len(missed) else grown

    def _peeled(self, stays):
        volumes, voxels = self._volumes, np.flatnonzero(self._volumes.mask)
        order = removal_order(volumes.depth, voxels)
        return peel(voxels, order, stays, volumes.spacing, self._shape)

    def _grow(self, skeleton, offered, first, progress):
        progress.check()
        order = removal_order(self._volumes.depth, offered)
        is_first = membership(offered, first)
        return grow(skeleton, offered, order, is_first, self._shape, self._states)


def union(*sets: np.ndarray) -> np.ndarray:
    """All voxels of some sets, ascending."""
    return np.unique(np.concatenate(sets))


def membership(voxels: np.ndarray, *sets: np.ndarray) -> np.ndarray:
    """Which voxels are in one of the sets; bool (n,)."""
    return np.isin(voxels, np.concatenate(sets))


def gap_paths(
    skeleton: np.ndarray, curves: np.ndarray, ends: np.ndarray, depth: np.ndarray,
    states: np.ndarray, progress: Progress,
) -> np.ndarray:  # fmt: skip
    """Voxels by which ends are connected with a skeleton, along the middle of the object.

    From each end the deepest voxel adjacent to those that were taken is taken next, those of curves
    before all others, until the skeleton is reached, or the path of an earlier end: voxels that
    thinning by depth would leave to the last. With those adjacent to them all holes can be closed
    that the object does not have. `depth` (K, J, I) is 0 outside of the object.
    """
    states[curves] = CURVE
    states[skeleton] = SKELETON
    _, rows, width = depth.shape
    paths = [skeleton[:0]]
    for end in ends:
        progress.check()
        paths.append(_climb(states, end, MAX_SEEN, depth.reshape(-1), width, rows * width))
    found = union(*paths)
    for voxels in (skeleton, curves, found):
        states[voxels] = 0
    return found


@compiled
def _climb(states, end, max_seen, depth, row, plane):
    """Voxels taken from an end to the skeleton, with those adjacent to them, about `max_seen`."""
    seen, reached = [end], False
    waiting = [(FIRST, end)]
    states[end] |= SEEN
    while not reached and len(waiting) and len(seen) < max_seen:
        here = heappop(waiting)[1]
        reached = _has_neighbour(states, here, row, plane)
        states[here] |= TAKEN
        for n in range(27):
            other = here + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1
            if depth[other] > 0 and not states[other] & SEEN:
                states[other] |= SEEN
                seen.append(other)
                heappush(waiting, (FIRST if states[other] & CURVE else -depth[other], other))
    for voxel in seen:
        if states[voxel] & TAKEN:
            states[voxel] |= GAP_PATH
        states[voxel] &= ~np.uint8(SEEN | TAKEN)
    return np.array(seen)


@compiled_inside
def _has_neighbour(states, voxel, row, plane):
    """Whether a voxel or a neighbour of it is of the skeleton or of an earlier path."""
    for n in range(27):
        other = voxel + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1
        if states[other] & (SKELETON | GAP_PATH):
            return True
    return False
