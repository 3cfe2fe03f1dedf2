"""The panel's choices and results, kept in the MRML scene, and those that each volume keeps.

Scenes keep the names of enum members.
"""

import enum
from ast import literal_eval
from collections.abc import Sequence
from typing import Annotated, Any

import slicer
from slicer import (
    vtkMRMLLabelMapVolumeNode,
    vtkMRMLMarkupsFiducialNode,
    vtkMRMLMarkupsROINode,
    vtkMRMLScalarVolumeNode,
    vtkMRMLSegmentationNode,
)
from slicer.i18n import tr as _
from slicer.parameterNodeWrapper import Choice, WithinRange, parameterNodeWrapper

from FuzzyVesselCoreLib.mrml.writing import refer, referred
from FuzzyVesselCoreLib.translation import LabelledEnum

from . import vessel_lists


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
    BACKGROUND = "background"  # as AUTOMATIC; scenes of earlier versions name it
    MANUAL = "manual"


DEVICES = ["auto", "cpu", "cuda:0", "cuda:1", "cuda:2", "cuda:3"]
Share = Annotated[float, WithinRange(0.0, 1.0)]
Spread = Annotated[float, WithinRange(1e-6, 1e9)]


@parameterNodeWrapper
class FuzzyConnectedGPUParameterNode:
    """One singleton in each MRML scene; see `FuzzyConnectedGPULogic.segment`."""

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


# ---- What belongs to a volume, and comes back when it is chosen again

PREFIX = "FuzzyVesselGPU.State."  # of attributes and references of the volume
NODES = ("seeds", "backgroundSeeds")
VALUES = {  # with what they are for a volume that has none
    "threshold": 0.5,
    "thresholdSource": ThresholdSource.AUTOMATIC,
    "autoUpdate": False,
    "fillGaps": 0,
}


def store(volume_node: Any, values: dict[str, Any], lists: Sequence[Any]) -> None:
    """Write points and values (by the names of `NODES` and `VALUES`) on their volume.

    `lists` are those of all vessels.
    """
    with slicer.util.NodeModify(volume_node):
        for name in NODES:
            node = values[name]
            volume_node.SetNodeReferenceID(PREFIX + name, node.GetID() if node else None)
        refer(volume_node, PREFIX + "vessels", lists if len(lists) > 1 else ())
        for name in VALUES:
            value = getattr(values[name], "name", values[name])
            volume_node.SetAttribute(PREFIX + name, str(value))


def restore(parameters: Any, volume_node: Any, names: Sequence[str]) -> None:
    """Take a volume's points and values (those of `names`) over; without any, none and defaults."""
    with slicer.util.NodeModify(parameters.parameterNode):
        if "seeds" in names:
            vessel_lists.keep(parameters, referred(volume_node, PREFIX + "vessels"))
        for name in names:
            value, text = VALUES.get(name), volume_node.GetAttribute(PREFIX + name)
            if name in NODES:
                value = volume_node.GetNodeReference(PREFIX + name)
            elif text:
                enumerated = name == "thresholdSource"
                value = ThresholdSource[text] if enumerated else literal_eval(text)
            setattr(parameters, name, value)
