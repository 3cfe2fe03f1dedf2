"""From labels to a segment of a segmentation, without losing what a user made of an earlier one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..translation import tr as _
from .images import image_from_array
from .reading import ijk_to_ras, matrix_from_array, node_name
from .segment_masks import BINARY_LABELMAP
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
from .surfaces.conversion import convert_missing, has_surface
from .terminology import set_default_entry

SEGMENT_COLOR = (0.85, 0.25, 0.2)


def check_segmentation(segmentation_node: Any, segment_id: str = "") -> None:
    """Refuse a segmentation that cannot take a labelmap, or that lacks a segment.

    Raises
    ------
    InputError
        It is made of surfaces, or has no segment of that ID.
    """
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
    """The labels, cut to what is not 0, as a segment in a segmentation's frame; not added yet.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
        Gives the geometry.
    labels : ndarray, shape (K, J, I), uint8, 0 or 1
    segmentation_node : vtkMRMLSegmentationNode or None
        None where it is still to be added.
    seeds_node : vtkMRMLMarkupsNode or None
        Gives the name, which gives the terminology entry.

    Returns
    -------
    vtkSegment
    """
    import slicer
    import vtk

    first, part = cropped(labels)
    image = image_from_array(part, slicer.vtkOrientedImageData())
    geometry = ijk_to_ras(volume_node)
    geometry[:3, 3] += geometry[:3, :3] @ first
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(geometry))
    source, target = (
        volume_node.GetParentTransformNode(),
        _future_parent(segmentation_node, volume_node),
    )
    if source is not target:
        transform = vtk.vtkGeneralTransform()
        slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(source, target, transform)
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
    change: Any = None,
) -> str:
    """Add a segment, or give its voxels to an earlier one.

    Changed is the segment that the user names. Without a name it is the one that an earlier run
    made of the same seeds and volume, as long as nobody edited it since; else the segment is a new
    one. A segment that is changed keeps its name, colour, tags and everything of its display.

    Parameters
    ----------
    segment : vtkSegment
        Of `new_segment`.
    segmentation_node : vtkMRMLSegmentationNode
    volume_node : vtkMRMLScalarVolumeNode
        An empty segmentation takes its geometry and transform.
    segment_id : str
        Of the segment to overwrite.
    mask_id : str
        Of the segment that is the mask of this run: it stays as it is.
    change : mrml_changes.Change, optional
        Learns how to put everything back.

    Returns
    -------
    str
        ID of the segment.
    """
    undo = change.on_failure if change is not None else lambda function: None
    segmentation = segmentation_node.GetSegmentation()
    if segmentation.GetNumberOfSegments() == 0:
        transform_id = segmentation_node.GetTransformNodeID()
        undo(lambda: segmentation_node.SetAndObserveTransformNodeID(transform_id))
        segmentation.SetSourceRepresentationName(BINARY_LABELMAP)
        segmentation_node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        segmentation_node.SetReferenceImageGeometryParameterFromVolumeNode(volume_node)
    if segmentation_node.GetDisplayNode() is None:
        segmentation_node.CreateDefaultDisplayNodes()
    earlier = segment_id or earlier_segment(segmentation, segment, mask_id)
    segment.SetTag(VOXELS_TAG, checksum(segment))
    if earlier:
        _update(segmentation, earlier, segment, undo)
        return earlier
    segment.SetName(_unused_name(segmentation, segment.GetName()))
    segmentation.AddSegment(segment)
    undo(lambda: segmentation.RemoveSegment(segment))
    return segmentation.GetSegmentIdBySegment(segment)


def _update(
    segmentation: Any, segment_id: str, segment: Any, undo: Callable[[Callable[[], None]], object]
) -> None:
    """Give the voxels of a segment to one that is there."""
    there = segmentation.GetSegment(segment_id)
    segmentation.SeparateSegmentLabelmap(segment_id)  # its layer may be that of others, too
    before = _voxels_and_tags(there)
    undo(lambda: _set_voxels(segmentation, segment_id, *before))
    _set_voxels(segmentation, segment_id, *_voxels_and_tags(segment))


def _voxels_and_tags(segment: Any) -> tuple[Any, int, dict[str, str]]:
    """What a run writes of a segment: image, label value in it, and tags."""
    tags = {tag: tag_text(segment, tag) for tag in TAGS}
    return segment.GetRepresentation(BINARY_LABELMAP), segment.GetLabelValue(), tags


def _set_voxels(
    segmentation: Any, segment_id: str, image: Any, label: int, tags: dict[str, str]
) -> None:
    """Write that. A surface of the old voxels goes, or is made anew where the others have one."""
    segment = segmentation.GetSegment(segment_id)
    others = [each for each in segmentation.GetSegmentIDs() if each != segment_id]
    segment.RemoveAllRepresentations(BINARY_LABELMAP)
    segment.AddRepresentation(BINARY_LABELMAP, image)
    segment.SetLabelValue(label)
    for tag, text in tags.items():
        segment.SetTag(tag, text)
    if others and all(has_surface(segmentation.GetSegment(each)) for each in others):
        convert_missing(segmentation)  # the others' are left as they are
    segmentation.InvokeEvent(segmentation.SourceRepresentationModified)
    segmentation.InvokeEvent(segmentation.RepresentationModified, segment_id)


def _future_parent(segmentation_node: Any, volume_node: Any) -> Any:
    """The transform that the segmentation will hang under: an empty one follows the volume."""
    empty = (
        segmentation_node is None or segmentation_node.GetSegmentation().GetNumberOfSegments() == 0
    )
    return (volume_node if empty else segmentation_node).GetParentTransformNode()


def _unused_name(segmentation: Any, name: str) -> str:
    """The name, with a number behind it if the segmentation has it already."""
    names = {segmentation.GetSegment(each).GetName() for each in segmentation.GetSegmentIDs()}
    number, unused = 1, name
    while unused in names:
        unused = f"{name} {(number := number + 1)}"
    return unused
