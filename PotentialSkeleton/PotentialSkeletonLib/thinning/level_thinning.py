"""The skeleton of one component from level to level: grown, thinned and trimmed homotopically."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..component_volumes import ComponentVolumes
from .gap_paths import gap_paths
from .growing import grow
from .thinning import empty_states, thin
from .trimming import removable, trim

NO_VOXELS = np.empty(0, np.int64)


class LevelThinning:
    """Thins a component along its traced curves; each level contains the one before.

    All sets of voxels are ascending arrays of flat indices.

    Parameters
    ----------
    volumes : ComponentVolumes
        With `depths`.
    characteristic : int
        The component's Euler characteristic.

    Attributes
    ----------
    anchors : ndarray of int
        Voxels that the skeleton keeps: critical points, endpoints and seeds.
    skeleton : ndarray of int
        After the last `thin`.
    level_voxels : list of int
        Skeleton voxels of each level.
    removable : int
        Voxels that could go without a change of topology and are no ends.
    is_thin : bool
        Whether all of these belong to the level before, which must stay whole.
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
        """Let the skeleton keep voxels."""
        self.anchors = union(self.anchors, voxels)

    def thin(self, traced: np.ndarray, progress: Progress) -> np.ndarray:
        """Thin the voxels of traced curves, brought to the object's topology.

        Returns
        -------
        ndarray of int
            The skeleton.
        """
        voxels = self._start(union(traced, self.anchors, self.skeleton), progress)
        progress.check()
        order = self._volumes.removal_order(voxels)
        progress.check()
        kept = membership(voxels, self.anchors, self._level)
        on_curve = membership(voxels, traced)
        skeleton = thin(voxels, order, kept, on_curve, self._shape, progress, self._states)
        progress.check()
        self.skeleton = trim(skeleton, self._level, self._shape, self._states)
        self.anchors = np.intersect1d(self.anchors, self.skeleton, assume_unique=True)
        return self.skeleton

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
            start = wanted[[np.argmax(self._volumes.removal_order(wanted))]]
        if not len(start):
            return self._volumes.peeled(wanted, progress)
        grown = self._grow(start, wanted, self.anchors, progress)
        missed = np.setdiff1d(self.anchors, grown, assume_unique=True)
        if len(missed):
            depths = self._volumes.depths
            paths = gap_paths(grown, wanted, missed, depths, self._states, progress)
            grown = self._grow(grown, union(wanted, paths), wanted, progress)
            missed = np.setdiff1d(self.anchors, grown, assume_unique=True)
        return self._volumes.peeled(wanted, progress) if len(missed) else grown

    def _grow(
        self, skeleton: np.ndarray, offered: np.ndarray, first: np.ndarray, progress: Progress
    ) -> np.ndarray:
        progress.check()
        order = self._volumes.removal_order(offered)
        is_first = membership(offered, first)
        return grow(skeleton, offered, order, is_first, self._shape, self._states)


def union(*sets: np.ndarray) -> np.ndarray:
    """All voxels of some sets, ascending."""
    voxels = np.sort(np.concatenate(sets))
    is_new = np.ones(len(voxels), bool)
    is_new[1:] = voxels[1:] != voxels[:-1]
    return voxels[is_new]


def membership(voxels: np.ndarray, *sets: np.ndarray) -> np.ndarray:
    """Which voxels, ascending, at least one, are in one of the sets; bool (n,)."""
    found = np.zeros(len(voxels), bool)
    for some in sets:
        at = np.minimum(np.searchsorted(voxels, some), len(voxels) - 1)
        found[at[voxels[at] == some]] = True
    return found
