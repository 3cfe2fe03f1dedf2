"""Evidence whose paths are kept from one position of the clicks to the next one."""

from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..clicks.main_object import EVIDENT
from ..paths.reached import Reached
from .live_paths import LivePaths
from .signed import Signed
from .touched import Box, Touched

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    from ..evidence.evidence import Evidence


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
    touched : Touched
        Where the rules may have written: along paths, in components, and in boxes of which they
        asked for what lies in the mask.
    """

    def __init__(self, evidence: "Evidence") -> None:
        self._evidence, self.floor = evidence, 0
        self.touched = Touched(evidence.contrast.shape)
        self._paths = None
        if not evidence.device_bytes:
            self._paths = LivePaths(evidence.contrast, evidence.smooth, evidence.inside)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._evidence, name)

    def prepare(self, progress: Progress) -> None:
        """Compute what the clicks' rules ask for wherever a click may go."""
        if self._paths is None:
            return
        self._paths.prepare(EVIDENT * self._evidence.noise)
        for name in ("wide_contrast", "difference"):  # for clicks without contrast
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
        if self._paths is not None:
            reached = self._paths.widest_paths(starts, unit, floor, brighter)
        else:
            reached = self._evidence.widest_paths(starts, unit, floor, brighter, gpu)
        self.touched.add_voxels(reached.voxels)
        return reached

    def component(
        self, values: np.ndarray, start: tuple[int, ...], threshold: float, limit: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """As of `Evidence`."""
        found = self._evidence.component(values, start, threshold, limit)
        if found is not None:
            self.touched.add_voxels(found[0])
        return found

    def masked(self, labels: np.ndarray, box: Box) -> np.ndarray:
        """As of `Evidence`."""
        self.touched.add_box(box)
        return self._evidence.masked(labels, box)

    @property
    def difference(self) -> tuple[Any, float]:
        """As of `Evidence`; its negative is not computed as a whole."""
        difference, noise = self._evidence.difference
        return Signed(difference), noise
