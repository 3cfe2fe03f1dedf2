"""A run on MRML nodes: nodes to arrays, the library, and arrays back into nodes.

`Run` reads the scene when it is made; `Run.compute` touches no node, so that it may go on in a
thread; `Run.write` changes the scene when all is computed. One vessel is several with n = 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import HandOver, relabel
from FuzzyConnectedGPULib import segment as segment_arrays
from FuzzyConnectedGPULib.input_errors import SameVoxelError
from FuzzyConnectedGPULib.relative.groups import BACKGROUND
from FuzzyConnectedGPULib.threshold.gaps import check_rounds
from FuzzyConnectedGPULib.threshold.thresholds import check_threshold, choose_threshold
from FuzzyVesselCoreLib.errors import InputError, InputRemoved
from FuzzyVesselCoreLib.geometry import inside, voxel_volume
from FuzzyVesselCoreLib.mrml import ownership, reading
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing
from FuzzyVesselCoreLib.mrml.images import (
    associate,
    image_from_array,
    show_as_overlay,
)
from FuzzyVesselCoreLib.mrml.ownership import Writing, check_outputs
from FuzzyVesselCoreLib.mrml.points import Seeds, placed_points, points_in_volume, seeds_of
from FuzzyVesselCoreLib.mrml.provenance import voxel_time
from FuzzyVesselCoreLib.mrml.regions import region_mask
from FuzzyVesselCoreLib.mrml.segments import (
    SEEDS_TAG,
    is_as_written,
    new_segment,
    put_segment,
    result_segment,
)
from FuzzyVesselCoreLib.translation import tr as _

from . import run_inputs
from .result import FaintPointsNote, SamePlaceError, SegmentationResult, UnsureNote, Vessel
from .run_inputs import RunOptions
from .vessels import hand_over_voxels, is_seed, look
from .volume_curve import label_counts, note_fuzzy_scene, note_millilitres, scene_values

DISPUTED = "FuzzyVesselGPU.Disputed"  # in place of a list's ID in the tag of the segment
DISPUTED_COLOR = (0.8, 1.0, 0.0)  # of no vessel, and seen on grey

ProgressCallback = Callable[[float], bool | None]


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """The nodes to write into, as `FuzzyConnectedGPULogic.segment` has them."""

    sceneVolumeNode: Any = None
    labelmapNode: Any = None
    segmentationNode: Any = None  # True: a new one
    segmentID: str = ""
    showDisputed: bool = False

    def there(self) -> "Outputs":
        """Without those that left the scene: they are made anew."""
        segmentation = self.segmentationNode
        return replace(
            self,
            sceneVolumeNode=self.sceneVolumeNode if in_scene(self.sceneVolumeNode) else None,
            labelmapNode=self.labelmapNode if in_scene(self.labelmapNode) else None,
            segmentationNode=segmentation
            if segmentation is True or in_scene(segmentation)
            else None,
        )

    def check(self, volume_node: Any, options: RunOptions) -> None:
        """Refuse what cannot take the result of a run."""
        check_outputs(
            volume_node,
            self.sceneVolumeNode,
            self.labelmapNode,
            self.segmentationNode,
            self.segmentID,
            options.maskNode,
            options.maskSegmentID,
        )


class Run:
    """All that a run needs of the scene, as arrays.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    lists : sequence of vtkMRMLMarkupsNode
        The points of each vessel.
    options : RunOptions
    voxels : ndarray, optional
        A copy of the volume's voxels as they are now, where there is one.

    Raises
    ------
    InputError
        One of the nodes, or the threshold, cannot be used.
    """

    def __init__(
        self, volume_node: Any, lists: Sequence[Any], options: RunOptions, voxels: Any = None
    ) -> None:
        self.volume_node, self.lists, self.options = volume_node, list(lists), options
        others = (options.backgroundSeedsNode, options.maskNode, options.roiNode)
        self.inputs = [each for each in (volume_node, *lists, *others) if in_scene(each)]
        self.voxels = reading.voxels_of(volume_node) if voxels is None else voxels
        self._time = voxel_time(volume_node)
        shape = self.voxels.shape
        check_threshold(options.threshold, options.cut or 0.0)
        self.region = region_of(options, volume_node, shape)
        self._spacing = volume_node.GetSpacing()[::-1]
        self._seeds = seeds_of_vessels(self.lists, volume_node, shape, self.region)
        self._hand_overs, outside = hand_overs_of(self.lists, volume_node, shape)
        self._background = background_seeds(options.backgroundSeedsNode, volume_node, shape)
        self.text = run_inputs.inputs_text(volume_node, self.lists, options)
        self._heeded: str | None = None
        if options.threshold is None or options.fillGaps:
            self._heeded = run_inputs.threshold_text(volume_node, options.backgroundSeedsNode)
        first = next((each for each in self._seeds if each.labels), None)
        self.first_voxel = first.voxels[0] if first else np.zeros(3, int)
        self._warnings = [*(each for seeds in self._seeds for each in seeds.warnings), *outside]
        self._warnings += self._background.warnings if self._background else []

    def compute(self, progress: ProgressCallback | None = None, cached: Any = None) -> Any:
        """Call the library, which gives a `Segmentation`; no node is read or changed."""
        names = [vessel_name(self.lists, n) for n in range(len(self.lists))]
        try:
            return segment_arrays(
                self.voxels,
                {name: each.voxels for name, each in zip(names, self._seeds)},
                spacing=self._spacing,
                background_seeds=self._background and self._background.voxels,
                hand_overs=self._hand_overs,
                mask=self.region,
                progress=progress,
                cached=cached,
                **self.options.of_arrays(),
            )
        except SameVoxelError as error:
            raise self._named(error) from error

    def write(self, found: Any, outputs: Outputs) -> SegmentationResult:
        """Write what was computed into the scene."""
        refuse_without(self.inputs)
        values = found.scene.values
        if found.contrast is None:
            values = values.copy()  # the cache has the other one, and a node may be edited
        result = write(
            self.volume_node,
            self.lists,
            Arrays(found.labels, found.disputed, values, found.owners),
            outputs.there(),
            self.options,
            found.threshold,
        )
        chosen = found.threshold if self.options.threshold is None else None
        mark = run_inputs.Mark(self.text, self._time, found.contrast, self._heeded, chosen)
        mark.write(result.sceneNode, self.volume_node, self.lists, result.divisionNode)
        note_fuzzy_scene(result.sceneNode)
        notes = [*self._warnings, *found.notes, *map(self._with_labels, found.scene.notes)]
        result.warnings[:0] = list(dict.fromkeys(notes))
        result.affinity, result.scene = found.affinity, found.scene
        return result

    def _named(self, error: SameVoxelError) -> SamePlaceError:
        seed = labels_at(self._seeds, [error.voxel])
        return SamePlaceError(*seed[:1], *labels_at([self._background], [error.voxel])[:1])

    def _with_labels(self, note: str) -> str:
        """A note on seeds without contrast, with the labels of their points."""
        voxels = getattr(note, "voxels", ())
        return FaintPointsNote(note, labels_at(self._seeds, voxels)) if voxels else note


def segment(
    volume_node: Any,
    lists: Sequence[Any],
    options: RunOptions,
    outputs: Outputs,
    progress: ProgressCallback | None = None,
    cached: Any = None,
) -> SegmentationResult:
    """Compute scene, threshold and labels, and write them; see `FuzzyConnectedGPULogic`."""
    outputs.check(volume_node, options)
    run = Run(volume_node, lists, options)
    return run.write(run.compute(while_there(run.inputs, progress), cached), outputs)


def threshold_scene(scene_node: Any, options: RunOptions, outputs: Outputs) -> SegmentationResult:
    """Cut a fuzzy scene that is there at a threshold, of one vessel or of several."""
    threshold, cut, rounds = options.threshold, options.cut or 0.0, options.fillGaps
    check_threshold(threshold, cut)
    check_rounds(rounds)
    values = scene_values(scene_node)
    volume_node = scene_node.GetNodeReference(run_inputs.VOLUME) or scene_node
    image = volume_node.GetImageData()  # the volume may have lost it since
    if image is None or image.GetDimensions()[::-1] != values.shape:
        volume_node = scene_node
    outputs = replace(outputs.there(), sceneVolumeNode=scene_node)
    replace(outputs, sceneVolumeNode=None).check(volume_node, options)  # it is read, not written
    background = background_seeds(options.backgroundSeedsNode, scene_node, values.shape)
    points = background and background.voxels
    if threshold is None:
        threshold = run_inputs.contrast_threshold(scene_node)
    if threshold is None:
        threshold = choose_threshold(values, points, cut)
    region = region_of(options, scene_node, values.shape) if rounds else None
    lists, owners, hand_overs, notes = _division_of(scene_node, values.shape)
    found = relabel(
        values,
        threshold,
        owners=owners,
        vessels=[_voxels_inside(each, scene_node, values.shape) for each in lists],
        background_seeds=points,
        hand_overs=hand_overs,
        spacing=scene_node.GetSpacing()[::-1],
        fill_gaps=rounds,
        mask=region,
    )
    arrays, notes = Arrays(found.labels, found.disputed), [*notes, *found.notes]
    result = write(volume_node, lists, arrays, outputs, options, threshold)
    result.warnings[:0] = [*notes, *(background.warnings if background else ())]
    return result


# --- nodes to arrays


def labels_at(seeds: Sequence[Seeds], voxels: Sequence[tuple[int, ...]]) -> tuple[str, ...]:
    """Labels of the points that lie in voxels."""
    wanted = {tuple(map(int, each)) for each in voxels}
    return tuple(
        str(label)
        for each in seeds
        for voxel, label in zip(each.voxels.tolist(), each.labels)
        if tuple(voxel) in wanted
    )


def region_of(options: RunOptions, volume_node: Any, shape: tuple[int, ...]) -> Any:
    """The voxels that mask and box leave: ndarray (K, J, I), bool; None without them."""
    return region_mask(options.maskNode, options.roiNode, volume_node, shape, options.maskSegmentID)


def background_seeds(node: Any, volume_node: Any, shape: tuple[int, ...]) -> Any:
    """The points of a list as background seeds; None without a list, or if it has no point."""
    if node is None or not placed_points(node).labels:
        return None
    return seeds_of(node, volume_node, shape, kind="background seed")


def seeds_of_vessels(
    lists: Sequence[Any], volume_node: Any, shape: Any, region: Any
) -> list[Seeds]:
    """The seeds of each vessel; none where it has only branches that are handed over."""
    if len(lists) == 1:
        return [seeds_of(lists[0], volume_node, shape, region)]
    found = []
    for node in lists:
        placed = placed_points(node).labels if node is not None else []
        if placed and not placed_points(node, is_seed).labels:
            found.append(Seeds(np.empty((0, 3), np.int64), [], []))
        else:
            found.append(seeds_of(node, volume_node, shape, region, wanted=is_seed))
    return found


def hand_overs_of(
    lists: Sequence[Any], volume_node: Any, shape: tuple[int, ...]
) -> tuple[list[HandOver], list[str]]:
    """The branches that points hand over, in their order, and warnings on points outside."""
    if len(lists) < 2:
        return [], []
    found, warnings = [], []
    for voxel, label, name in hand_over_voxels(lists, volume_node):
        if inside(voxel[None], shape)[0]:
            k, j, i = voxel.tolist()
            found.append(HandOver((k, j, i), label, name))
        else:
            text = _("{name} lies outside of the volume and hands no branch over.")
            warnings.append(text.format(name=name))
    return found, warnings


def _voxels_inside(node: Any, volume_node: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The voxels (n, 3) of a vessel's own points that lie in the volume."""
    points = placed_points(node, is_seed) if node is not None else None
    if points is None or not points.labels:
        return np.empty((0, 3), np.int64)
    voxels = points_in_volume(volume_node, points.world)
    return voxels[inside(voxels, shape)]


