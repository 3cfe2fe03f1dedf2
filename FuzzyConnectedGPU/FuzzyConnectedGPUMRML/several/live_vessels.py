"""Points of several vessels that are dragged: nodes in, labels of where they are now out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyConnectedGPULib import HandOver

from ..live.live_clicks import LiveClicks
from .hand_overs import hand_overs_of
from .segmenting_several import seeds_of_vessels, vessel_key

if TYPE_CHECKING:
    from FuzzyConnectedGPULib.contrast.live.live_labels import LabelsInBox


@dataclass(frozen=True)
class VesselPoints:
    """Voxels (K, J, I; n x 3) of the points of each vessel, and branches that are handed over."""

    vessels: dict[str, np.ndarray]
    background: np.ndarray | None
    hand_overs: list[HandOver]


class LiveVesselClicks(LiveClicks):
    """Labels of several vessels on a volume whose evidence is kept; 1 for the first, and so on.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    lists : sequence of vtkMRMLMarkupsFiducialNode
        The points of each vessel.
    background_node, kept, region, **options
        As of `LiveClicks`.
    """

    def __init__(
        self,
        volume_node: Any,
        lists: Sequence[Any],
        background_node: Any,
        kept: Any,
        region: dict[str, Any],
        **options: Any,
    ) -> None:
        super().__init__(volume_node, lists[0], background_node, kept, region, **options)
        self._lists = list(lists)
        if self._live is not None:
            # Here, so that the panel opens where SciPy and numba are not installed yet.
            from FuzzyConnectedGPULib.several.live.live_vessels import LiveVessels

            self._vessels = LiveVessels(self._live, volume_node.GetSpacing()[::-1])

    def points(self) -> VesselPoints:  # type: ignore[override]
        """The points as they are now.

        Raises
        ------
        InputError
            A vessel has no point in the volume and the region.
        """
        seeds = seeds_of_vessels(self._lists, self._volume_node, self._shape, self._region)
        vessels = {
            vessel_key(self._lists, n): each.voxels if each else np.empty((0, 3), np.int64)
            for n, each in enumerate(seeds)
        }
        hand_overs, _ = hand_overs_of(self._lists, self._volume_node, self._shape)
        return VesselPoints(vessels, self._background(), hand_overs)

    def prepare(self, progress: Any = None) -> None:
        self._vessels.prepare(progress, self._device)

    def labels(  # type: ignore[override]
        self, points: VesselPoints, progress: Any = None
    ) -> "LabelsInBox":
        return self._vessels.labels_on(
            self._device,
            points.vessels,
            points.background,
            self._threshold,
            hand_overs=points.hand_overs,
            fill=self._fill,
            progress=progress,
        )
