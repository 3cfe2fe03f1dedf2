"""Points that are dragged in the editor: labels of where they are now, on its voxels."""

from typing import TYPE_CHECKING, Any

import numpy as np

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

    @property
    def ready(self) -> bool:
        return self._live is not None

    def points(self) -> tuple[dict[str, np.ndarray], float]:
        """The points as they are now, and how much more is wanted.

        Raises
        ------
        InputError
            As of `EditorInputs.points_of`.
        """
        return self.inputs.points_of(self._clicks)[0], self._clicks.more

    def prepare(self, progress: Any = None) -> None:
        """Compute what all positions share."""
        self._live.prepare(progress)

    def labels(self, points: tuple[dict[str, np.ndarray], float], progress: Any) -> "LabelsInBox":
        """The labels of points; no node is read.

        Raises
        ------
        InputError, DeviceError, Cancelled
        """
        voxels, more = points
        return self._live.labels_on(
            self._device, voxels[VESSEL], voxels[BACKGROUND], threshold_of(more), progress=progress
        )
