"""Evidence whose paths are kept from one position of the clicks to the next one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..clicks.corrections import MAX_RADIUS
from ..clicks.faint_clicks import BLIND_RADIUS, FAINT_RADII
from ..clicks.main_object import EVIDENT
from ..paths.reached import Reached
from .boxes import Box, box_around, box_of_voxels
from .live_paths import LivePaths

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    from ..evidence.evidence import Evidence

AROUND = max(FAINT_RADII * MAX_RADIUS, BLIND_RADIUS)  # radius of what a click changes by itself


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
    touched : list of box
        Where the scene may have become more than 0.
    """

    def __init__(self, evidence: "Evidence") -> None:
        self._evidence, self.floor = evidence, 0
        self.touched: list[Box] = []
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
        self._touch(reached.voxels)
        return reached

    def component(
        self, values: np.ndarray, start: tuple[int, ...], threshold: float, limit: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """As of `Evidence`."""
        found = self._evidence.component(values, start, threshold, limit)
        if found is not None:
            self._touch(found[0])
        return found

    def touch_around(self, clicks: Sequence[Sequence[int]]) -> None:
        """Each click may change what is near to it."""
        shape, unit = self._evidence.contrast.shape, self._evidence.unit
        self.touched += [box_around(shape, click, AROUND, unit) for click in clicks]

    def _touch(self, voxels: np.ndarray) -> None:
        if voxels.size:
            self.touched.append(box_of_voxels(voxels, self._evidence.contrast.shape))
