"""A scene divided among vessels step by step: only what changes from one step to the next.

The voxels of a scene are those of paths that are kept, all of them, and a few others: what a moved
point reaches, and what faint clicks add. As long as the same paths are kept, capacities change among
the others of two steps alone, and `KeptOwners` follows. Where other paths are kept, all voxels are
divided by `listed_owners`.

Labels ask for the owners of the voxels of the threshold, and where these are reached by strong
paths, faint voxels decide on none of them. Let every voxel of the scene that paths reach with a
contrast of at least c be followed, and let a voxel have a path from some point at a level that such
contrasts have. Its strongest paths pass voxels of that level alone, and each of them is connected
with it at that level, so it was followed, too. So its owner, and the owners of the disputed voxels
on its strongest paths, are those of the whole scene. `Uncertain` is raised where a labelled voxel
has no such path, or where faint clicks have added voxels that no path reaches: the whole scene has
to be followed then.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ...contrast.live.packed_voxels import listed, number_of_each, packed_list
from ...relative import listed_owners
from ...relative.contrast_division import STEPS, steps_of_noise
from ...relative.groups import NOBODY, checked_groups
from ...relative.kept_owners import KeptOwners
from ..division import share_unowned, with_ridges

if TYPE_CHECKING:
    from ...contrast.evidence.evidence import Evidence
    from ...contrast.live.live_evidence import LiveEvidence


class Uncertain(Exception):
    """What was followed does not say whose a labelled voxel is."""


class KeptDivision:
    """The vessel of each voxel of a scene, for one scene after the other on the same evidence.

    The owners are those of `division.divide_by_contrast`.

    Attributes
    ----------
    voxels : ndarray, int64
        Flat indices of the voxels of the scene and the points; some are listed several times.
    owners : ndarray, uint8
        Of each, as of `divide_by_contrast` once `share` was called.
    uncertain : bool
        Whether `check` has failed.
    """

    def __init__(self) -> None:
        self.uncertain = False
        self._owners: KeptOwners | None = None
        self._paths: np.ndarray | None = None
        self._others = np.empty(0, np.int64)

    def divide(
        self,
        evidence: "LiveEvidence",
        scene: np.ndarray,
        vessels: Mapping[str, np.ndarray],
        background: np.ndarray,
    ) -> None:
        """Divide another scene.

        Parameters
        ----------
        evidence : LiveEvidence
            That the scene was computed on just now.
        scene : ndarray, float32, of the evidence's shape
        vessels : mapping of str to ndarray, shape (n, 3)
            K, J, I of the volume.
        background : ndarray, shape (m, 3)
            One more group, if there is any.
        """
        self._evidence, self._shape = evidence, scene.shape
        groups = with_ridges(cast("Evidence", evidence), vessels, background)
        whole = [side.stop for side in evidence.box]
        checked = checked_groups(groups, (whole[0], whole[1], whole[2]), None)
        places = (checked.seeds - evidence.origin).T
        flat = np.ravel_multi_index(tuple(places), scene.shape).astype(np.int64)
        inside = evidence.inside
        if inside is not None:
            within = inside.reshape(-1)[flat] > 0
            flat, owners = flat[within], checked.owners[within]
        else:
            owners = checked.owners
        points = dict(zip(flat.tolist(), owners.tolist()))
        touched = evidence.touched
        others = np.concatenate([touched.others(scene), flat])
        kept, paths = self._owners, self._paths
        self._paths = None  # until this has succeeded
        if kept is None:
            kept = self._owners = KeptOwners(scene.shape)
        if touched.cleared or touched.kept is not paths:
            self._begin(kept, touched.written(scene), points)
        else:
            self._follow(kept, scene, others, points)
        if not touched.cleared:
            self._paths, self._others = touched.kept, others
        self.voxels = np.concatenate([touched.kept, others])
        self.owners = kept.owners[self.voxels]

    def _capacities(self, voxels: np.ndarray) -> np.ndarray:
        contrast = self._evidence.contrast.ravel()[voxels]
        found = steps_of_noise(contrast, self._evidence.noise)
        if self._evidence.inside is not None:
            found[self._evidence.inside.reshape(-1)[voxels] == 0] = 0
        return found

    def _begin(self, kept: KeptOwners, written: np.ndarray, points: dict[int, int]) -> None:
        """Divide all voxels."""
        flat = np.array(list(points), np.int64)
        packed = packed_list([written, flat], kept.owners.size)
        voxels = listed(packed)
        capacities = self._capacities(voxels)
        levels, owners = listed_owners.solve(
            packed, voxels, capacities, self._shape,
            number_of_each(flat, packed), np.array(list(points.values()), np.uint8),
        )  # fmt: skip
        kept.begin(voxels, capacities, levels, owners, points)

    def _follow(
        self, kept: KeptOwners, scene: np.ndarray, others: np.ndarray, points: dict[int, int]
    ) -> None:
        """Divide what is another one than in the step before."""
        voxels = np.unique(np.concatenate([self._others, others]))
        wanted = self._capacities(voxels)
        in_scene = scene.reshape(-1)[voxels] > 0
        in_scene |= np.isin(voxels, list(points))
        wanted[~in_scene] = 0
        other = wanted != kept.capacities[voxels]
        kept.change(voxels[other], wanted[other], points)

    def check(self, labelled: np.ndarray) -> None:
        """Raise `Uncertain` where the whole scene may give a labelled voxel to another vessel.

        Parameters
        ----------
        labelled : ndarray of bool
            One for each of the voxels.
        """
        assert self._owners is not None
        contrast = self._evidence.followed / self._evidence.noise
        least = int(np.ceil(contrast * STEPS)) + 1
        levels = self._owners.levels[self.voxels[labelled]]
        if self._evidence.added or (levels < least).any():
            raise Uncertain

    def share(self, values: np.ndarray, labelled: np.ndarray, progress: Progress) -> None:
        """Give labelled voxels without contrast to the vessel that is the fewest steps away.

        Parameters
        ----------
        values : ndarray, float32
            Of the scene, one for each of the voxels.
        labelled : ndarray of bool
        progress : Progress
        """
        free = self.owners == NOBODY
        if not (labelled & free).any():
            return
        assert self._owners is not None
        free &= values > 0
        if self._evidence.inside is not None:
            free &= self._evidence.inside.reshape(-1)[self.voxels] > 0
        numbers = np.flatnonzero(free)
        place = np.stack(np.unravel_index(self.voxels[numbers], self._shape))
        origin = np.maximum(place.min(axis=1) - 1, 0)
        last = np.minimum(place.max(axis=1) + 2, self._shape)
        box = tuple(slice(*ends) for ends in zip(origin, last))
        owners = self._owners.owners.reshape(self._shape)[box]
        inside = self._owners.capacities.reshape(self._shape)[box] > 0
        inside |= owners != NOBODY
        place = tuple(place - origin[:, None])
        inside[place] = True
        self.owners[numbers] = share_unowned(owners, inside, progress)[place]
