"""What a segmentation on the MRML scene gives back."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from FuzzyConnectedGPULib.threshold.choice import UNSURE


class UnsureNote(str):
    """An automatic threshold is of low confidence.

    Attributes
    ----------
    threshold : FuzzyConnectedGPULib.AutomaticThreshold
    """

    threshold: Any

    def __new__(cls, threshold: Any) -> "UnsureNote":
        self = super().__new__(cls, f"The automatic threshold is unsure: {threshold.reason}")
        self.threshold = threshold
        return self

    @classmethod
    def of(cls, threshold: Any) -> "list[UnsureNote]":
        """The note on a threshold, if there is one to make."""
        return [cls(threshold)] if getattr(threshold, "confidence", 1) < UNSURE else []


@dataclass
class SegmentationResult:
    """Outputs and figures of one run; unpacks as (labelmapNode, sceneNode).

    Attributes
    ----------
    labelmapNode : vtkMRMLLabelMapVolumeNode
        1 in the vessels.
    sceneNode : vtkMRMLScalarVolumeNode
        Connectedness to the seeds, float32, 0..1.
    segmentID : str
        In the segmentation that was given; empty without one.
    threshold : float
        A voxel belongs to the vessels from this connectedness on.
    volumeMl : float
        Volume of the vessels in millilitres, in the volume's own millimetres.
    affinity : FuzzyConnectedGPULib.GaussianAffinity
    scene : FuzzyConnectedGPULib.FuzzyScene
        The same values as an array (K, J, I), which may be the node's own; with solver, device
        and times.
    warnings : list of str
        What the user should know: seeds that were left out, an unsure threshold, ...
    segmentationNode : vtkMRMLSegmentationNode or None
        That was given, or added because True was given.
    """

    labelmapNode: Any
    sceneNode: Any
    segmentID: str
    threshold: float
    volumeMl: float
    affinity: Any
    scene: Any
    warnings: list[str] = field(default_factory=list)
    segmentationNode: Any = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.labelmapNode, self.sceneNode))