def _division_of(scene_node: Any, shape: tuple[int, ...]) -> tuple[list, Any, list, list]:
    """The lists of a scene, its division as it was saved (None for one), hand-overs, warnings."""
    if scene_node.GetNodeReference(run_inputs.DIVISION) is None:
        return [scene_node.GetNodeReference(run_inputs.SEEDS)], None, [], []
    lists = run_inputs.vessels_of_scene(scene_node)
    owners = reading.voxels_of(scene_node.GetNodeReference(run_inputs.DIVISION))
    vessels = np.flatnonzero(np.bincount(owners.ravel(), minlength=256)[:BACKGROUND])
    if owners.shape != shape or not lists or vessels.max(initial=0) > len(lists):
        raise InputError(
            _(
                "The vessels' lists of points, or the division of the result, have changed "
                "since: press Apply (segment in a script)."
            )
        )
    return lists, owners, *hand_overs_of(lists, scene_node, shape)


def vessel_name(lists: Sequence[Any], number: int) -> str:
    """The name of a vessel in messages; names of lists may be the same."""
    name = lists[number].GetName() or "vessel"
    same = [each.GetName() for each in lists].count(name) > 1
    return f"{name} ({number + 1})" if same else name


def while_there(nodes: list[Any], progress: ProgressCallback | None) -> ProgressCallback | None:
    """A progress callback that ends the run when one of its inputs leaves the scene."""
    if progress is None:
        return None  # nobody else gets a turn in the meantime

    def go_on(fraction: float) -> bool | None:
        carry_on = progress(fraction)
        refuse_without(nodes)
        return carry_on

    return go_on


