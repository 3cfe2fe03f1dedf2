"""Points that are dragged: nodes in, labels of where they are now out."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyConnectedGPULib.contrast import CONTRAST_THRESHOLD
from FuzzyConnectedGPULib.threshold.gaps import fill_gaps
from FuzzyVesselCoreLib.mrml import reading as mrml
from FuzzyVesselCoreLib.mrml.points import seeds_of
from FuzzyVesselCoreLib.mrml.regions import region_mask

from ..segmenting import background_seeds
from .label_preview import Frame

if TYPE_CHECKING:
    from FuzzyConnectedGPULib.contrast.live.live_labels import LabelsInBox


@dataclass(frozen=True)
class LivePoints:
    """Voxels (K, J, I; n x 3) of the points as they are now."""

    seeds: np.ndarray
    background: np.ndarray | None


class LiveClicks:
    """Labels of the contrast model on a volume whose evidence is kept.

    Parameters
    ----------
    volume_node, seeds_node, background_node : nodes
        The last may be None.
    kept : FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness
    region : dict
        `maskNode`, `maskSegmentID` and `roiNode` of the run.
    border, threshold, fill, device
        As of `FuzzyConnectedGPULogic.segment`; None for its defaults.

    Attributes
    ----------
    ready : bool
        Whether the evidence is kept; else a whole run has to find it first.
    frame : Frame
        Of the volume.
    """

    def __init__(
        self,
        volume_node: Any,
        seeds_node: Any,
        background_node: Any,
        kept: Any,
        region: dict[str, Any],
        *,
        border: str | None = None,
        threshold: float | None = None,
        fill: int = 0,
        device: str = "auto",
    ) -> None:
        self._volume_node, self._seeds_node = volume_node, seeds_node
        self._background_node = background_node
        self._threshold = CONTRAST_THRESHOLD if threshold is None else threshold
        self._fill, self._device = fill, device
        voxels = mrml.voxels_of(volume_node, copy=False)
        self._shape = voxels.shape
        self._region = region_mask(
            region["maskNode"], region["roiNode"], volume_node, self._shape, region["maskSegmentID"]
        )
        spacing = volume_node.GetSpacing()[::-1]
        options = dict(mask=self._region, border=border or "drawn")
        self._live = kept.live_labels(voxels, spacing, **options)
        self.frame = Frame(mrml.ijk_to_ras(volume_node), volume_node.GetTransformNodeID())

    @property
    def ready(self) -> bool:
        return self._live is not None

    def points(self) -> LivePoints:
        """The points as they are now.

        Raises
        ------
        InputError
            None lies in the volume and the region.
        """
        seeds = seeds_of(self._seeds_node, self._volume_node, self._shape, self._region)
        return LivePoints(seeds.voxels, self._background())

    def _background(self) -> np.ndarray | None:
        found = background_seeds(self._background_node, self._volume_node, self._shape)
        return found and found.voxels

    def prepare(self, progress: Any = None) -> None:
        """Compute what all positions share; see `LiveLabels.prepare`."""
        self._live.prepare(progress)

    def labels(self, points: LivePoints, progress: Any = None) -> "LabelsInBox":
        """The labels of points; no node is read.

        Raises
        ------
        InputError, DeviceError, Cancelled
        """
        found = self._live.labels_on(
            self._device, points.seeds, points.background, self._threshold, progress=progress
        )
        if not self._fill:
            return found
        part = found.box
        region = None if self._region is None else self._region[part]
        barred = None
        if points.background is not None:
            barred = points.background - [side.start for side in part]
            inside = (barred >= 0) & (barred < found.labels.shape)
            barred = barred[inside.all(axis=1)]
        return replace(found, labels=fill_gaps(found.labels, self._fill, region, barred))
