"""What a run of several vessels gives back."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Vessel:
    """One vessel of a result.

    Attributes
    ----------
    name : str
        Of its list of points.
    label : int
        In the labelmap.
    segmentID : str
        Empty without a segmentation.
    volumeMl : float
    """

    name: str
    label: int
    segmentID: str
    volumeMl: float


@dataclass
class SeveralResult:
    """Outputs and figures of one run; unpacks as (labelmapNode, sceneNode).

    Attributes
    ----------
    labelmapNode : vtkMRMLLabelMapVolumeNode
        1 in the first vessel, and so on.
    sceneNode : vtkMRMLScalarVolumeNode
        Connectedness to the points of all vessels, float32, 0..1.
    divisionNode : vtkMRMLLabelMapVolumeNode
        The vessel of every voxel of the scene, whatever the threshold; 254 for background, 255
        where two vessels reach it equally.
    vessels : list of Vessel
    disputedMl : float
        Of voxels that belong to no vessel because two reach them equally.
    threshold : float
    affinity, scene, warnings, segmentationNode
        As of `FuzzyConnectedGPUMRML.result.SegmentationResult`.
    """

    labelmapNode: Any
    sceneNode: Any
    divisionNode: Any
    vessels: list[Vessel]
    disputedMl: float
    threshold: float
    affinity: Any = None
    scene: Any = None
    warnings: list[str] = field(default_factory=list)
    segmentationNode: Any = None

    @property
    def volumeMl(self) -> float:
        """Of all vessels together."""
        return sum(each.volumeMl for each in self.vessels)

    @property
    def segmentIDs(self) -> list[str]:
        """Of the vessels, in their order; empty without a segmentation."""
        return [each.segmentID for each in self.vessels if each.segmentID]

    @property
    def segmentID(self) -> str:
        """Of the first vessel."""
        return self.vessels[0].segmentID if self.vessels else ""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.labelmapNode, self.sceneNode))
