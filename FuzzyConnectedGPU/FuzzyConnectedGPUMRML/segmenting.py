"""One run on MRML nodes: nodes in, arrays to the algorithm, arrays back into nodes."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.segmentation import segment as segment_arrays
from FuzzyConnectedGPULib.threshold.choice import check_threshold, choose_threshold
from FuzzyConnectedGPULib.threshold.gaps import check_rounds, fill_gaps
from FuzzyConnectedGPULib.threshold.thresholds import binarize
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml import outputs as mrml_outputs
from FuzzyVesselCoreLib.mrml import reading as mrml
from FuzzyVesselCoreLib.mrml.points import seeds_of
from FuzzyVesselCoreLib.translation import tr as _

from . import run_inputs
from .logic.run_options import RunOptions
from .result import SegmentationResult, UnsureNote
from .run_nodes import RunNodes, background_seeds, in_scene, region_of
from .volume_curve import note_fuzzy_scene, note_millilitres, scene_values


def segment(
    volume_node: Any,
    seeds_node: Any,
    options: RunOptions,
    outputs: dict[str, Any],
    progress: Callable[[float], bool | None] | None = None,
    kept: Any = None,
) -> SegmentationResult:
    """Compute the fuzzy scene, the threshold and the labels, and write them into the scene.

    Parameters
    ----------
    volume_node, seeds_node : nodes
    options : RunOptions
    outputs : dict
        Its output nodes and `segmentID`, by their names there.
    progress : callable, optional
    kept : FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness, optional

    Returns
    -------
    SegmentationResult
    """
    others = (seeds_node, options.backgroundSeedsNode, options.maskNode, options.roiNode)
    inputs = [volume_node, *(node for node in others if in_scene(node))]
    outputs = {**outputs, "maskSegmentID": options.maskSegmentID}
    _check_outputs(volume_node, outputs, options.maskNode)
    run = RunNodes(volume_node, options, inputs)
    seeds = seeds_of(seeds_node, volume_node, run.voxels.shape, run.region)
    run.read_background()
    text = run_inputs.inputs_text(volume_node, seeds_node, **run.choices)
    found = run.compute(segment_arrays, seeds.voxels, seeds, progress, kept)
    measured = _millilitres(volume_node, found.labels)
    written = _write(volume_node, seeds_node, found.scene.values, found.labels, outputs)
    run.mark(written[1], seeds_node, text, found)
    note_fuzzy_scene(written[1])
    warnings = [*seeds.warnings, *run.warnings(), *found.scene.notes]
    return _result(written, measured, found.threshold, warnings, found.affinity, found.scene)


def threshold_scene(
    scene_node: Any, options: RunOptions, outputs: dict[str, Any]
) -> SegmentationResult:
    """Cut a fuzzy scene that is there at a threshold; parameters and result as for `segment`."""
    threshold, cut, rounds = options.threshold, options.cut or 0.0, options.fillGaps
    check_threshold(threshold, cut)
    check_rounds(rounds)
    values = scene_values(scene_node)
    volume_node = scene_node.GetNodeReference(run_inputs.VOLUME) or scene_node
    seeds_node = scene_node.GetNodeReference(run_inputs.SEEDS)
    image = volume_node.GetImageData()  # the volume may have lost it since
    if image is None or image.GetDimensions()[::-1] != values.shape:
        volume_node = scene_node
    outputs = {**outputs, "maskSegmentID": options.maskSegmentID}
    _check_outputs(volume_node, outputs, options.maskNode)
    background = background_seeds(options.backgroundSeedsNode, scene_node, values.shape)
    voxels = background and background.voxels
    if threshold is None:
        threshold = run_inputs.contrast_threshold(scene_node)
    if threshold is None:
        threshold = choose_threshold(values, voxels, cut)
    labels = binarize(values, threshold)
    if rounds:
        region = region_of(options, scene_node, values.shape)
        labels = fill_gaps(labels, rounds, region, voxels)
    outputs = {**outputs, "sceneVolumeNode": scene_node}
    measured = _millilitres(volume_node, labels)
    written = _write(volume_node, seeds_node, None, labels, outputs)
    return _result(written, measured, threshold, background.warnings if background else ())


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
        outputs[name] if outputs[name] is True or in_scene(outputs[name]) else None
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
    note_millilitres(labelmap_node, volume_ml)
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
