"""What a result was made of (its origin), as texts that its fuzzy scene carries along."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import SegmentOptions
from FuzzyConnectedGPULib.contrast import ContrastThreshold
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxels_to_points
from FuzzyVesselCoreLib.mrml.ownership import check_apart
from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.mrml.provenance import mask_fingerprint, rounded, volume_fingerprint
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name
from FuzzyVesselCoreLib.mrml.segments import check_segmentation
from FuzzyVesselCoreLib.translation import tr as _

from .vessel_lists import is_hand_over, refer, referred

# Of a fuzzy scene's node: attributes with the texts, and references to what it belongs to.
INPUTS = "FuzzyVesselGPU.Inputs"
THRESHOLD_INPUTS = "FuzzyVesselGPU.ThresholdInputs"  # of a threshold that points have a say in
CONTRAST = "FuzzyVesselGPU.Contrast"  # and noise, of the model "contrast"
AUTOMATIC = "FuzzyVesselGPU.AutomaticThreshold"  # of the model "affinity", where a run chose it
VOLUME, SEEDS = "FuzzyVesselGPU.Volume", "FuzzyVesselGPU.Seeds"
# .. and of several vessels: their lists, in the order of the labels, and the division.
VESSELS, DIVISION = "FuzzyVesselGPU.Vessels", "FuzzyVesselGPU.Division"
COUNT = "FuzzyVesselGPU.VesselCount"  # attribute: references to lists that were removed go

CORRECTED = "cuda-kfoe-corrected"  # the solver that has corrections and directions


@dataclass(frozen=True, kw_only=True)
class RunOptions(SegmentOptions):
    """All that a run is given beside its volume and points: the library's options, and nodes.

    The attributes in camelCase are arguments of `FuzzyConnectedGPULogic.segment`.
    """

    backgroundSeedsNode: Any = None
    maskNode: Any = None
    maskSegmentID: str = ""
    roiNode: Any = None
    # .. and what is written into
    sceneVolumeNode: Any = None
    labelmapNode: Any = None
    segmentationNode: Any = None  # True: a new one
    segmentID: str = ""
    showDisputed: bool = False

    def check_outputs(self, volume_node: Any) -> None:
        """Refuse what cannot take the result of a run, or is its input."""
        scene, labelmap = self.sceneVolumeNode, self.labelmapNode
        segmentation = None if self.segmentationNode is True else self.segmentationNode
        for node, class_name, kind in (
            (scene, "vtkMRMLScalarVolumeNode", _("scalar volume")),
            (labelmap, "vtkMRMLLabelMapVolumeNode", _("labelmap volume")),
            (segmentation, "vtkMRMLSegmentationNode", _("segmentation")),
        ):
            if node is not None and not node.IsA(class_name):
                text = _("The output {node} must be a {kind}.")
                raise InputError(text.format(node=node_name(node), kind=kind))
        if scene is not None and scene.IsA("vtkMRMLLabelMapVolumeNode"):
            text = _("The connectedness map cannot go into the labelmap {scene}.")
            raise InputError(text.format(scene=node_name(scene)))
        inputs = {_("input volume"): volume_node, _("mask"): self.maskNode}
        check_apart((scene, labelmap), inputs)
        if segmentation is not None:
            if segmentation is self.maskNode:
                self._check_mask(segmentation, self.maskSegmentID)
            check_segmentation(segmentation, self.segmentID)

    def _check_mask(self, node: Any, mask_id: str) -> None:
        """Refuse to write into the segments that are the run's mask: one, or all of them."""
        if not mask_id:
            text = _(
                "All segments of {mask} are the mask, and the result would become one of "
                "them: choose one segment as mask, or another segmentation for the result."
            )
            raise InputError(text.format(mask=node_name(node)))
        if self.segmentID == mask_id:
            segment = node.GetSegmentation().GetSegment(mask_id)
            name = segment.GetName() if segment is not None else mask_id
            text = _(
                "The segment '{name}' of {mask} is the mask and cannot be overwritten: "
                "choose another one, or a new segment."
            )
            raise InputError(text.format(name=name, mask=node_name(node)))


def in_scene(node: Any) -> bool:
    """Whether there is a node, and it is in the scene."""
    import slicer

    return node not in (None, True) and bool(slicer.mrmlScene.IsNodePresent(node))


def origin_of(volume_node: Any, lists: Sequence[Any], options: RunOptions) -> dict[str, str | None]:
    """What a result of these inputs is made of: texts by attributes of its fuzzy scene.

    They differ wherever the result may differ, and are the same after loading. Exact solvers give
    the same connectedness on every device, so the device does not count. Names of lists do not
    count, their order does. Empty where there is no volume, or a vessel has no point.
    """
    return {
        INPUTS: _inputs_text(volume_node, lists, options),
        THRESHOLD_INPUTS: threshold_text(volume_node, options),
    }


