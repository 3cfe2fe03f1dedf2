"""The panel's choices and results, kept in the scene; scenes keep the names of enum members."""

import enum
from typing import Annotated, Any

from slicer import (
    vtkMRMLLabelMapVolumeNode,
    vtkMRMLMarkupsFiducialNode,
    vtkMRMLMarkupsROINode,
    vtkMRMLScalarVolumeNode,
    vtkMRMLSegmentationNode,
)
from slicer.i18n import tr as _
from slicer.parameterNodeWrapper import Choice, WithinRange, parameterNodeWrapper

from FuzzyVesselCoreLib.translation import LabelledEnum


class Region(LabelledEnum):
    """Where paths may go."""

    WHOLE = "whole", _("The whole volume")
    BOX = "roi", _("A box (ROI)")
    MASK = "mask", _("A mask or segment")


class Model(LabelledEnum):
    """What makes a voxel a vessel's; see `FuzzyConnectedGPULib.SegmentOptions`."""

    CONTRAST = "contrast", _("Contrast to the surroundings")
    AFFINITY = "affinity", _("Affinity to the points (published)")


class Border(LabelledEnum):
    """Where a vessel ends."""

    DRAWN = "drawn", _("As experts draw it")
    HALF = "half", _("At half the contrast")


class Side(LabelledEnum):
    """Which intensities beside the mean belong to the vessels, too."""

    BOTH = "both", _("Like the points")
    BRIGHT = "bright", _("Brighter as well")
    DARK = "dark", _("Darker as well")


class Solver(LabelledEnum):
    """How connectedness is computed; see `FuzzyConnectedGPULib.SOLVERS`."""

    EXACT = "exact", _("Exact")
    CONTRACTION = "contraction", _("Exact, contraction (CUDA)")
    ACTIVE_TILES = "exact", _("Exact")  # an alias: scenes of earlier versions name it
    BLOCKS = "blocks", _("Exact, blocks (CPU)")
    DIAL = "dial", _("Exact, bucket queue (CPU)")
    KFOE = "kfoe", _("Exact, FIFO queue (CPU, slow)")
    CUDA_KFOE = "cuda-kfoe", _("CUDA-kFOE (with errors)")
    CUDA_KFOE_CORRECTED = "cuda-kfoe-corrected", _("CUDA-kFOE, corrected")


class ThresholdSource(enum.Enum):
    """Who chooses the threshold."""

    AUTOMATIC = "automatic"
    BACKGROUND = "background"
    MANUAL = "manual"


DEVICES = ["auto", "cpu", "cuda:0", "cuda:1", "cuda:2", "cuda:3"]
Share = Annotated[float, WithinRange(0.0, 1.0)]
Spread = Annotated[float, WithinRange(1e-6, 1e9)]


@parameterNodeWrapper
class FuzzyConnectedGPUParameterNode:
    """One singleton in each scene; see `FuzzyConnectedGPULogic.segment`."""

    inputVolume: vtkMRMLScalarVolumeNode | None
    seeds: vtkMRMLMarkupsFiducialNode | None  # of the vessel that is selected
    backgroundSeeds: vtkMRMLMarkupsFiducialNode | None
    model: Model = Model.CONTRAST
    border: Border = Border.DRAWN
    automaticAffinity: bool = True  # else of these numbers
    mean: Annotated[float, WithinRange(-1e9, 1e9)] = 0.0
    sigma: Spread = 1.0
    gradientSigma: Spread = 1.0
    radius: Annotated[int, WithinRange(1, 9)] = 2
    side: Side = Side.BOTH
    region: Region = Region.WHOLE
    roi: vtkMRMLMarkupsROINode | None
    mask: vtkMRMLScalarVolumeNode | vtkMRMLSegmentationNode | None
    maskSegmentID: str = ""
    cut: Share = 0.0
    solver: Solver = Solver.EXACT
    device: Annotated[str, Choice(DEVICES)] = "auto"
    corrections: Annotated[int, WithinRange(0, 10)] = 2
    directions: Annotated[int, WithinRange(0, 6)] = 6
    autoUpdate: bool = False
    thresholdSource: ThresholdSource = ThresholdSource.AUTOMATIC
    threshold: Share = 0.5
    fillGaps: Annotated[int, WithinRange(0, 10)] = 0
    sceneVolume: vtkMRMLScalarVolumeNode | None
    labelmap: vtkMRMLLabelMapVolumeNode | None
    segmentation: vtkMRMLSegmentationNode | None
    segmentID: str = ""
    show3D: bool = True
    showOverlay: bool = False
    overlayOpacity: Share = 0.5
    showDisputed: bool = False


def chosen_threshold(parameters: Any) -> float | None:
    """The threshold that a person chose; None where runs choose it."""
    manual = parameters.thresholdSource.value == "manual"
    return parameters.threshold if manual else None
