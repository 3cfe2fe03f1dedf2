"""One run on MRML nodes: nodes in, arrays to the algorithm, arrays back into nodes."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.input_errors import SameVoxelError
from FuzzyConnectedGPULib.segmentation import segment as segment_arrays
from FuzzyConnectedGPULib.threshold.choice import check_threshold, choose_threshold
from FuzzyConnectedGPULib.threshold.gaps import check_rounds, fill_gaps
from FuzzyConnectedGPULib.threshold.thresholds import binarize
from FuzzyVesselCoreLib.errors import InputError, InputRemoved
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml import outputs as mrml_outputs
from FuzzyVesselCoreLib.mrml import reading as mrml
from FuzzyVesselCoreLib.mrml.points import placed_points, seeds_of
from FuzzyVesselCoreLib.mrml.provenance.voxel_times import voxel_time
from FuzzyVesselCoreLib.mrml.regions import region_mask
from FuzzyVesselCoreLib.translation import tr as _

from . import run_inputs
from .result import SegmentationResult, UnsureNote
from .same_place import named
from .volume_curve import scene_values

# Options that the connectedness depends on, beside the nodes.
MODEL_OPTIONS = (
    *("model", "border", "affinity", "feature", "radius", "side", "cut", "solver"),
    *("corrections", "directions"),
)


def segment(
    volume_node: Any,
    seeds_node: Any,
    options: dict[str, Any],
    outputs: dict[str, Any],
    progress: Callable[[float], bool | None] | None = None,
    kept: Any = None,
) -> SegmentationResult:
    """Compute the fuzzy scene, the threshold and the labels, and write them into the scene.

    Parameters
    ----------
    volume_node, seeds_node : nodes
    options : dict
        The other inputs of `FuzzyConnectedGPULogic.segment`, by their names there.
    outputs : dict
        Its output nodes and `segmentID`, by their names there.
    progress : callable, optional
    kept : FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness, optional

    Returns
    -------
    SegmentationResult
    """
    options = dict(options)
    background_node = options.pop("backgroundSeedsNode")
    mask_node, segment_id = options.pop("maskNode"), options.pop("maskSegmentID")
    roi_node, rounds = options.pop("roiNode"), options.pop("fillGaps")
    others = (seeds_node, background_node, mask_node, roi_node)
    inputs = [volume_node, *(node for node in others if _in_scene(node))]
    outputs = {**outputs, "maskSegmentID": segment_id}
    voxels, volume_time = mrml.voxels_of(volume_node), voxel_time(volume_node)
    _check_outputs(volume_node, outputs, mask_node)
    check_threshold(options["threshold"], options["cut"] or 0.0)
    region = region_mask(mask_node, roi_node, volume_node, voxels.shape, segment_id)
    seeds = seeds_of(seeds_node, volume_node, voxels.shape, region)
    background = background_seeds(background_node, volume_node, voxels.shape)
    text = run_inputs.inputs_text(
        volume_node,
        seeds_node,
        mask_node=mask_node,
        segment_id=segment_id,
        roi_node=roi_node,
        background_node=background_node,
        **{name: options.get(name) for name in MODEL_OPTIONS},
    )
    heeded = None
    if options["threshold"] is None or rounds:
        heeded = run_inputs.threshold_text(volume_node, background_node)
    try:
        found = segment_arrays(
            voxels,
            seeds.voxels,
            spacing=volume_node.GetSpacing()[::-1],
            background_seeds=background and background.voxels,
            mask=region,
            progress=while_there(inputs, progress),
            cached=kept,
            fill_gaps=rounds,
            **options,
        )
    except SameVoxelError as error:
        raise named(error, seeds, background) from error
    refuse_without(inputs)
    measured = _millilitres(volume_node, found.labels)
    written = _write(volume_node, seeds_node, found.scene.values, found.labels, outputs)
    chosen = found.threshold if options["threshold"] is None else None
    run_inputs.mark(
        written[1], volume_node, seeds_node, text, found.contrast, heeded, chosen, volume_time
    )
    warnings = [*seeds.warnings, *(background.warnings if background else ()), *found.scene.notes]
    return _result(written, measured, found.threshold, warnings, found.affinity, found.scene)


def threshold_scene(
    scene_node: Any, options: dict[str, Any], outputs: dict[str, Any]
) -> SegmentationResult:
    """Cut a fuzzy scene that is there at a threshold; parameters and result as for `segment`."""
    threshold, cut, rounds = options["threshold"], options["cut"], options["fillGaps"]
    check_threshold(threshold, cut)
    check_rounds(rounds)
    values = scene_values(scene_node)
    volume_node = scene_node.GetNodeReference(run_inputs.VOLUME) or scene_node
    seeds_node = scene_node.GetNodeReference(run_inputs.SEEDS)
    image = volume_node.GetImageData()  # the volume may have lost it since
    if image is None or image.GetDimensions()[::-1] != values.shape:
        volume_node = scene_node
    outputs = {**outputs, "maskSegmentID": options["maskSegmentID"]}
    _check_outputs(volume_node, outputs, options["maskNode"])
    background = background_seeds(options["backgroundSeedsNode"], scene_node, values.shape)
    voxels = background and background.voxels
    if threshold is None:
        threshold = run_inputs.contrast_threshold(scene_node)
    if threshold is None:
        threshold = choose_threshold(values, voxels, cut)
    labels = binarize(values, threshold)
    if rounds:
        region = region_mask(
            options["maskNode"],
            options["roiNode"],
            scene_node,
            values.shape,
            options["maskSegmentID"],
        )
        labels = fill_gaps(labels, rounds, region, voxels)
    outputs = {**outputs, "sceneVolumeNode": scene_node}
    measured = _millilitres(volume_node, labels)
    written = _write(volume_node, seeds_node, None, labels, outputs)
    return _result(written, measured, threshold, background.warnings if background else ())


def background_seeds(node: Any, volume_node: Any, shape: tuple[int, ...]) -> Any:
    """The points of a list as background seeds; None without a list, or if it has no point."""
    if node is None or not placed_points(node).labels:
        return None
    return seeds_of(node, volume_node, shape, kind="background seed")


def _check_outputs(volume_node: Any, outputs: dict[str, Any], mask_node: Any) -> None:
    mrml_outputs.check_outputs(
        volume_node,
        outputs["sceneVolumeNode"],
        outputs["labelmapNode"],
        outputs["segmentationNode"],
        outputs["segmentID"],
        mask_node,
        outputs["maskSegmentID"],
    )


def while_there(
    nodes: list[Any], progress: Callable[[float], bool | None] | None
) -> Callable[[float], bool | None] | None:
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
        if not _in_scene(node):
            raise InputRemoved(mrml.node_name(node))


def _write(
    volume_node: Any,
    seeds_node: Any,
    values: np.ndarray | None,
    labels: np.ndarray,
    outputs: dict[str, Any],
) -> tuple:
    """Write into the outputs; those that were removed meanwhile are made anew."""
    names = ("sceneVolumeNode", "labelmapNode", "segmentationNode")
    scene_node, labelmap_node, segmentation_node = (
        outputs[name] if outputs[name] is True or _in_scene(outputs[name]) else None
        for name in names
    )
    segment_id = outputs["segmentID"]
    if segment_id:
        _refuse_removed(segmentation_node, segment_id)
    return mrml_outputs.write_outputs(
        volume_node,
        seeds_node,
        values,
        labels,
        scene_node,
        labelmap_node,
        segmentation_node,
        segment_id,
        outputs["maskSegmentID"],
    )


def _refuse_removed(segmentation_node: Any, segment_id: str) -> None:
    """Whoever chose a segment to overwrite shall not get another one instead."""
    if segmentation_node is None or not segmentation_node.GetSegmentation().GetSegment(segment_id):
        raise InputError(
            _("The segment that was to be overwritten was removed; choose another, or a new one.")
        )


def _in_scene(node: Any) -> bool:
    import slicer

    return node is not None and bool(slicer.mrmlScene.IsNodePresent(node))


def _millilitres(volume_node: Any, labels: np.ndarray) -> float:
    """What the labels measure; asked before the scene is changed, as it can fail, too."""
    return np.count_nonzero(labels) * voxel_volume(mrml.ijk_to_ras(volume_node)) / 1000


def _result(
    written: tuple,
    volume_ml: float,
    threshold: Any,
    warnings: Iterable[str],
    affinity: Any = None,
    scene: Any = None,
) -> SegmentationResult:
    labelmap_node, scene_node, segment_id, segmentation_node = written
    return SegmentationResult(
        labelmapNode=labelmap_node,
        sceneNode=scene_node,
        segmentID=segment_id,
        threshold=threshold,
        volumeMl=volume_ml,
        affinity=affinity,
        scene=scene,
        warnings=[*warnings, *UnsureNote.of(threshold)],
        segmentationNode=segmentation_node,
    )
