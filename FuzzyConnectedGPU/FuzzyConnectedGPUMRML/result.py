"""What a segmentation on the MRML scene gives back, and what can stand against it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from FuzzyVesselCoreLib.errors import InputError


class UnsureNote(str):
    """An automatic threshold (attribute `threshold`) is of low confidence."""

    threshold: Any

    def __new__(cls, threshold: Any) -> "UnsureNote":
        self = super().__new__(cls, f"The automatic threshold is unsure: {threshold.reason}")
        self.threshold = threshold
        return self


class FaintPointsNote(str):
    """Points (attribute `labels`) differ from their surroundings by no more than the noise."""

    labels: tuple[str, ...]

    def __new__(cls, text: str, labels: tuple[str, ...]) -> "FaintPointsNote":
        self = super().__new__(cls, text)
        self.labels = labels
        return self


class SamePlaceError(InputError):
    """A seed and a background seed (labels of control points) are in the same voxel."""

    def __init__(self, seed: str, background: str) -> None:
        self.seed, self.background = seed, background
        super().__init__(
            f"The seed {seed} and the background seed {background} are in the same voxel: move or "
            "delete one of the two."
        )


@dataclass(frozen=True)
class Vessel:
    """One vessel of a result."""

    name: str  # of its list of points
    label: int  # in the labelmap
    segmentID: str  # empty without a segmentation
    volumeMl: float


@dataclass
class SegmentationResult:
    """Outputs and figures of one run; unpacks as (labelmapNode, sceneNode)."""

    labelmapNode: Any  # 1 in the first vessel, and so on
    sceneNode: Any  # vtkMRMLScalarVolumeNode, connectedness to the points, float32, 0..1
    threshold: float  # a voxel belongs to the vessels from this connectedness on
    vessels: list[Vessel]
    disputedMl: float = 0.0  # of voxels that two vessels reach equally, which belong to none
    # Of several vessels: that of every voxel of the scene, whatever the threshold; 254 for
    # background, 255 where it is disputed.
    divisionNode: Any = None
    affinity: Any = None  # FuzzyConnectedGPULib.GaussianAffinity of that model
    scene: Any = None  # FuzzyConnectedGPULib.FuzzyScene, with solver, device and times
    warnings: list[str] = field(default_factory=list)  # what the user should know
    segmentationNode: Any = None  # that was given, or added because True was given

    @property
    def volumeMl(self) -> float:
        """Of all vessels together, in millilitres."""
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
