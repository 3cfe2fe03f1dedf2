"""A scene divided among vessels step by step: only what changes from one step to the next.

The voxels of a scene are those of paths that are kept, all of them, and a few others: what a moved
point reaches, and what faint clicks add. As long as the same paths are kept, capacities change
among the others of two steps alone, and `KeptOwners` follows. Where other paths are kept, or very
much changes, all voxels are divided by `listed_owners`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ...contrast.live.packed_voxels import WORD, listed, number_of_each, packed_list
from ...contrast.live.touched import NOTHING, Box
from ...contrast.paths.reached import Reached
from ...relative import listed_owners
from ...relative.contrast_division import steps_of_noise
from ...relative.groups import NOBODY, checked_groups
from ...relative.kept.kept_owners import KeptOwners
from ..division import with_ridges
from ..unowned import share_listed
from .listed_labels import distinct

if TYPE_CHECKING:
    from ...contrast.evidence.evidence import Evidence
    from ...contrast.live.live_evidence import LiveEvidence

MUCH = 0.1  # of the voxels: where the levels of more change, all are divided faster


class KeptDivision:
    """The vessel of each voxel of a scene, for one scene after the other on the same evidence.

    The owners are those of `division.divide_by_contrast`.
    """

    def __init__(self) -> None:
        self._paths: Reached | None = None  # that the last scene kept
        self._lists: list[np.ndarray] = []  # its voxels: theirs, and others, the points first
        self._step, self._lowered = 0, False
        self._other: np.ndarray | None = None
        self._loses = True  # whether a voxel with capacity may be nobody's since the step before
        self._shared = np.empty(0, np.int64)  # voxels without contrast that it gave to a vessel

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
        self._evidence, self._scene = evidence, scene
        points = self._points(with_ridges(cast("Evidence", evidence), vessels, background))
        if self._paths is None:
            self._kept, self._lists = KeptOwners(scene.shape), []
            self._seen = np.zeros(-(-scene.size // WORD), np.uint64)
        paths, self._paths = self._paths, None  # until this has succeeded
        self._kept.owners[self._shared] = NOBODY
        self._given, self._shared = self._shared, np.empty(0, np.int64)
        touched = evidence.touched
        others = np.concatenate([np.array(list(points), np.int64), touched.others(scene)])
        same = touched.kept is paths and not touched.cleared
        if not same or not self._follow(others, points):
            self._begin(touched.written(scene), points, others)
        self._step += 1
        if touched.lowered or self._lowered:
            self._other = None
        self._lowered = touched.lowered
        self._lists = [touched.kept.voxels, others]
        self._paths = NOTHING if touched.cleared else touched.kept

    def _points(self, groups: Mapping[str, np.ndarray]) -> dict[int, int]:
        """Flat indices of the points inside the mask, and their groups."""
        evidence, shape = self._evidence, self._scene.shape
        whole = [side.stop for side in evidence.box]
        checked = checked_groups(groups, (whole[0], whole[1], whole[2]), None)
        flat = np.ravel_multi_index(tuple((checked.seeds - evidence.origin).T), shape)
        owners = checked.owners
        if evidence.inside is not None:
            within = evidence.inside.reshape(-1)[flat] > 0
            flat, owners = flat[within], owners[within]
        return dict(zip(flat.tolist(), owners.tolist()))

    def _capacities(self, voxels: np.ndarray) -> np.ndarray:
        contrast = self._evidence.contrast.ravel()[voxels]
        found = steps_of_noise(contrast, self._evidence.noise)
        if self._evidence.inside is not None:
            found[self._evidence.inside.reshape(-1)[voxels] == 0] = 0
        return found

    def _begin(self, written: np.ndarray, points: dict[int, int], others: np.ndarray) -> None:
        """Divide all voxels."""
        flat, groups = np.array(list(points), np.int64), list(points.values())
        packed = packed_list([written, flat], self._scene.size)
        voxels = listed(packed)
        capacities = self._capacities(voxels)
        numbers, owners = number_of_each(flat, packed), np.array(groups, np.uint8)
        volume = packed, voxels, capacities, self._scene.shape
        found = listed_owners.solve(*volume, numbers, owners)
        for each in (*self._lists, others):
            self._kept.clear(each)
        self._kept.begin(voxels, capacities, *found, points)
        self._lost, self._loses, self._other = True, True, None

    def _follow(self, others: np.ndarray, points: dict[int, int]) -> bool:
        """Divide what is another one than in the step before; False where it is too much."""
        voxels = distinct(np.concatenate([others, self._lists[1]]), self._seen)
        wanted = self._capacities(voxels)
        in_scene = self._scene.reshape(-1)[voxels] > 0
        in_scene[: len(points)] = True  # they are the first ones
        wanted[~in_scene] = 0
        other = wanted != self._kept.capacities[voxels]
        limit = int(MUCH * (self._lists[0].size + others.size))
        found = self._kept.change(voxels[other], wanted[other], points, limit)
        if found is None:
            return False
        changed, lost = found
        self._lost, self._loses = self._lost or lost, lost
        self._other = np.concatenate([voxels, changed])  # all that may have another label
        return True

    def _unowned(self) -> np.ndarray:
        """The voxels of the scene that are nobody's."""
        owners, scene = self._kept.owners, self._scene.reshape(-1)
        if self._lost:
            paths = self._lists[0]
            self._free, self._lost = paths[owners[paths] == NOBODY], False
        lists = [each[owners[each] == NOBODY] for each in (self._free, self._lists[1])]
        voxels = np.concatenate(lists)
        return voxels[scene[voxels] > 0]

    def _share(self, progress: Progress) -> None:
        """Give voxels without contrast to the vessel that is the fewest steps away."""
        voxels = self._unowned()
        if self._evidence.inside is not None:
            voxels = voxels[self._evidence.inside.reshape(-1)[voxels] > 0]
        self._shared = voxels  # nobody's again in the next step, also where this one is cancelled
        share_listed(voxels, self._kept.owners.reshape(self._scene.shape), self._seen, progress)

    def owners(self, box: Box) -> np.ndarray:
        """The owners in a box, as of `divide_by_contrast`."""
        return self._kept.owners.reshape(self._scene.shape)[box]
