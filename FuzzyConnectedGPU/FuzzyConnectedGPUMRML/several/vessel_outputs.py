"""From the labels of several vessels to MRML nodes: one labelmap, one segment each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.changes import all_or_nothing
from FuzzyVesselCoreLib.mrml.images import associate, image_from_array, show_as_overlay
from FuzzyVesselCoreLib.mrml.outputs import Writing
from FuzzyVesselCoreLib.mrml.ownership import CONNECTEDNESS, DIVISION, LABELMAP, SEGMENTATION
from FuzzyVesselCoreLib.mrml.segment_origin import SEEDS_TAG, is_as_written, result_segment
from FuzzyVesselCoreLib.mrml.segments import new_segment, put_segment

from .vessel_kinds import look

DISPUTED = "FuzzyVesselGPU.Disputed"  # in place of a list's ID in the tag of the segment
DISPUTED_COLOR = (0.8, 1.0, 0.0)  # of no vessel, and seen on grey


@dataclass(frozen=True)
class VesselArrays:
    """What a run found, as arrays (K, J, I).

    Attributes
    ----------
    labels : ndarray of uint8
    disputed : ndarray of bool
    values : ndarray of float32, or None
        Without them the scene and the division stay as they are.
    owners : ndarray of uint8, or None
    """

    labels: np.ndarray
    disputed: np.ndarray
    values: np.ndarray | None = None
    owners: np.ndarray | None = None


def write_vessels(
    volume_node: Any, lists: Sequence[Any], arrays: VesselArrays, outputs: dict[str, Any]
) -> tuple[Any, Any, Any, Any, list[str]]:
    """Put several vessels into the scene, completely or not at all.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    lists : sequence of vtkMRMLMarkupsFiducialNode
        The points of each vessel, in the order of the labels.
    arrays : VesselArrays
    outputs : dict
        sceneVolumeNode, labelmapNode, divisionNode, segmentationNode (True: a new one),
        maskSegmentID, and showDisputed: whether there is a segment of the disputed voxels.

    Returns
    -------
    labelmap_node, scene_node, division_node, segmentation_node : nodes
    segment_ids : list of str
        Of the vessels; empty without a segmentation.
    """
    writing = Writing(volume_node)
    given = outputs["segmentationNode"]
    there = None if given is True else given
    images = [
        None if array is None else image_from_array(array)
        for array in (arrays.labels, arrays.values, arrays.owners)
    ]
    segments = _segments(volume_node, lists, arrays, there) if given else []
    scene_node, division_node = outputs["sceneVolumeNode"], outputs["divisionNode"]
    segmentation_node, ids = there, []
    with all_or_nothing() as change:
        labelmap_node = writing.fill(change, outputs["labelmapNode"], LABELMAP, images[0])
        associate(labelmap_node, volume_node)
        if images[1] is not None:
            scene_node = writing.fill(change, scene_node, CONNECTEDNESS, images[1])
            division_node = writing.fill(change, division_node, DIVISION, images[2])
            associate(division_node, volume_node)
        else:
            show_as_overlay(scene_node)
        if segments:
            segmentation_node = writing.node(change, there, SEGMENTATION)
            for segment in segments:
                ids.append(
                    put_segment(
                        segment,
                        segmentation_node,
                        volume_node,
                        "",
                        outputs["maskSegmentID"],
                    )
                )
            _put_disputed(segmentation_node, volume_node, arrays, outputs)
        writing.end()
    return labelmap_node, scene_node, division_node, segmentation_node, ids


def disputed_segment(segmentation_node: Any, volume_node: Any) -> str:
    """ID of the segment of the disputed voxels; empty without one."""
    return result_segment(segmentation_node, _Disputed, volume_node)


def _segments(
    volume_node: Any, lists: Sequence[Any], arrays: VesselArrays, there: Any
) -> list[Any]:
    found = []
    for label, node in enumerate(lists, 1):
        part = (arrays.labels == label).astype(np.uint8)
        segment = new_segment(volume_node, part, there, node)
        look(segment, node)
        found.append(segment)
    return found


def _put_disputed(
    segmentation_node: Any,
    volume_node: Any,
    arrays: VesselArrays,
    outputs: dict[str, Any],
) -> None:
    """Add, change or remove the segment of the disputed voxels; an edited one stays."""
    if outputs.get("showDisputed"):
        part = arrays.disputed.astype(np.uint8)
        segment = new_segment(volume_node, part, segmentation_node, None)
        segment.SetName("Disputed")
        segment.SetColor(DISPUTED_COLOR)
        segment.SetTag(SEEDS_TAG, DISPUTED)
        put_segment(segment, segmentation_node, volume_node, "", outputs["maskSegmentID"])
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
