"""A scene divided among vessels where it matters: on a list of its voxels.

Labels ask for the owners of the voxels of the threshold, and where these are reached by strong
paths, faint voxels decide on none of them. Let every voxel of the scene that paths reach with a
contrast of at least c be followed, and let a voxel have a path from some point at a level that such
contrasts have. Its strongest paths pass voxels of that level alone, and each of them is connected
with it at that level, so it was followed, too. So its owner, and the owners of the disputed voxels
on its strongest paths, are those of the whole scene. `Uncertain` is raised where a labelled voxel
has no such path, or where faint clicks have added voxels that no path reaches: the whole scene has
to be followed then.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ...contrast.live.packed_voxels import PackedVoxels, listed, number_of_each, packed_list
from ...relative import listed_owners
from ...relative.contrast_division import STEPS, steps_of_noise
from ...relative.groups import NOBODY, checked_groups
from ..division import share_unowned, with_ridges

if TYPE_CHECKING:
    from ...contrast.evidence.evidence import Evidence
    from ...contrast.live.live_evidence import LiveEvidence


class Uncertain(Exception):
    """What was followed does not say whose a labelled voxel is."""


class ListedDivision:
    """The voxels of a scene, and the vessel of each; see `division.divide_by_contrast`.

    Parameters
    ----------
    evidence : LiveEvidence
        That the scene was computed on just now.
    scene : ndarray, float32, of the evidence's shape
    vessels : mapping of str to ndarray, shape (n, 3)
        K, J, I of the volume.
    background : ndarray, shape (m, 3)
        One more group, if there is any.

    Attributes
    ----------
    voxels : ndarray, int32
        Flat indices, ascending: those of the scene, and the points.
    values : ndarray, float32
        Of the scene.
    owners : ndarray, uint8
        As of `divide_by_contrast`, once `share` was called.
    """

    def __init__(
        self,
        evidence: "LiveEvidence",
        scene: np.ndarray,
        vessels: Mapping[str, np.ndarray],
        background: np.ndarray,
    ) -> None:
        self._evidence, self._shape = evidence, scene.shape
        groups = with_ridges(cast("Evidence", evidence), vessels, background)
        whole = [side.stop for side in self._evidence.box]
        checked = checked_groups(groups, (whole[0], whole[1], whole[2]), None)
        places = (checked.seeds - self._evidence.origin).T
        points = np.ravel_multi_index(tuple(places), scene.shape)
        packed, self.voxels = self._domain(scene, points)
        self.values = scene.reshape(-1)[self.voxels]
        numbers = number_of_each(points, packed)
        contrast = self._evidence.contrast.ravel()[self.voxels]
        capacities = steps_of_noise(contrast, self._evidence.noise)
        self._inside = self.values > 0
        self._inside[numbers] = True
        if self._evidence.inside is not None:
            self._inside &= self._evidence.inside.reshape(-1)[self.voxels] > 0
        capacities[~self._inside] = 0
        self._levels, self.owners = listed_owners.solve(
            packed, self.voxels, capacities, scene.shape, numbers, checked.owners
        )
        self.owners[~self._inside] = NOBODY

    def _domain(self, scene: np.ndarray, points: np.ndarray) -> tuple[PackedVoxels, np.ndarray]:
        """The voxels that the scene was written to, and the points."""
        lists = [*self._evidence.touched.written(scene), points]
        packed = packed_list(lists, scene.size)
        return packed, listed(packed)

    def check(self, labelled: np.ndarray) -> None:
        """Raise `Uncertain` where the whole scene may give a labelled voxel to another vessel.

        Parameters
        ----------
        labelled : ndarray of bool
            One for each of the voxels.
        """
        contrast = self._evidence.followed / self._evidence.noise
        least = int(np.ceil(contrast * STEPS)) + 1
        if self._evidence.added or (self._levels[labelled] < least).any():
            raise Uncertain

    def share(self, labelled: np.ndarray, progress: Progress) -> None:
        """Give labelled voxels without contrast to the vessel that is the fewest steps away.

        Parameters
        ----------
        labelled : ndarray of bool
        progress : Progress
        """
        free = self._inside & (self.owners == NOBODY)
        if not (labelled & free).any():
            return
        ends = _ends(self.voxels[free], self._shape)
        origin, last = np.maximum(ends[0] - 1, 0), np.minimum(ends[1] + 2, self._shape)
        plane = self._shape[1] * self._shape[2]
        slab = slice(*np.searchsorted(self.voxels, [origin[0] * plane, last[0] * plane]))
        at = np.stack(np.unravel_index(self.voxels[slab], self._shape), axis=1)
        near = np.all((at >= origin) & (at < last), axis=1)
        place, numbers = tuple((at[near] - origin).T), np.flatnonzero(near) + slab.start
        owners, inside = (np.zeros(last - origin, np.uint8) for _ in range(2))
        owners[place], inside[place] = self.owners[numbers], self._inside[numbers]
        self.owners[numbers] = share_unowned(owners, inside > 0, progress)[place]


def _ends(voxels: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The lowest and the highest K, J, I of voxels (flat indices)."""
    at = np.stack(np.unravel_index(voxels, tuple(shape)))
    return np.stack([at.min(axis=1), at.max(axis=1)])