def _inputs_text(volume_node: Any, lists: Sequence[Any], options: RunOptions) -> str:
    if volume_node is None or volume_node.GetImageData() is None or not lists:
        return ""
    mask, roi = options.maskNode, options.roiNode
    if mask is not None:
        fingerprint = mask_fingerprint(mask, options.maskSegmentID)
        mask = mask.GetName(), options.maskSegmentID, fingerprint
    shared = [mask, roi and _box(roi)]
    model = _of_affinity(options) if options.object_model == "affinity" else []
    background = [] if model else _background(volume_node, options.backgroundSeedsNode)
    texts = []
    for node in lists:
        points = [] if node is None else _centres(volume_node, placed_points(node))
        if not points:
            return ""
        # In the model "contrast" the first point counts more than the others, and background
        # points change the scene.
        own = model or ["contrast", options.border or "drawn", points[0], background]
        grid = [volume_node.GetName(), volume_node.GetImageData().GetDimensions()]
        texts.append(_hashed([*grid, sorted(points), *shared, *own]))
    for node in lists if len(lists) > 1 else ():
        given = placed_points(node, is_hand_over)
        numbers = [node.GetNthControlPointDescription(index) for index in given.indices]
        texts.append(repr((numbers, _centres(volume_node, given))))
    text = texts[0] if len(lists) == 1 else _hashed(texts)
    return f"{text} {volume_fingerprint(volume_node)}"


def _of_affinity(chosen: RunOptions) -> list[Any]:
    """What counts of the model "affinity"."""
    estimate = chosen.affinity or (chosen.radius or 2, chosen.side or "both")
    parts = [estimate, round(chosen.cut or 0, 6), chosen.solver or "exact"]
    variant = [chosen.corrections, chosen.directions]
    return parts + variant if chosen.solver == CORRECTED else parts


def threshold_text(volume_node: Any, options: RunOptions) -> str | None:
    """A text of the background points where threshold or filled gaps alone heed them; or None.

    In the model "contrast" the scene heeds them already.
    """
    heeded = options.threshold is None or options.fill_gaps
    if not heeded or options.object_model == "contrast":
        return None
    return _hashed([_background(volume_node, options.backgroundSeedsNode)])


def _hashed(parts: list[Any]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _background(volume_node: Any, background_node: Any) -> list:
    if volume_node is None or background_node is None:
        return []
    return sorted(_centres(volume_node, placed_points(background_node)))


def _centres(volume_node: Any, points: Any) -> list[tuple]:
    """Centres of the points' voxels, each once; no indices, as a file may turn an axis round."""
    if not points.labels:
        return []
    voxels = points_in_volume(volume_node, points.world)
    centres = rounded(voxels_to_points(voxels, ijk_to_ras(volume_node)), 2)
    return list(dict.fromkeys(map(tuple, centres)))


def _box(roi_node: Any) -> tuple:
    matrix = roi_node.GetObjectToWorldMatrix()
    axes = [[matrix.GetElement(row, column) for column in range(4)] for row in range(3)]
    return rounded(axes, 3), rounded(np.array(roi_node.GetSize()), 3), roi_node.GetInsideOut()


def note_origin(
    scene_node: Any, texts: dict[str, str | None], references: dict[str, Sequence[Any]]
) -> None:
    """Write the origin of a fuzzy scene on its node, and the nodes that it is made of."""
    for name, text in texts.items():
        scene_node.SetAttribute(name, text)
    for role, nodes in references.items():
        refer(scene_node, role, nodes)


def is_from(scene_node: Any, origin: dict[str, str | None]) -> bool:
    """Whether a fuzzy scene and its labels are of an origin (of `origin_of`)."""
    noted = scene_node.GetAttribute(INPUTS) if scene_node is not None else None
    # The text of an earlier version ends before the fingerprint of the volume.
    if not noted or not (origin[INPUTS] or "").startswith(noted):
        return False
    return origin[THRESHOLD_INPUTS] in (None, scene_node.GetAttribute(THRESHOLD_INPUTS))


def vessels_of_scene(scene_node: Any) -> list[Any]:
    """The lists of the vessels that a fuzzy scene was divided among, in their order.

    None for one vessel, and where a list was removed since: labels would be those of others.
    """
    if scene_node is None or scene_node.GetNodeReference(DIVISION) is None:
        return []
    there = referred(scene_node, VESSELS)
    return there if len(there) == int(scene_node.GetAttribute(COUNT) or len(there)) else []


def contrast_threshold(scene_node: Any) -> ContrastThreshold | None:
    """The threshold of a scene of the model "contrast"; None for another scene."""
    text = scene_node.GetAttribute(CONTRAST) if scene_node is not None else None
    return ContrastThreshold(*map(float, text.split())) if text else None


def threshold_of_run(scene_node: Any) -> float | None:
    """The threshold that the run chose itself, or would have in the model "contrast"; or None."""
    contrast = contrast_threshold(scene_node)
    if contrast is not None:
        return float(contrast)
    text = scene_node.GetAttribute(AUTOMATIC) if scene_node is not None else None
    return float(text) if text else None


# ---- What a segmentation on the MRML scene gives back, and what can stand against it


class UnsureNote(str):
    """An automatic threshold (attribute `threshold`) is of low confidence."""

    threshold: Any

    def __new__(cls, threshold: Any) -> "UnsureNote":
        self = super().__new__(cls, f"The automatic threshold is unsure: {threshold.reason}")
        self.threshold = threshold
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
    faintLabels: tuple[str, ...] = ()  # of points without contrast to their surroundings
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