def refuse_without(nodes: list[Any]) -> None:
    """Raise `InputRemoved` where an input is no longer in the scene."""
    for node in nodes:
        if not in_scene(node):
            raise InputRemoved(reading.node_name(node))


def in_scene(node: Any) -> bool:
    """Whether there is a node, and it is in the scene."""
    import slicer

    return node is not None and bool(slicer.mrmlScene.IsNodePresent(node))


# --- arrays to nodes


@dataclass(frozen=True)
class Arrays:
    """What was found, as arrays (K, J, I); without values scene and division stay as they are."""

    labels: np.ndarray  # uint8, the number of the vessel
    disputed: np.ndarray | None = None  # bool
    values: np.ndarray | None = None  # float32, connectedness
    owners: np.ndarray | None = None  # uint8, of several vessels: whatever the threshold


def write(
    volume_node: Any,
    lists: Sequence[Any],
    arrays: Arrays,
    outputs: Outputs,
    options: RunOptions,
    threshold: float,
) -> SegmentationResult:
    """Put vessels into the scene, completely or not at all."""
    given = outputs.segmentationNode
    there = None if given is True else given
    segment_id = outputs.segmentID if len(lists) == 1 else ""
    if segment_id:
        _refuse_removed(there, segment_id)
    voxel_ml = voxel_volume(reading.ijk_to_ras(volume_node)) / 1000
    counts = label_counts(arrays.labels, len(lists))
    images = [
        None if array is None else image_from_array(array, taken=True)
        for array in (arrays.labels, arrays.values, arrays.owners)
    ]
    segments = _segments(volume_node, lists, arrays, there) if given else []
    scene_node, division_node, segmentation_node = outputs.sceneVolumeNode, None, there
    ids: list[str] = []
    writing = Writing(volume_node)
    with all_or_nothing() as change:
        labelmap_node = writing.fill(change, outputs.labelmapNode, ownership.LABELMAP, images[0])
        associate(labelmap_node, volume_node)
        if images[1] is not None:
            earlier = scene_node and scene_node.GetNodeReference(run_inputs.DIVISION)
            scene_node = writing.fill(change, scene_node, ownership.CONNECTEDNESS, images[1])
            if images[2] is not None:
                kind, name = ownership.DIVISION, "vtkMRMLLabelMapVolumeNode"
                earlier = earlier or ownership.output_of(volume_node, kind, name)
                division_node = writing.fill(change, earlier, kind, images[2])
                associate(division_node, volume_node)
        else:
            show_as_overlay(scene_node)
            division_node = scene_node.GetNodeReference(run_inputs.DIVISION)
        if segments:
            segmentation_node = writing.node(change, there, ownership.SEGMENTATION)
            where = segmentation_node, volume_node, segment_id, options.maskSegmentID
            ids = [put_segment(segment, *where) for segment in segments]
            if arrays.disputed is not None:
                _put_disputed(segmentation_node, volume_node, arrays, outputs, options)
        writing.end()
    note_millilitres(labelmap_node, counts, voxel_ml)
    vessels = [
        Vessel(
            node.GetName() if node is not None else "",
            n + 1,
            ids[n] if ids else "",
            float(counts[n + 1]) * voxel_ml,
        )
        for n, node in enumerate(lists)
    ]
    disputed = 0 if arrays.disputed is None else np.count_nonzero(arrays.disputed)
    return SegmentationResult(
        labelmapNode=labelmap_node,
        sceneNode=scene_node,
        threshold=threshold,
        vessels=vessels,
        disputedMl=float(disputed) * voxel_ml,
        divisionNode=division_node,
        segmentationNode=segmentation_node,
        warnings=UnsureNote.of(threshold),
    )


