"""Labels of a scene that is divided step by step: only what changes is written again.

Labels ask for the owners of the voxels of the threshold, and where these are reached by strong
paths, faint voxels decide on none of them. Let every voxel of the scene that paths reach with a
contrast of at least c be followed, and let a voxel have a path from some point at a level that such
contrasts have. Its strongest paths pass voxels of that level alone, and each of them is connected
with it at that level, so it was followed, too. So its owner, and the owners of the disputed voxels
on its strongest paths, are those of the whole scene. `Uncertain` is raised where a labelled voxel
has no such path, or where faint clicks have added voxels that no path reaches: the whole scene has
to be followed then.
"""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ...contrast.live.live_labels import lowest_level
from ...contrast.live.touched import Box
from ...relative.contrast_division import STEPS
from .kept_division import KeptDivision
from .listed_labels import paint, survey, weakest
from .painted import Painted


class Uncertain(Exception):
    """What was followed does not say whose a labelled voxel is."""


class KeptLabels(KeptDivision):
    """A division, and the labels of one scene after the other.

    Attributes
    ----------
    uncertain : bool
        Whether the whole scene was asked for once; mostly it is for the next positions, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.uncertain = False
        self._painted = Painted(0, ())
        self._strong: tuple = (None, 0, None)

    def box(self, threshold: np.float32, share_all: bool, progress: Progress) -> Box:
        """A box that holds the voxels of at least a threshold, all of which are somebody's then.

        Labelled voxels without contrast go to the vessel that is the fewest steps away.

        Parameters
        ----------
        threshold : float32
        share_all : bool
            Whether fainter voxels go to a vessel, too.
        progress : Progress

        Raises
        ------
        Uncertain
            The whole scene may give a labelled voxel to another vessel.
        """
        self._choose(lowest_level(float(threshold)))
        shape = np.array(self._scene.shape, np.int64)
        ends = np.stack([shape, np.zeros(3, np.int64)], axis=1)
        volume = self._scene.reshape(-1), threshold
        key = (*self._evidence.scene.base, float(threshold))
        painted = self._painted
        follows = self._other is not None and not self._loses
        follows = follows and painted.follows(self._step, key)
        self._old = painted if follows else Painted(self._step, key)
        strong, others = self._chosen
        given = *volume, self._kept.owners, shape, ends
        if not follows:
            self._old.unowned = survey(strong, *given)
        unowned = survey(others, *given) or self._old.unowned
        if self._evidence.floor:
            contrast = self._evidence.followed / self._evidence.noise
            least = int(np.ceil(contrast * STEPS)) + 1
            levels = [weakest(each, *volume, self._kept.levels) for each in self._chosen]
            if self._evidence.added or min(levels) < least:
                raise Uncertain
        elif unowned or share_all:
            self._share(progress)
        return self._old.widened(ends)

    def _choose(self, level: int) -> None:
        """List the voxels that may be labelled: of the kept paths, those that are strong enough."""
        paths = self._evidence.touched.kept
        if self._strong[0] is not paths or self._strong[1] != level:
            self._strong = paths, level, paths.voxels[paths.levels >= level]
        self._chosen = self._strong[2], self._lists[1]

    def labels(self, threshold: np.float32, box: Box, names: np.ndarray) -> np.ndarray:
        """The names (uint8) of the owners of the voxels of at least a threshold, in a box."""
        volume = self._scene.reshape(-1), threshold, self._kept.owners, names
        shape = np.array(self._scene.shape, np.int64)
        labels = self._old.begun(box, names)
        lists: tuple[np.ndarray, ...] = self._chosen
        if labels is None:
            labels = np.zeros([side.stop - side.start for side in box], np.uint8)
        else:
            assert self._other is not None
            lists = self._other, self._given, self._shared
        origin = np.array([side.start for side in box])
        for voxels in lists:
            paint(voxels, *volume, shape, origin, labels)
        self._old.step, self._old.box, self._old.names = self._step, box, names
        self._old.labels, self._painted = labels, self._old
        return labels.copy()
