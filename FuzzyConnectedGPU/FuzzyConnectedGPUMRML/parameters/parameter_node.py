"""The parameter node: one singleton in each scene."""

from typing import Annotated

from slicer import (
    vtkMRMLLabelMapVolumeNode,
    vtkMRMLMarkupsFiducialNode,
    vtkMRMLMarkupsROINode,
    vtkMRMLScalarVolumeNode,
    vtkMRMLSegmentationNode,
)
from slicer.parameterNodeWrapper import Choice, WithinRange, parameterNodeWrapper

from .choices import Border, Form, Model, Region, Side, Solver, ThresholdSource

DEVICES = ["auto", "cpu", "cuda:0", "cuda:1", "cuda:2", "cuda:3"]
Share = Annotated[float, WithinRange(0.0, 1.0)]
Intensity = Annotated[float, WithinRange(-1e9, 1e9)]


@parameterNodeWrapper
class FuzzyConnectedGPUParameterNode:
    """The panel's choices and results, kept in the scene; see `FuzzyConnectedGPULogic.segment`."""

    inputVolume: vtkMRMLScalarVolumeNode | None
    seeds: vtkMRMLMarkupsFiducialNode | None
    backgroundSeeds: vtkMRMLMarkupsFiducialNode | None
    model: Model = Model.CONTRAST
    border: Border = Border.DRAWN
    automaticAffinity: bool = True
    mean: Intensity = 0.0
    sigma: Intensity = 1.0
    gradientSigma: Intensity = 1.0
    radius: Annotated[int, WithinRange(1, 9)] = 2
    side: Side = Side.BOTH
    form: Form = Form.GEOMETRIC
    weight: Share = 0.5
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
    firstResult: vtkMRMLLabelMapVolumeNode | vtkMRMLSegmentationNode | None
    secondResult: vtkMRMLLabelMapVolumeNode | vtkMRMLSegmentationNode | None
    differenceLabelmap: vtkMRMLLabelMapVolumeNode | None
