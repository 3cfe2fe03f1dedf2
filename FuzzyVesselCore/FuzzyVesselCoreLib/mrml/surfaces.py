"""The surface of one segment for the 3D views; those of other segments are not touched."""

from .regions import BINARY_LABELMAP
from .segments import has_surface, is_result


def without_surface(segmentation_node, segment_id):
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


def make_surface(segmentation_node, segment_id):
    """Make the surface of a segment, if that takes none of other segments that no run wrote."""
    segmentation = segmentation_node.GetSegmentation()
    segment = segmentation.GetSegment(segment_id)
    if segment is None or segmentation.GetSourceRepresentationName() != BINARY_LABELMAP:
        return
    if not has_surface(segment) and not without_surface(segmentation_node, segment_id):
        segmentation_node.CreateClosedSurfaceRepresentation()


def drop_surface(segmentation_node, segment_id):
    """Show a segment in 3D no more: without its surface, or hidden where others have one, too."""
    segmentation = segmentation_node.GetSegmentation()
    segment = segmentation.GetSegment(segment_id)
    if segment is None or segmentation.GetSourceRepresentationName() != BINARY_LABELMAP:
        return
    if any(has_surface(each) for each in _others(segmentation_node, segment_id)):
        segmentation_node.GetDisplayNode().SetSegmentVisibility3D(segment_id, False)
    elif has_surface(segment):
        segmentation_node.RemoveClosedSurfaceRepresentation()


def _others(segmentation_node, segment_id):
    segmentation = segmentation_node.GetSegmentation()
    ids = segmentation.GetSegmentIDs()
    return [segmentation.GetSegment(each) for each in ids if each != segment_id]
