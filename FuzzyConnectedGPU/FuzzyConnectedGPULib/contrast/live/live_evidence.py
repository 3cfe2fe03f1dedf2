"""Evidence whose paths are kept from one position of the clicks to the next one."""

from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..clicks.main_object import EVIDENT, FLOOR
from ..paths.flood import component
from ..paths.reached import Reached
from ..paths.widest_paths import STEPS
from .kept_components import KeptComponents
from .live_paths import LivePaths
from .signed import Signed
from .touched import Box, Touched

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    from ..evidence.evidence import Evidence
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
    touched : Touched
        Where the rules may have written: along paths, in components, and in boxes of which they
        asked for what lies in the mask.
    """

    def __init__(self, evidence: "Evidence") -> None:
        self._evidence = evidence
        self._components = KeptComponents()
        self.begin(0)
        self._paths = None
        if not evidence.device_bytes:
            self._paths = LivePaths(evidence.contrast, evidence.smooth, evidence.inside)

    def begin(self, floor: int) -> None:
        """Another position of the clicks: nothing of it is written yet."""
        self.floor, self.followed, self.added = floor, 0.0, False
        self.touched = Touched(self._evidence.contrast.shape)

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
            reached, kept = self._paths.widest_paths(starts, unit, floor, brighter)
            self.touched.add_kept(kept.paths)
            self.touched.add_voxels(kept.raised)
        else:
            reached = self._evidence.widest_paths(starts, unit, floor, brighter, gpu)
            self.touched.add_kept(reached)
        return reached

    def component(
        self, values: np.ndarray, start: tuple[int, ...], threshold: float, limit: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """As of `Evidence`; those of clicks that stay are kept."""
        self.added = True
        found = self._component(values, start, threshold, limit)
        if found is not None:
            self.touched.add_voxels(found[0])
        return found

    def _component(self, values, start, threshold, limit):
        of = self._name_of(values)
        if self._paths is None or not of:
            return self._evidence.component(values, start, threshold, limit)
        flat = int(np.ravel_multi_index(start, values.shape))
        volume, sign = values, 1
        if isinstance(values, Signed):
            volume, sign = values.values, values.sign

        def search() -> tuple[np.ndarray, np.ndarray]:
            voxels = component(volume, self._evidence.inside, start, threshold, limit, sign)
            return voxels, sign * volume.reshape(-1)[voxels]

        return self._components.component(of, flat, threshold, limit, search)

    def _name_of(self, values: Any) -> str:
        """Which volume values are; empty for others."""
        if isinstance(values, Signed):
            return "difference" if values.sign > 0 else "negative difference"
        if values is self._evidence.contrast:
            return "contrast"
        wide = vars(self._evidence).get("wide_contrast", (None,))[0]
        return "wide contrast" if values is wide else ""

    def masked(self, labels: np.ndarray, box: Box) -> np.ndarray:
        """As of `Evidence`."""
        self.added = True
        self.touched.add_box(box)
        return self._evidence.masked(labels, box)

    def clears(self) -> None:
        """As of `Evidence`."""
        self.touched.cleared = True

    @property
    def difference(self) -> tuple[Any, float]:
        """As of `Evidence`; its negative is not computed as a whole."""
        difference, noise = self._evidence.difference
        return Signed(difference), noise
