"""A run of several vessels on MRML nodes, and its result at another threshold."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import segment_several as segment_arrays
from FuzzyConnectedGPULib.several.division import BACKGROUND
from FuzzyConnectedGPULib.several.labelling import Clicks, label_vessels
from FuzzyConnectedGPULib.threshold.choice import check_threshold, choose_threshold
from FuzzyConnectedGPULib.threshold.gaps import check_rounds
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml import outputs as mrml_outputs
from FuzzyVesselCoreLib.mrml import reading as mrml
from FuzzyVesselCoreLib.mrml.ownership import DIVISION, output_of
from FuzzyVesselCoreLib.mrml.points import Seeds, placed_points, seeds_of
from FuzzyVesselCoreLib.translation import tr as _

from .. import run_inputs
from ..logic.run_options import RunOptions
from ..result import UnsureNote
from ..run_nodes import RunNodes, background_seeds, region_of
from ..volume_curve import scene_values
from .hand_overs import hand_overs_of, is_seed, seed_voxels
from .vessel_inputs import vessels_text
from .vessel_outputs import VesselArrays, write_vessels
from .vessel_result import SeveralResult, Vessel


def segment_several(
    volume_node: Any,
    lists: Sequence[Any],
    options: RunOptions,
    outputs: dict[str, Any],
    progress: Callable[[float], bool | None] | None = None,
    kept: Any = None,
) -> SeveralResult:
    """Segment several vessels, and write them into the scene.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    lists : sequence of vtkMRMLMarkupsFiducialNode
        The points of each vessel.
    options : RunOptions
    outputs : dict
        Of `FuzzyConnectedGPULogic.segmentSeveral`, by their names there.
    progress : callable, optional
    kept : FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness, optional

    Returns
    -------
    SeveralResult
    """
    others = (options.backgroundSeedsNode, options.maskNode, options.roiNode)
    inputs = [volume_node, *lists, *(node for node in others if node)]
    outputs = _checked_outputs(volume_node, outputs, options.maskNode, options.maskSegmentID)
    run = RunNodes(volume_node, options, inputs)
    shape = run.voxels.shape
    seeds = seeds_of_vessels(lists, volume_node, shape, run.region)
    hand_overs, outside = hand_overs_of(lists, volume_node, shape)
    run.read_background()
    text = vessels_text(volume_node, lists, **run.choices)
    points = {vessel_key(lists, n): each.voxels if each else () for n, each in enumerate(seeds)}
    found = run.compute(
        segment_arrays, points, _together(seeds), progress, kept, hand_overs=hand_overs
    )
    arrays = VesselArrays(found.labels, found.disputed, found.scene.values, found.owners)
    result = _write(volume_node, lists, arrays, outputs, found.threshold)
    scene_node = result.sceneNode
    run.mark(scene_node, lists[0], text, found)
    for each in lists:
        scene_node.AddNodeReferenceID(run_inputs.VESSELS, each.GetID())
    scene_node.SetNodeReferenceID(run_inputs.DIVISION, result.divisionNode.GetID())
    for each in seeds:
        result.warnings += each.warnings if each else []
    result.warnings += [*run.warnings(), *outside, *found.notes, *found.scene.notes]
    result.warnings += UnsureNote.of(found.threshold)
    result.affinity, result.scene = found.affinity, found.scene
    return result


def threshold_several(
    scene_node: Any, options: RunOptions, outputs: dict[str, Any]
) -> SeveralResult:
    """Cut the scene of several vessels at another threshold; as `segmenting.threshold_scene`."""
    threshold, cut, rounds = options.threshold, options.cut or 0.0, options.fillGaps
    check_threshold(threshold, cut)
    check_rounds(rounds)
    values = scene_values(scene_node)
    volume_node = scene_node.GetNodeReference(run_inputs.VOLUME) or scene_node
    lists = vessels_of_scene(scene_node)
    owners = mrml.voxels_of(scene_node.GetNodeReference(run_inputs.DIVISION))
    if owners.shape != values.shape or not lists or max(_labels(owners), default=0) > len(lists):
        raise InputError(
            _(
                "The vessels' lists of points, or the division of the result, have changed "
                "since: press Apply (segmentSeveral in a script)."
            )
        )
    outputs = _checked_outputs(
        volume_node, outputs, options.maskNode, options.maskSegmentID, scene_node
    )
    background = background_seeds(options.backgroundSeedsNode, scene_node, values.shape)
    points = background and background.voxels
    if threshold is None:
        threshold = run_inputs.contrast_threshold(scene_node)
    if threshold is None:
        threshold = choose_threshold(values, points, cut)
    region = region_of(options, scene_node, values.shape) if rounds else None
    hand_overs, outside = hand_overs_of(lists, scene_node, values.shape)
    clicks = Clicks(
        [seed_voxels(each, scene_node, values.shape) for each in lists], points, hand_overs
    )
    spacing = scene_node.GetSpacing()[::-1]
    labels, disputed, notes = label_vessels(
        values, owners, threshold, clicks, spacing, rounds=rounds, mask=region
    )
    result = _write(volume_node, lists, VesselArrays(labels, disputed), outputs, threshold)
    result.warnings += [*outside, *notes, *(background.warnings if background else ())]
    return result


def vessels_of_scene(scene_node: Any) -> list[Any]:
    """The lists of the vessels that a connectedness map was divided among; none for one vessel."""
    if scene_node is None or scene_node.GetNodeReference(run_inputs.DIVISION) is None:
        return []
    count = scene_node.GetNumberOfNodeReferences(run_inputs.VESSELS)
    lists = [scene_node.GetNthNodeReference(run_inputs.VESSELS, n) for n in range(count)]
    return [each for each in lists if each is not None]


def seeds_of_vessels(lists: Sequence[Any], volume_node: Any, shape: Any, region: Any) -> list[Any]:
    """The seeds of each vessel; None where it has only branches that are handed over."""
    found: list[Any] = []
    for node in lists:
        placed = placed_points(node).labels if node is not None else []
        if placed and not placed_points(node, is_seed).labels:
            found.append(None)
        else:
            found.append(seeds_of(node, volume_node, shape, region, wanted=is_seed))
    return found


def _together(seeds: Sequence[Any]) -> Seeds:
    """The seeds of all vessels in one list."""
    each = [one for one in seeds if one is not None]
    voxels = np.concatenate([np.empty((0, 3), np.int64), *(one.voxels for one in each)])
    return Seeds(voxels, [label for one in each for label in one.labels], [])


def _labels(owners: np.ndarray) -> list[int]:
    counts = np.bincount(owners.ravel(), minlength=256)
    return [label for label in range(1, BACKGROUND) if counts[label]]


def vessel_key(lists: Sequence[Any], number: int) -> str:
    """The name of a vessel in messages; names of lists may be the same."""
    name = lists[number].GetName() or "vessel"
    same = [each.GetName() for each in lists].count(name) > 1
    return f"{name} ({number + 1})" if same else name


def _checked_outputs(
    volume_node: Any,
    outputs: dict[str, Any],
    mask_node: Any,
    mask_segment_id: str,
    scene_node: Any = None,
) -> dict[str, Any]:
    """The outputs, those that are no longer in the scene left out."""
    import slicer

    outputs = {**outputs, "maskSegmentID": mask_segment_id}
    for name in ("sceneVolumeNode", "labelmapNode", "segmentationNode"):
        node = outputs[name]
        if node is not None and node is not True and not slicer.mrmlScene.IsNodePresent(node):
            outputs[name] = None
    if scene_node is not None:
        outputs["sceneVolumeNode"] = scene_node
    mrml_outputs.check_outputs(
        volume_node,
        outputs["sceneVolumeNode"],
        outputs["labelmapNode"],
        outputs["segmentationNode"],
        "",
        mask_node,
        mask_segment_id,
    )
    scene_node = outputs["sceneVolumeNode"]
    division = scene_node and scene_node.GetNodeReference(run_inputs.DIVISION)
    division = division or output_of(volume_node, DIVISION, "vtkMRMLLabelMapVolumeNode")
    return {**outputs, "divisionNode": division}


def _write(
    volume_node: Any,
    lists: Sequence[Any],
    arrays: VesselArrays,
    outputs: dict[str, Any],
    threshold: float,
) -> SeveralResult:
    voxel_ml = voxel_volume(mrml.ijk_to_ras(volume_node)) / 1000
    counts = np.bincount(arrays.labels.ravel(), minlength=len(lists) + 1)
    written = write_vessels(volume_node, lists, arrays, outputs)
    labelmap_node, scene_node, division_node, segmentation_node, ids = written
    vessels = [
        Vessel(node.GetName(), n + 1, ids[n] if ids else "", float(counts[n + 1]) * voxel_ml)
        for n, node in enumerate(lists)
    ]
    disputed = float(np.count_nonzero(arrays.disputed)) * voxel_ml
    return SeveralResult(
        labelmap_node, scene_node, division_node, vessels, disputed, threshold,
        segmentationNode=segmentation_node,
    )  # fmt: skip