def _refuse_removed(segmentation_node: Any, segment_id: str) -> None:
    """Refuse to write if the chosen segment was deleted."""
    if segmentation_node is None or not segmentation_node.GetSegmentation().GetSegment(segment_id):
        raise InputError(
            _("The segment that was to be overwritten was removed; choose another, or a new one.")
        )


def _segments(volume_node: Any, lists: Sequence[Any], arrays: Arrays, there: Any) -> list[Any]:
    if len(lists) == 1:
        return [new_segment(volume_node, arrays.labels, there, lists[0])]
    found = []
    for label, node in enumerate(lists, 1):
        part = (arrays.labels == label).astype(np.uint8)
        found.append(new_segment(volume_node, part, there, node))
        look(found[-1], node)
    return found


def disputed_segment(segmentation_node: Any, volume_node: Any) -> str:
    """ID of the segment of the disputed voxels; empty without one."""
    return result_segment(segmentation_node, _Disputed, volume_node)


def _put_disputed(
    segmentation_node: Any,
    volume_node: Any,
    arrays: Arrays,
    outputs: Outputs,
    options: RunOptions,
) -> None:
    """Add, change or remove the segment of the disputed voxels; an edited one stays."""
    if outputs.showDisputed:
        part = arrays.disputed.astype(np.uint8)  # type: ignore[union-attr]
        segment = new_segment(volume_node, part, segmentation_node, None)
        segment.SetName("Disputed")
        segment.SetColor(DISPUTED_COLOR)
        segment.SetTag(SEEDS_TAG, DISPUTED)
        put_segment(segment, segmentation_node, volume_node, "", options.maskSegmentID)
        return
    segmentation = segmentation_node.GetSegmentation()
    there = disputed_segment(segmentation_node, volume_node)
    if there and is_as_written(segmentation.GetSegment(there)):
        segmentation.RemoveSegment(there)


class _Disputed:
    """Takes the place of a list of points where the disputed voxels' segment is looked for."""

    @staticmethod
    def GetID() -> str:
        return DISPUTED

    @staticmethod
    def GetAttribute(_name: str) -> None:
        return None
