"""Evidence whose paths are kept from one position of the clicks to the next one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..clicks.main_object import EVIDENT, FLOOR
from ..paths.flood import component
from ..paths.reached import STEPS, Reached
from .kept_components import KeptComponents
from .kept_reach import Kept
from .kept_scene import KeptScene
from .live_paths import LivePaths
from .signed import Signed
from .touched import Box, Touched

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    from ..evidence.evidence import Evidence
MIDDLES = 1000  # of clicked vessels that are kept
COMPUTED = "wide_contrast", "difference"  # for clicks without contrast


class LiveEvidence:
    """The same evidence, which the clicks' rules read as the other one; see `live_paths`.

    Evidence on a device keeps the device's paths: they are as fast as kept ones.

    Parameters
    ----------
    evidence : Evidence

    Attributes
    ----------
    floor : int
        Paths of lower levels are not followed.
    followed : float
        Contrast from which on all paths were followed, since `begin`.
    added : bool
        Whether clicks without strong paths have asked for voxels of their own, since `begin`.
    scene : KeptScene
        That the rules write to.
    touched : Touched
        Where the rules may have written: along paths, in components, and in boxes.
    """

    def __init__(self, evidence: "Evidence") -> None:
        self._evidence = evidence
        self._components = KeptComponents()
        self._middles: dict[tuple[int, ...], tuple[float, tuple[int, ...]]] = {}
        self._near: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
        self.scene = KeptScene((0, 0, 0))
        self.begin(0, self.scene, ())
        self._paths = None
        if not evidence.device_bytes:
            self._paths = LivePaths(evidence.contrast, evidence.smooth, evidence.inside)

    def begin(self, floor: int, scene: KeptScene, clicks: Sequence[Sequence[int]]) -> None:
        """Another position of the clicks: nothing of it is written into the scene yet."""
        self.floor, self.followed, self.added = floor, 0.0, False
        self.scene, self.touched = scene, Touched(self._evidence.contrast.shape)
        stay = {tuple(map(int, click)) for click in clicks}
        self._near = {key: found for key, found in self._near.items() if key[1] in stay}
        places = [np.ravel_multi_index(click, self._evidence.contrast.shape) for click in clicks]
        self._clicks = np.array(places, np.int64)
        self.touched.add_voxels(self._clicks)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._evidence, name)

    def prepare(self, progress: Progress, all_levels: bool = False) -> None:
        """Compute what the clicks' rules ask for wherever a click may go.

        Parameters
        ----------
        progress : Progress
        all_levels : bool
            Whether paths are followed beyond the threshold.
        """
        if self._paths is None:
            return
        least = EVIDENT * self._evidence.noise
        self._paths.prepare(least * FLOOR / STEPS if all_levels else least)
        for name in COMPUTED:
            progress.check()
            getattr(self._evidence, name)

    def middle_near(self, voxel: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        """As of `Evidence`; kept."""
        if voxel not in self._middles:
            if len(self._middles) >= MIDDLES:
                self._middles.clear()
            self._middles[voxel] = self._evidence.middle_near(voxel)
        return self._middles[voxel]

    def widest_paths(
        self,
        starts: list[tuple[int, ...]],
        unit: float,
        floor: int,
        brighter: float | None = None,
        gpu: "CudaDevice | None" = None,
    ) -> Reached:
        """As of `Evidence`, but for paths below the floor."""
        floor = max(floor, self.floor)
        self.followed = max(self.followed, unit * floor / STEPS)
        if self._paths is not None:
            reached, self._kept = self._paths.widest_paths(starts, unit, floor, brighter)
        else:
            reached = self._evidence.widest_paths(starts, unit, floor, brighter, gpu)
            self._kept = Kept(reached, reached.voxels[:0], reached.levels[:0])
        self.touched.add_kept(self._kept.paths)
        self.touched.add_voxels(self._kept.raised)
        return reached

    def component(
        self, values: np.ndarray, start: tuple[int, ...], threshold: float, limit: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """As of `Evidence`; those of clicks that stay are kept."""
        self.added = True
        found = self._component(values, start, threshold, limit)
        if found is not None:
            self.touched.add_voxels(found[0])
            self.scene.change(found[0])
        return found

    def _component(self, values, start, threshold, limit):
        of = self._name_of(values)
        if self._paths is None or not of:
            return self._evidence.component(values, start, threshold, limit)
        flat = int(np.ravel_multi_index(start, values.shape))
        volume, sign = values, 1
        if isinstance(values, Signed):
            volume, sign = values.values, values.sign

        def search(least: float) -> tuple[np.ndarray, np.ndarray]:
            voxels = component(volume, self._evidence.inside, start, least, limit, sign)
            return voxels, sign * volume.reshape(-1)[voxels]

        value = float(values[tuple(start)])
        return self._components.component(of, flat, value, threshold, limit, search)

    def near_click(
        self, values: Any, click: tuple[int, ...], *limits: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """As of `Evidence`; those of clicks that stay are kept."""
        self.added = True
        key = self._name_of(values), click, *limits
        if key not in self._near:
            self._near[key] = self._evidence.near_click(values, click, *limits)
        self.touched.add_voxels(self._near[key][0])
        self.scene.change(self._near[key][0])
        return self._near[key]

    def _name_of(self, values: Any) -> str:
        """Which volume values are; empty for others."""
        if isinstance(values, Signed):
            return "difference" if values.sign > 0 else "negative difference"
        if values is self._evidence.contrast:
            return "contrast"
        wide = vars(self._evidence).get("wide_contrast", (None,))[0]
        return "wide contrast" if values is wide else ""

    def write_paths(self, scene: np.ndarray, reached: Reached, threshold: float) -> int:
        """As of `Evidence`, into `scene`; what is written there is not written again."""
        contrast = reached.contrast[:0]
        if self._kept.raised.size:
            contrast = self._evidence.contrast.ravel()[self._kept.raised]
        size = self.scene.write(self._kept, threshold, contrast)
        self.scene.change(self._clicks)
        return size

    def changes(self, box: Box, *, lowers: bool = False, clears: bool = False) -> None:
        """As of `Evidence`."""
        if lowers:
            self.touched.lowered = True
            self.touched.cleared |= clears
        else:
            self.added = True
            self.touched.add_box(box)
        self.scene.change(box)

    @property
    def difference(self) -> tuple[Any, float]:
        """As of `Evidence`; its negative is not computed as a whole."""
        difference, noise = self._evidence.difference
        return Signed(difference), noise
