"""Which segments a run wrote: tags with the seeds, the volume and a checksum of the voxels.

An ID alone names no node for good: another scene, or this one after it was saved without a node,
gives the same ID to another list or scan, and a segmentation file that is loaded there brings the
tags along. So a node that was used carries a key, which its tag holds as well; a copy of the node
has the key, but another ID. A node that shows the time points of a sequence takes the attributes
of each of them, so that its browser carries the key.
"""

import zlib
from typing import Any
from uuid import uuid4

import numpy as np

from ..voxels.masks import bounding_box, full_box
from .images import array_from_image
from .reading import BINARY_LABELMAP

KEY = "FuzzyVesselGPU.Key"  # attribute of a node
# Tags of a segment: the nodes whose seeds it was grown from and whose voxels it is, and a checksum
# of them then.
SEEDS_TAG = "FuzzyVesselGPU.SeedsNodeID"
VOLUME_TAG = "FuzzyVesselGPU.VolumeNodeID"
VOXELS_TAG = "FuzzyVesselGPU.Voxels"
TAGS = (SEEDS_TAG, VOLUME_TAG, VOXELS_TAG)


def give_key(node: Any) -> None:
    """Let a node that a result is made of be told from all others, also after saving."""
    bearer = _bearer(node)
    if not bearer.GetAttribute(KEY):
        bearer.SetAttribute(KEY, uuid4().hex)


def identity(node: Any) -> str:
    """The text that names a node in the tag of a segment."""
    key = _bearer(node).GetAttribute(KEY)
    return f"{node.GetID()} {key}" if key else node.GetID()


def _bearer(node: Any) -> Any:
    """The node that carries the key: itself, or the browser of its sequence."""
    import slicer

    browsers = slicer.util.getNodesByClass("vtkMRMLSequenceBrowserNode")
    return next((each for each in browsers if each.IsProxyNodeID(node.GetID())), node)


def result_segment(segmentation_node: Any, seeds_node: Any, volume_node: Any) -> str:
    """ID of the newest segment of these seeds and this volume, also an edited one; or no text."""
    return next(iter(result_segments(segmentation_node, seeds_node, volume_node)), "")


def result_segments(segmentation_node: Any, seeds_node: Any, volume_node: Any) -> list[str]:
    """IDs of all segments of these seeds and this volume, the newest first.

    All but the newest were edited before a later run.
    """
    if segmentation_node is None or seeds_node is None or volume_node is None:
        return []
    segmentation = segmentation_node.GetSegmentation()
    return _made_of(segmentation, identity(seeds_node), identity(volume_node))


def is_result(segment: Any) -> bool:
    """Whether a vtkSegment was written by a run."""
    return bool(tag_text(segment, VOXELS_TAG))


def is_as_written(segment: Any) -> bool:
    """Whether a vtkSegment was written by a run and not edited since."""
    return is_result(segment) and tag_text(segment, VOXELS_TAG) == checksum(segment)


def earlier_segment(segmentation: Any, segment: Any, mask_id: str) -> str:
    """The newest segment of the same seeds and volume, not edited since; or an empty text."""
    seeds, volume = (tag_text(segment, tag) for tag in (SEEDS_TAG, VOLUME_TAG))
    for segment_id in _made_of(segmentation, seeds, volume) if seeds else ():
        if segment_id != mask_id and is_as_written(segmentation.GetSegment(segment_id)):
            return segment_id
    return ""


def _made_of(segmentation: Any, seeds: str, volume: str) -> list[str]:
    """IDs of the segments with these two tags, the newest first."""
    segments = [(each, segmentation.GetSegment(each)) for each in segmentation.GetSegmentIDs()]
    return [
        each
        for each, segment in reversed(segments)
        if (tag_text(segment, SEEDS_TAG), tag_text(segment, VOLUME_TAG)) == (seeds, volume)
    ]


def checksum(segment: Any) -> str:
    """Of the voxels of a segment, wherever its image begins and whatever else lies in it."""
    image = segment.GetRepresentation(BINARY_LABELMAP)
    if image is None or image.IsEmpty():
        return ""
    part = cropped(array_from_image(image) == segment.GetLabelValue())[1]
    return f"{part.shape} {zlib.crc32(np.packbits(part).data):08x}"


def cropped(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First index (I, J, K) and voxels of the smallest box with everything that is not 0."""
    box = bounding_box(labels) or full_box((1, 1, 1))
    return np.array([side.start for side in box[::-1]]), labels[box]


def tag_text(segment: Any, name: str) -> str:
    """The text of a segment's tag, or an empty text."""
    import vtk

    value = vtk.reference("")
    return str(value) if segment.GetTag(name, value) else ""
