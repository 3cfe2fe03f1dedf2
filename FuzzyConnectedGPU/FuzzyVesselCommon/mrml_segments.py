"""From labels to a segment of a segmentation, without losing what a user made of an earlier one."""

import zlib

import numpy as np

from .errors import InputError
from .mrml import ijk_to_ras, matrix_from_array, node_name
from .mrml_images import array_from_image, image_from_array
from .mrml_regions import BINARY_LABELMAP

SEGMENT_COLOR = (0.85, 0.25, 0.2)
# Tags of a segment: the node whose seeds it was grown from, and a checksum of its voxels then.
SEEDS_TAG = "FuzzyVesselGPU.SeedsNodeID"
VOXELS_TAG = "FuzzyVesselGPU.Voxels"


def check_segmentation(segmentation_node, segment_id=""):
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
            f"The segmentation {node_name(segmentation_node)} is made of '{source}': make "
            f"'{BINARY_LABELMAP}' its source in the module Segmentations, or choose another."
        )
    if segment_id and segmentation.GetSegment(segment_id) is None:
        raise InputError(
            f"The segmentation {node_name(segmentation_node)} has no segment '{segment_id}' any "
            "more: choose another one, or a new segment."
        )


def new_segment(volume_node, labels, segmentation_node, seeds_node):
    """The labels, cut to what is not 0, as a segment in a segmentation's frame; not added yet.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
        Gives the geometry.
    labels : ndarray, shape (K, J, I), uint8, 0 or 1
    segmentation_node : vtkMRMLSegmentationNode
    seeds_node : vtkMRMLMarkupsNode or None
        Gives the name.

    Returns
    -------
    vtkSegment
    """
    import slicer
    import vtk

    first, part = _cropped(labels)
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
    segment.SetTag(SEEDS_TAG, (seeds_node and seeds_node.GetID()) or "")
    segment.AddRepresentation(BINARY_LABELMAP, image)
    return segment


def put_segment(segment, segmentation_node, volume_node, segment_id=""):
    """Add a segment, or put it in the place of an earlier one.

    Overwritten is the segment that the user names. Without a name it is the one that an earlier
    run made of the same seeds, as long as nobody edited it since; else the segment is a new one.

    Parameters
    ----------
    segment : vtkSegment
        Of `new_segment`.
    segmentation_node : vtkMRMLSegmentationNode
    volume_node : vtkMRMLScalarVolumeNode
        An empty segmentation takes its geometry and transform.
    segment_id : str
        Of the segment to overwrite, which keeps its name and colour.

    Returns
    -------
    str
        ID of the segment.
    """
    segmentation = segmentation_node.GetSegmentation()
    if segmentation.GetNumberOfSegments() == 0:
        segmentation.SetSourceRepresentationName(BINARY_LABELMAP)
        segmentation_node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        segmentation_node.SetReferenceImageGeometryParameterFromVolumeNode(volume_node)
    if segmentation_node.GetDisplayNode() is None:
        segmentation_node.CreateDefaultDisplayNodes()
    earlier = segment_id or _segment_of_seeds(segmentation, _tag(segment, SEEDS_TAG))
    segment.SetTag(VOXELS_TAG, _checksum(segment))
    if not earlier:
        segment.SetName(_unused_name(segmentation, segment.GetName()))
        segmentation.AddSegment(segment)
        return segmentation.GetSegmentIdBySegment(segment)
    previous = segmentation.GetSegment(earlier)
    segment.SetName(previous.GetName())
    segment.SetColor(previous.GetColor())
    index = segmentation.GetSegmentIndex(earlier)
    segmentation.RemoveSegment(earlier)
    segmentation.AddSegment(segment, earlier)
    segmentation.SetSegmentIndex(earlier, index)
    return earlier


def _cropped(labels):
    """First index (I, J, K) and voxels of the smallest box with everything that is not 0."""
    bounds = []
    for axis in range(3):
        others = tuple(a for a in range(3) if a != axis)
        used = np.flatnonzero(labels.any(axis=others))
        bounds.append(slice(used[0], used[-1] + 1) if used.size else slice(0, 1))
    return np.array([b.start for b in bounds[::-1]]), labels[tuple(bounds)]


def _future_parent(segmentation_node, volume_node):
    """The transform that the segmentation will hang under: an empty one follows the volume."""
    empty = segmentation_node.GetSegmentation().GetNumberOfSegments() == 0
    return (volume_node if empty else segmentation_node).GetParentTransformNode()


def _segment_of_seeds(segmentation, seeds_id):
    """The newest segment that was grown from the seeds and not edited since; or an empty text."""
    for segment_id in reversed(segmentation.GetSegmentIDs() if seeds_id else ()):
        segment = segmentation.GetSegment(segment_id)
        if _tag(segment, SEEDS_TAG) == seeds_id and _tag(segment, VOXELS_TAG) == _checksum(segment):
            return segment_id
    return ""


def _checksum(segment):
    """Of the voxels of a segment, wherever its image begins and whatever else lies in it."""
    image = segment.GetRepresentation(BINARY_LABELMAP)
    if image is None or image.IsEmpty():
        return ""
    labels = array_from_image(image) == segment.GetLabelValue()
    part = _cropped(labels)[1]
    return f"{part.shape} {zlib.crc32(np.packbits(part)):08x}"


def _unused_name(segmentation, name):
    """The name, with a number behind it if the segmentation has it already."""
    names = {segmentation.GetSegment(each).GetName() for each in segmentation.GetSegmentIDs()}
    number, unused = 1, name
    while unused in names:
        unused = f"{name} {(number := number + 1)}"
    return unused


def _tag(segment, name):
    """The text of a segment's tag, or an empty text."""
    import vtk

    value = vtk.reference("")
    return str(value) if segment.GetTag(name, value) else ""
