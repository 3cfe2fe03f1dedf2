"""On to the centrelines of a segment."""

from typing import Any

import slicer

MODULE = "PotentialSkeleton"


def open_centrelines(segmentation_node: Any, segment_id: str) -> None:
    """Open Potential Skeleton with a segment as its input.

    Parameters
    ----------
    segmentation_node : vtkMRMLSegmentationNode
    segment_id : str
    """
    parameters = slicer.util.getModuleWidget(MODULE).logic.getParameterNode()
    parameters.input = segmentation_node
    parameters.segment = segment_id
    slicer.util.selectModule(MODULE)
