"""From labels to a segment of a segmentation, without losing what a user made of an earlier one."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..translation import tr as _
from .images import image_from_array
from .reading import BINARY_LABELMAP, ijk_to_ras, matrix_from_array, node_name, transform_between
from .segment_origin import (
    SEEDS_TAG,
    TAGS,
    VOLUME_TAG,
    VOXELS_TAG,
    checksum,
    cropped,
    earlier_segment,
    give_key,
    identity,
    tag_text,
)
from .surfaces import convert_missing, has_surface
from .terminology import set_default_entry

SEGMENT_COLOR = (0.85, 0.25, 0.2)


def check_segmentation(segmentation_node: Any, segment_id: str = "") -> None:
    """Raise `InputError` for a segmentation of surfaces, or one that lacks a segment."""
    segmentation = segmentation_node.GetSegmentation()
    source = segmentation.GetSourceRepresentationName()
    if segmentation.GetNumberOfSegments() and source != BINARY_LABELMAP:
        raise InputError(
            _(
                "The segmentation {segmentation} is made of '{source}': make '{wanted}' its "
                "source in the module Segmentations, or choose another."
            ).format(
                segmentation=node_name(segmentation_node), source=source, wanted=BINARY_LABELMAP
            )
        )
    if segment_id and segmentation.GetSegment(segment_id) is None:
        raise InputError(
            _(
                "The segmentation {segmentation} has no segment '{segment}' any more: choose "
                "another one, or a new segment."
            ).format(segmentation=node_name(segmentation_node), segment=segment_id)
        )


def new_segment(
    volume_node: Any, labels: np.ndarray, segmentation_node: Any, seeds_node: Any
) -> Any:
    """Labels (K, J, I; 0 or 1), cut to what is not 0, as a vtkSegment in a segmentation's frame.

    The volume gives the geometry, the list of seeds the name, and with it the terminology entry. It
    is not added yet; the segmentation is None where that is still to be added, too.
    """
    import slicer

    first, part = cropped(labels)
    image = image_from_array(part, slicer.vtkOrientedImageData())
    geometry = ijk_to_ras(volume_node)
    geometry[:3, 3] += geometry[:3, :3] @ first
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(geometry))
    # An empty segmentation will hang under the volume's transform.
    filled = segmentation_node and segmentation_node.GetSegmentation().GetNumberOfSegments()
    target = segmentation_node if filled else volume_node
    if volume_node.GetParentTransformNode() is not target.GetParentTransformNode():
        transform = transform_between(volume_node, target)
        slicer.vtkOrientedImageDataResample.TransformOrientedImage(image, transform)
    segment = slicer.vtkSegment()
    segment.SetName((seeds_node and seeds_node.GetName()) or "Vessels")
    segment.SetColor(SEGMENT_COLOR)
    for tag, node in ((SEEDS_TAG, seeds_node), (VOLUME_TAG, volume_node)):
        if node is not None:
            give_key(node)
        segment.SetTag(tag, identity(node) if node is not None else "")
    segment.AddRepresentation(BINARY_LABELMAP, image)
    set_default_entry(segment)
    return segment


def put_segment(
    segment: Any,
    segmentation_node: Any,
    volume_node: Any,
    segment_id: str = "",
    mask_id: str = "",
) -> str:
    """Add a segment of `new_segment`, or give its voxels to an earlier one; returns the ID.

    Changed is the segment that the user names (`segment_id`). Without a name it is the one that an
    earlier run made of the same seeds and volume, as long as nobody edited it since and it is not
    the mask of this run; else the segment is a new one. A segment that is changed keeps its name,
    colour, other tags and its display. An empty segmentation takes the volume's geometry.
    """
    segmentation = segmentation_node.GetSegmentation()
    if segmentation.GetNumberOfSegments() == 0:
        segmentation.SetSourceRepresentationName(BINARY_LABELMAP)
        segmentation_node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        segmentation_node.SetReferenceImageGeometryParameterFromVolumeNode(volume_node)
    if segmentation_node.GetDisplayNode() is None:
        segmentation_node.CreateDefaultDisplayNodes()
    earlier = segment_id or earlier_segment(segmentation, segment, mask_id)
    segment.SetTag(VOXELS_TAG, checksum(segment))
    if earlier:
        _update(segmentation, earlier, segment)
        return earlier
    names = {segmentation.GetSegment(each).GetName() for each in segmentation.GetSegmentIDs()}
    own, number = segment.GetName(), 1
    while segment.GetName() in names:
        segment.SetName(f"{own} {(number := number + 1)}")
    segmentation.AddSegment(segment)
    return segmentation.GetSegmentIdBySegment(segment)


def _update(segmentation: Any, segment_id: str, new: Any) -> None:
    """Give the voxels of a segment to one that is there.

    A surface of the old voxels goes, or is made anew where all others have one.
    """
    segment = segmentation.GetSegment(segment_id)
    segmentation.SeparateSegmentLabelmap(segment_id)  # its layer may be that of others, too
    segment.RemoveAllRepresentations(BINARY_LABELMAP)
    segment.AddRepresentation(BINARY_LABELMAP, new.GetRepresentation(BINARY_LABELMAP))
    segment.SetLabelValue(new.GetLabelValue())
    for tag in TAGS:
        segment.SetTag(tag, tag_text(new, tag))
    others = [each for each in segmentation.GetSegmentIDs() if each != segment_id]
    if others and all(has_surface(segmentation.GetSegment(each)) for each in others):
        convert_missing(segmentation)
    segmentation.InvokeEvent(segmentation.SourceRepresentationModified)
    segmentation.InvokeEvent(segmentation.RepresentationModified, segment_id)
