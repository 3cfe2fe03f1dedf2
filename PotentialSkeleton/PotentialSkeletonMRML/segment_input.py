"""The voxels of one segment, also of a segmentation that is made of surfaces."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.images import array_from_image
from FuzzyVesselCoreLib.mrml.reading import BINARY_LABELMAP, array_from_matrix, node_name
from FuzzyVesselCoreLib.translation import tr as _

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
    return _("The segment '{name}' of {node} is empty: fill it in the Segment Editor.").format(
        name=name, node=node_name(node)
    )


def segment_named(node: Any, wanted: str | None) -> str:
    """Return the ID of a segment that is given by its ID or name, or is the only one."""
    segmentation = node.GetSegmentation()
    ids = list(segmentation.GetSegmentIDs())
    names = [segmentation.GetSegment(each).GetName() for each in ids]
    if not ids:
        raise InputError(_("The segmentation {node} has no segment.").format(node=node_name(node)))
    if not wanted and len(ids) == 1:
        return ids[0]
    if wanted and wanted in ids:
        return wanted
    if wanted and names.count(wanted) == 1:
        return ids[names.index(wanted)]
    there = listed([f"'{name}'" for name in names])
    if not wanted:
        raise InputError(
            _("{node} has {count} segments; choose one of {there}.").format(
                node=node_name(node), count=len(ids), there=there
            )
        )
    raise InputError(
        _("{node} has no segment '{name}'; it has {there}.").format(
            node=node_name(node), name=wanted, there=there
        )
    )


def listed(texts: list[str]) -> str:
    text, more = ", ".join(texts[:MAX_LISTED]), len(texts) - MAX_LISTED
    return text if more <= 0 else _("{texts} and {count} more").format(texts=text, count=more)


def _converted(segmentation: Any, segment_id: str, name: str) -> Any:
    """A copy of a segment of surfaces with a labelmap, on the segmentation's reference grid."""
    import slicer

    copy = slicer.vtkSegmentation()
    copy.SetSourceRepresentationName(segmentation.GetSourceRepresentationName())
    copy.CopyConversionParameters(segmentation)
    copy.CopySegmentFromSegmentation(segmentation, segment_id)
    if not copy.CreateRepresentation(BINARY_LABELMAP):
        raise InputError(
            _("The segment '{name}' could not be converted to a labelmap.").format(name=name)
        )
    return copy.GetSegment(segment_id)


def _first_voxel_to_frame(image: Any) -> np.ndarray:
    """The matrix from I, J, K, counted from an image's first voxel on, to its segmentation."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    array = array_from_matrix(matrix)
    array[:3, 3] += array[:3, :3] @ np.array(image.GetExtent()[::2], float)
    return array
