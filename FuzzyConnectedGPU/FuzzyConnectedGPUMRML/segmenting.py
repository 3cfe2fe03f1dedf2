"""A run on MRML nodes: nodes to arrays, the library, and arrays back into nodes.

`Run` reads nodes when it is made; `Run.compute` touches none, so that it may go on in a thread;
`Run.write` writes nodes when all is computed. One vessel is a list with one entry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import Segmentation, SegmentOptions, relabel
from FuzzyConnectedGPULib import segment as segment_arrays
from FuzzyConnectedGPULib.input_validation import SameVoxelError
from FuzzyConnectedGPULib.scene import CONTRAST_THRESHOLD
from FuzzyConnectedGPULib.thresholds import UNSURE, choose_threshold
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import reading, segments, writing
from FuzzyVesselCoreLib.mrml.points import PlacedPoints, placed_points, points_in_volume, seeds_of
from FuzzyVesselCoreLib.mrml.writing import CONNECTEDNESS, DIVISION, LABELMAP, OUTPUTS, SEGMENTATION
from FuzzyVesselCoreLib.progress import ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _

from . import fuzzy_scene
from .fuzzy_scene import labelled_millilitres, scene_array
from .vessel_lists import hand_overs_of, seed_voxels, seeds_of_vessels

DISPUTED = "FuzzyVesselGPU.Disputed"  # in place of a list: what their segment is made of
DISPUTED_COLOR = (0.8, 1.0, 0.0)  # of no vessel, and seen on grey


# ---- what a run is given, and what it gives back


@dataclass(frozen=True, kw_only=True)
class NodeOptions(SegmentOptions):
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
    segmentationNode: Any = None  # or True, which adds one
    segmentID: str = ""
    showDisputed: bool = False

    @property
    def earlier_segmentation(self) -> Any:
        """The segmentation that is written into; None where one is added, or none is wanted."""
        return None if self.segmentationNode is True else self.segmentationNode

    def region(self, volume_node: Any, shape: tuple[int, ...]) -> np.ndarray | None:
        """The voxels that mask and box leave: ndarray (K, J, I), bool; None without them."""
        mask, box = self.maskNode, self.roiNode
        return reading.region_mask(mask, box, volume_node, shape, self.maskSegmentID)

    def check_outputs(self, volume_node: Any) -> None:
        """Refuse what cannot take the result of a run, or is its input."""
        scene, labelmap = self.sceneVolumeNode, self.labelmapNode
        segmentation = self.earlier_segmentation
        for node, class_name, kind in (
            (scene, "vtkMRMLScalarVolumeNode", _("scalar volume")),
            (labelmap, "vtkMRMLLabelMapVolumeNode", _("labelmap volume")),
            (segmentation, "vtkMRMLSegmentationNode", _("segmentation")),
        ):
            if node is not None and node.GetClassName() != class_name:
                text = _("The output {node} must be a {kind}.")
                raise InputError(text.format(node=reading.node_name(node), kind=kind))
        inputs = {_("input volume"): volume_node, _("mask"): self.maskNode}
        writing.check_apart((scene, labelmap), inputs)
        if segmentation is not None:
            segments.check_segmentation(segmentation, self.segmentID)
            if segmentation is self.maskNode and self.maskSegmentID in ("", self.segmentID):
                text = _(
                    "The result would change the mask in {mask}: choose one segment as mask, and "
                    "another one, or a new one, for the result."
                )
                raise InputError(text.format(mask=reading.node_name(segmentation)))


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
    # Of several vessels: that of every voxel of `scene`, whatever the threshold; 254 for
    # background, 255 where it is disputed.
    divisionNode: Any = None
    affinity: Any = None  # FuzzyConnectedGPULib.GaussianAffinity of that model
    scene: Any = None  # FuzzyConnectedGPULib.FuzzyScene, with solver, device and times
    warnings: list[str] = field(default_factory=list)  # what the user should know
    # Points without contrast to their surroundings: their list, and their index there.
    pointsWithoutContrast: list[tuple[Any, int]] = field(default_factory=list)
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


# ---- the run


class Run:
    """All that a run needs of its nodes, as arrays; `InputError` where a node cannot be used.

    `lists` are the points of each vessel, `voxels` a copy of the volume's array, if there is one.
    """

    def __init__(
        self, volume_node: Any, lists: Sequence[Any], options: NodeOptions, voxels: Any = None
    ) -> None:
        options.check_outputs(volume_node)
        self.volume_node, self.lists, self.options = volume_node, list(lists), options
        others = (options.backgroundSeedsNode, options.maskNode, options.roiNode)
        self.inputs = [each for each in (volume_node, *lists, *others) if writing.in_scene(each)]
        self.voxels = reading.voxels_of(volume_node) if voxels is None else voxels
        self._grid, shape = _grid_of(volume_node), self.voxels.shape
        self.region = options.region(volume_node, shape)
        self._spacing = volume_node.GetSpacing()[::-1]
        self._seeds = seeds_of_vessels(self.lists, volume_node, shape, self.region)
        self._hand_overs, outside = hand_overs_of(self.lists, volume_node, shape)
        self._background = _background_points(options.backgroundSeedsNode, volume_node, shape)
        self._names: list[str] = []  # in messages, each once
        for node in self.lists:
            self._names.append(segments.free_name(node.GetName() or "vessel", self._names))
        self.fingerprint = fuzzy_scene.fingerprint_of(volume_node, self.lists, options)
        self._warnings = [*(each for seeds in self._seeds for each in seeds.warnings), *outside]
        self._warnings += self._background.warnings if self._background else []

    def compute(self, progress: ProgressCallback | None = None, cached: Any = None) -> Segmentation:
        """Call the library; no node is read or changed."""
        try:
            return segment_arrays(
                self.voxels,
                {name: each.voxels for name, each in zip(self._names, self._seeds)},
                spacing=self._spacing,
                background_seeds=self._background and self._background.voxels,
                hand_overs=self._hand_overs,
                mask=self.region,
                options=self.options,
                progress=progress,
                cached=cached,
            )
        except SameVoxelError as error:
            seed = _label_at(error.voxel, *self._seeds)
            other = _label_at(error.voxel, self._background)
            text = _(
                "'{seed}' (vessel) and '{background}' (not vessel) are at the same place: move or "
                "delete one."
            )
            raise InputError(text.format(seed=seed, background=other)) from error

    def write(self, found: Segmentation, **outputs: Any) -> SegmentationResult:
        """Write what was computed into nodes; `outputs` replace those of the options."""
        writing.check_in_scene(self.inputs)
        if not np.array_equal(_grid_of(self.volume_node), self._grid):
            text = _("The voxels of {volume} were replaced or moved during the run: run it again.")
            raise InputError(text.format(volume=reading.node_name(self.volume_node)))
        options = replace(self.options, **outputs)
        options.check_outputs(self.volume_node)
        arrays = {LABELMAP: found.labels, CONNECTEDNESS: found.scene.values}
        if found.owners is not None:
            arrays[DIVISION] = found.owners
        result = _write_outputs(
            self.volume_node, self.lists, options, found.threshold, arrays, found.disputed
        )
        fuzzy_scene.note_inputs(result.sceneNode, result.divisionNode, self, found)
        warnings = dict.fromkeys([*self._warnings, *found.notes, *found.scene.notes])
        result.warnings = [*warnings, *result.warnings]
        voxels = set(found.scene.without_contrast)
        result.pointsWithoutContrast = _points_in(voxels, self.lists, self.volume_node)
        result.affinity, result.scene = found.affinity, found.scene
        return result


def relabel_scene(scene_node: Any, options: NodeOptions) -> SegmentationResult:
    """Write the labels of an earlier fuzzy scene at another threshold."""
    values = scene_array(scene_node)
    volume_node = scene_node.GetNodeReference(fuzzy_scene.VOLUME) or scene_node
    image = volume_node.GetImageData()  # the volume may have lost it since
    if image is None or image.GetDimensions()[::-1] != values.shape:
        volume_node = scene_node
    replace(options, sceneVolumeNode=None).check_outputs(volume_node)
    options = replace(options, sceneVolumeNode=scene_node)  # it is not filled
    background = _background_points(options.backgroundSeedsNode, scene_node, values.shape)
    threshold = options.threshold
    if threshold is None:
        threshold = default_threshold(scene_node, options.backgroundSeedsNode, options.cut)
    lists, owners = fuzzy_scene.division_of(scene_node, values.shape)
    hand_overs, outside = hand_overs_of(lists, scene_node, values.shape)
    found = relabel(
        values,
        threshold,
        owners=owners,
        vessels=seed_voxels(lists, scene_node, values.shape) if hand_overs else (),
        background_seeds=background and background.voxels,
        hand_overs=hand_overs,
        spacing=scene_node.GetSpacing()[::-1],
        fill_gaps=options.fill_gaps,
        mask=options.region(scene_node, values.shape) if options.fill_gaps else None,
    )
    arrays = {LABELMAP: found.labels}
    result = _write_outputs(volume_node, lists, options, threshold, arrays, found.disputed)
    warnings = [*outside, *found.notes, *(background.warnings if background else ())]
    result.warnings = [*warnings, *result.warnings]
    return result


def default_threshold(scene_node: Any, background_node: Any, cut: float | None) -> float:
    """The threshold that a run would choose for a fuzzy scene."""
    values = scene_array(scene_node)
    if fuzzy_scene.by_contrast(scene_node):
        return CONTRAST_THRESHOLD
    background = _background_points(background_node, scene_node, values.shape)
    return choose_threshold(values, background and background.voxels, cut or 0.0)


# --- nodes to arrays


def _grid_of(volume_node: Any) -> np.ndarray:
    """Where a volume has voxels: their number along I, J, K below its IJKToRAS."""
    image = volume_node.GetImageData()
    counts = image.GetDimensions() if image is not None else (0, 0, 0)
    return np.vstack([reading.ijk_to_ras(volume_node), [*counts, 1]])


def _label_at(voxel: tuple[int, ...], *seeds: PlacedPoints) -> str:
    """The label of a point that lies in a voxel."""
    return next(
        label
        for each in seeds
        for place, label in zip(each.voxels.tolist(), each.labels)
        if tuple(place) == tuple(voxel)
    )


def _points_in(voxels: set, lists: Sequence[Any], volume_node: Any) -> list[tuple[Any, int]]:
    """The points, as list and index, that lie in voxels now: a run may have begun long ago."""
    found = []
    for node in lists:
        points = placed_points(node)
        places = points_in_volume(volume_node, points.world).tolist()
        found += [(node, n) for n, place in zip(points.indices, places) if tuple(place) in voxels]
    return found


def _background_points(node: Any, volume_node: Any, shape: tuple[int, ...]) -> Any:
    """The points of a list as background seeds; None without a list, or if it has no point."""
    if node is None or not placed_points(node).labels:
        return None
    return seeds_of(node, volume_node, shape, kind="background seed")


# --- arrays to nodes


def _write_outputs(
    volume_node: Any,
    lists: Sequence[Any],
    options: NodeOptions,
    threshold: Any,
    arrays: dict[str, np.ndarray],
    disputed: np.ndarray | None,
) -> SegmentationResult:
    """Put arrays (by their kind of output) and segments into nodes; new ones go if that fails.

    Without the array of the fuzzy scene its node keeps its voxels; disputed voxels are None for one
    vessel.
    """
    nodes = _earlier_outputs(volume_node, options)
    segment_id = options.segmentID if len(lists) == 1 else ""
    if segment_id and nodes[SEGMENTATION] is None:
        raise InputError(
            _("The segment that was to be overwritten was removed; choose another, or a new one.")
        )
    new_segments = _new_segments(volume_node, lists, options, arrays[LABELMAP])
    images = {kind: reading.image_from_array(each, copy=False) for kind, each in arrays.items()}
    kinds = [*images, SEGMENTATION] if new_segments else [*images]
    missing, segment_ids = [kind for kind in kinds if nodes[kind] is None], [""] * len(lists)
    with writing.new_nodes() as add:
        for kind in missing:
            class_name, word = OUTPUTS[kind]
            nodes[kind] = add(class_name, f"{volume_node.GetName() or 'Volume'} {word}")
        writing.show_as_overlay(nodes[CONNECTEDNESS])
        if CONNECTEDNESS in images:  # if writing fails, what is written is no inputs' result
            nodes[CONNECTEDNESS].SetAttribute(fuzzy_scene.INPUTS, None)
        for kind, image in images.items():
            writing.fill_volume(nodes[kind], image, volume_node)
        where = nodes[SEGMENTATION], volume_node, segment_id, options.maskSegmentID
        for number, segment in enumerate(new_segments):
            segment_ids[number] = segments.put_segment(segment, *where)
        if new_segments and disputed is not None:
            shown = disputed if options.showDisputed else None
            _put_disputed(nodes[SEGMENTATION], volume_node, shown, options.maskSegmentID)
        writing.put_beside([nodes[kind] for kind in missing], volume_node)
        for kind in kinds:
            writing.claim(nodes[kind], kind, volume_node)
    disputed_count = 0 if disputed is None else int(np.count_nonzero(disputed))
    unsure = getattr(threshold, "confidence", 1) < UNSURE
    text = _("The automatic threshold is unsure: {reason}.")
    return SegmentationResult(
        labelmapNode=nodes[LABELMAP],
        sceneNode=nodes[CONNECTEDNESS],
        threshold=threshold,
        vessels=_vessels(lists, nodes[LABELMAP], segment_ids),
        disputedMl=disputed_count * fuzzy_scene.voxel_ml(volume_node),
        divisionNode=None if disputed is None else nodes[DIVISION],
        segmentationNode=nodes[SEGMENTATION],
        warnings=[text.format(reason=threshold.reason)] if unsure else [],
    )


def _earlier_outputs(volume_node: Any, options: NodeOptions) -> dict[str, Any]:
    """The nodes that are written into, by their kind; None where one is to be added."""
    scene_node = options.sceneVolumeNode
    division = scene_node and scene_node.GetNodeReference(fuzzy_scene.DIVIDED)
    return {
        LABELMAP: options.labelmapNode,
        CONNECTEDNESS: scene_node,
        DIVISION: division or writing.output_of(volume_node, DIVISION, OUTPUTS[DIVISION][0]),
        SEGMENTATION: options.earlier_segmentation,
    }


def _new_segments(
    volume_node: Any, lists: Sequence[Any], options: NodeOptions, labels: np.ndarray
) -> list[Any]:
    """A vtkSegment for each list, which is in no segmentation yet; none where none is wanted."""
    new = []
    for label, node in enumerate(lists if options.segmentationNode else (), 1):
        part = labels if len(lists) == 1 else (labels == label).astype(np.uint8)
        new.append(segments.new_segment(volume_node, part, options.earlier_segmentation, node))
    return new


def _vessels(lists: Sequence[Any], labelmap: Any, segment_ids: Sequence[str]) -> list[Vessel]:
    found = []
    for label, (node, segment_id) in enumerate(zip(lists, segment_ids), 1):
        name = node.GetName() if node is not None else ""
        volume = labelled_millilitres(labelmap, label) or 0.0
        found.append(Vessel(name, label, segment_id, volume))
    return found


def _put_disputed(segmentation_node: Any, volume_node: Any, disputed: Any, mask_id: str) -> None:
    """Add, change or remove the segment of the disputed voxels; an edited one stays."""
    if disputed is not None:
        labels = disputed.astype(np.uint8)
        segment = segments.new_segment(volume_node, labels, segmentation_node, DISPUTED)
        segment.SetName("Disputed")
        segment.SetColor(DISPUTED_COLOR)
        segments.put_segment(segment, segmentation_node, volume_node, "", mask_id)
        return
    there = segments.result_segment(segmentation_node, DISPUTED, volume_node, unedited=True)
    if there:
        segmentation_node.GetSegmentation().RemoveSegment(there)
