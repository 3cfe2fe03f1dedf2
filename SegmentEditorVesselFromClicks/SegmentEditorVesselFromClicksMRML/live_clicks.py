"""Points that are dragged in the editor: labels of where they are now, on its voxels."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyConnectedGPULib.several.live.live_vessels import LiveVessels

from .clicks import BACKGROUND, VESSEL, Clicks
from .editor_inputs import EditorInputs
from .growing import CachedEvidence, threshold_of

if TYPE_CHECKING:
    from FuzzyConnectedGPULib.contrast.live.live_labels import LabelsInBox


class LiveClicks:
    """Labels for one position of the points after the other; masking stays meanwhile.

    Parameters
    ----------
    editor_node, source_image
        As of `editor_inputs.EditorInputs`.
    clicks : Clicks
    cached : CachedEvidence
        Of the last run.
    device : str

    Attributes
    ----------
    ready : bool
        Whether the evidence is cached; else a whole run has to find it first.
    inputs : EditorInputs
    """

    def __init__(
        self,
        editor_node: Any,
        source_image: Any,
        clicks: Clicks,
        cached: CachedEvidence,
        device: str = "auto",
    ) -> None:
        self._clicks, self._device = clicks, device
        self.inputs = inputs = EditorInputs(editor_node, source_image)
        self._live = cached.live_labels(
            inputs.grid.voxels, inputs.grid.spacing, inputs.area, inputs.allowed
        )
        self._several = False
        if self._live is not None:
            self._vessels = LiveVessels(self._live, inputs.grid.spacing)
            self._several = bool(inputs.others_of(clicks))

    @property
    def ready(self) -> bool:
        return self._live is not None

    def points(self) -> Any:
        """The points of all segments as they are now, background, and how much more is wanted.

        Raises
        ------
        InputError
            As of `EditorInputs.points_of`.
        """
        voxels = self.inputs.points_of(self._clicks)[0]
        vessels = self.inputs.vessels_of(self._clicks, voxels[VESSEL])
        return vessels, voxels[BACKGROUND], self._clicks.more

    def prepare(self, progress: Any = None) -> None:
        """Compute what all positions share; no node is read."""
        if self._several:
            self._vessels.prepare(progress, self._device)
        else:
            self._live.prepare(progress)

    def labels(self, points: Any, progress: Any) -> "LabelsInBox":
        """The labels of points; no node is read.

        Raises
        ------
        InputError, DeviceError, Cancelled
        """
        vessels, background, more = points
        clicked = background, threshold_of(more)
        own = self._clicks.segment_id
        if len(vessels) == 1:
            return self._live.labels_on(self._device, vessels[own], *clicked, progress=progress)
        found = self._vessels.labels_on(self._device, vessels, *clicked, progress=progress)
        number = 1 + list(vessels).index(own)
        return replace(found, labels=(found.labels == number).astype(np.uint8))
