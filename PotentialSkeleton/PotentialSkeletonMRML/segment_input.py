"""The voxels of one segment, also of a segmentation that is made of surfaces."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.images import array_from_image
from FuzzyVesselCoreLib.mrml.reading import array_from_matrix, node_name
from FuzzyVesselCoreLib.mrml.segment_masks import BINARY_LABELMAP

MAX_LISTED = 20  # labels or segments that a message lists


def segment_mask(node: Any, segment_id: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Return mask (K, J, I; bool), matrix to the node's frame (4, 4) and name of a segment."""
    segmentation = node.GetSegmentation()
    segment = segmentation.GetSegment(segment_id)
    name = segment.GetName() or segment_id
    if not segmentation.ContainsRepresentation(BINARY_LABELMAP):
        segment = _converted(segmentation, segment_id, name)
    image = segment.GetRepresentation(BINARY_LABELMAP)
    if image is None or image.IsEmpty():
        raise InputError(_empty(node, name))
    mask = array_from_image(image) == segment.GetLabelValue()
    if not mask.any():
        raise InputError(_empty(node, name))
    return mask, _first_voxel_to_frame(image), name


def _empty(node: Any, name: str) -> str:
    return f"The segment '{name}' of {node_name(node)} is empty: fill it in the Segment Editor."


def segment_named(node: Any, wanted: str | None) -> str:
    """Return the ID of a segment that is given by its ID or name, or is the only one."""
    segmentation = node.GetSegmentation()
    ids = list(segmentation.GetSegmentIDs())
    names = [segmentation.GetSegment(each).GetName() for each in ids]
    if not ids:
        raise InputError(f"The segmentation {node_name(node)} has no segment.")
    if not wanted and len(ids) == 1:
        return ids[0]
    if wanted and wanted in ids:
        return wanted
    if wanted and names.count(wanted) == 1:
        return ids[names.index(wanted)]
    there = listed([f"'{name}'" for name in names])
    if not wanted:
        raise InputError(f"{node_name(node)} has {len(ids)} segments; choose one of {there}.")
    raise InputError(f"{node_name(node)} has no segment '{wanted}'; it has {there}.")


def listed(texts: list[str]) -> str:
    more = len(texts) - MAX_LISTED
    return ", ".join(texts[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def _converted(segmentation: Any, segment_id: str, name: str) -> Any:
    """A copy of a segment of surfaces with a labelmap, on the segmentation's reference grid."""
    import slicer

    copy = slicer.vtkSegmentation()
    copy.SetSourceRepresentationName(segmentation.GetSourceRepresentationName())
    copy.CopyConversionParameters(segmentation)
    copy.CopySegmentFromSegmentation(segmentation, segment_id)
    if not copy.CreateRepresentation(BINARY_LABELMAP):
        raise InputError(f"The segment '{name}' could not be converted to a labelmap.")
    return copy.GetSegment(segment_id)


def _first_voxel_to_frame(image: Any) -> np.ndarray:
    """The matrix from I, J, K, counted from an image's first voxel on, to its segmentation."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    array = array_from_matrix(matrix)
    array[:3, 3] += array[:3, :3] @ np.array(image.GetExtent()[::2], float)
    return array
