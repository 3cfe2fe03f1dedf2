"""What a run is given beside its volume and points, and the outputs it writes, as records."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What the connectedness depends on beside nodes, as of `FuzzyConnectedGPULib.SegmentOptions`.

    `corrections` and `directions` are those of the solver "cuda-kfoe-corrected".
    """

    model: str | None = None
    border: str | None = None
    affinity: Any = None
    radius: int | None = None
    side: str | None = None
    cut: float | None = None
    solver: str | None = None
    corrections: int | None = None
    directions: int | None = None

    def of_model(self) -> dict[str, Any]:
        """These options by name."""
        return {each.name: getattr(self, each.name) for each in fields(ModelOptions)}


@dataclass(frozen=True, kw_only=True)
class RunOptions(ModelOptions):
    """Inputs and options of a run on the scene, as `SegmentingLogic.segment` documents them."""

    backgroundSeedsNode: Any = None
    maskNode: Any = None
    maskSegmentID: str = ""
    roiNode: Any = None
    fillGaps: int = 0
    threshold: float | None = None
    device: str = "auto"

    def of_arrays(self) -> dict[str, Any]:
        """The fields of `FuzzyConnectedGPULib.SegmentOptions`."""
        own = {"threshold": self.threshold, "device": self.device, "fill_gaps": self.fillGaps}
        return own | self.of_model()


def output_options(
    sceneVolumeNode: Any, labelmapNode: Any, segmentationNode: Any, segmentID: str
) -> dict[str, Any]:
    """The nodes to write into, by the names that `FuzzyConnectedGPUMRML.segmenting` knows."""
    return dict(
        sceneVolumeNode=sceneVolumeNode,
        labelmapNode=labelmapNode,
        segmentationNode=segmentationNode,
        segmentID=segmentID,
    )
