"""Surfaces of segments for the 3D views; those that no run wrote are not touched."""

from typing import Any

from ..segment_masks import BINARY_LABELMAP
from ..segment_origin import is_result
from .conversion import SURFACE, convert_missing, has_surface, set_surface


def without_surface(segmentation_node: Any, segment_id: str) -> list[str]:
    """Names of segments that stand against a surface of one segment.

    Slicer shows surfaces of all segments or of none, and makes those that are missing itself. A
    segment that no run wrote gets none because of a result.

    Returns
    -------
    list of str
    """
    return [
        segment.GetName()
        for segment in _others(segmentation_node, segment_id)
        if not has_surface(segment) and not is_result(segment)
    ]


def may_have_surface(segmentation_node: Any, segment_id: str) -> bool:
    """Whether a surface of the segment may be made and put: see `without_surface`."""
    segmentation = segmentation_node.GetSegmentation()
    return (
        segmentation.GetSegment(segment_id) is not None
        and segmentation.GetSourceRepresentationName() == BINARY_LABELMAP
        and not without_surface(segmentation_node, segment_id)
    )


def make_surface(segmentation_node: Any, segment_id: str, anew: bool = False) -> None:
    """Make the surface of a segment, if that takes none of other segments that no run wrote.

    Parameters
    ----------
    segmentation_node : vtkMRMLSegmentationNode
    segment_id : str
    anew : bool
        Also where there is a surface already: it is that of earlier voxels.
    """
    if not may_have_surface(segmentation_node, segment_id):
        return
    if anew:
        segmentation_node.GetSegmentation().GetSegment(segment_id).RemoveRepresentation(SURFACE)
    convert_missing(segmentation_node.GetSegmentation())


def surface_of(segmentation_node: Any, segment_id: str) -> Any:
    """The closed surface (vtkPolyData) of a segment, or None."""
    segment = segmentation_node.GetSegmentation().GetSegment(segment_id)
    return segment.GetRepresentation(SURFACE) if segment is not None else None


def put_surface(segmentation_node: Any, segment_id: str, surface: Any) -> None:
    """Show a surface of earlier voxels until that of the present ones is made.

    Nothing is put where it has one, or where other segments would need surfaces, too.
    """
    segment = segmentation_node.GetSegmentation().GetSegment(segment_id)
    if surface is None or segment is None or has_surface(segment):
        return
    if not without_surface(segmentation_node, segment_id):
        set_surface(segmentation_node.GetSegmentation(), segment_id, surface)


def drop_surface(segmentation_node: Any, segment_id: str) -> None:
    """Show a segment in 3D no more: without its surface, or hidden where others have one, too."""
    segmentation = segmentation_node.GetSegmentation()
    segment = segmentation.GetSegment(segment_id)
    if segment is None or segmentation.GetSourceRepresentationName() != BINARY_LABELMAP:
        return
    if any(has_surface(each) for each in _others(segmentation_node, segment_id)):
        segmentation_node.GetDisplayNode().SetSegmentVisibility3D(segment_id, False)
    elif has_surface(segment):
        segmentation_node.RemoveClosedSurfaceRepresentation()


def _others(segmentation_node: Any, segment_id: str) -> list[Any]:
    segmentation = segmentation_node.GetSegmentation()
    ids = segmentation.GetSegmentIDs()
    return [segmentation.GetSegment(each) for each in ids if each != segment_id]
