"""Segments of the result that slices do not show while a preview stands for them.

A scene can be saved meanwhile, and none of its events says so before. So the display node has a
mark of how they are shown otherwise, which is saved with it and heeded when the scene is loaded.
"""

import json
from collections.abc import Sequence
from typing import Any

MARK = "FuzzyVesselGPU.ShownInSlices"  # attribute of a display node


def hide(segmentation_node: Any, segment_ids: Sequence[str]) -> None:
    """Hide segments in slices, until `show_again`.

    Parameters
    ----------
    segmentation_node : vtkMRMLSegmentationNode or None
    segment_ids : sequence of str
        Those that are not there are left out.
    """
    display = segmentation_node.GetDisplayNode() if segmentation_node is not None else None
    if display is None:
        return
    shown = _marked(display)
    for segment_id in segment_ids:
        there = segmentation_node.GetSegmentation().GetSegment(segment_id) is not None
        if segment_id and there and segment_id not in shown:
            shown[segment_id] = [
                bool(display.GetSegmentVisibility2DFill(segment_id)),
                bool(display.GetSegmentVisibility2DOutline(segment_id)),
            ]
            display.SetAttribute(MARK, json.dumps(shown))
            display.SetSegmentVisibility2DFill(segment_id, False)
            display.SetSegmentVisibility2DOutline(segment_id, False)


def show_again(segmentation_node: Any) -> None:
    """Show what was hidden as it was shown before."""
    display = segmentation_node.GetDisplayNode() if segmentation_node is not None else None
    if display is not None and display.GetAttribute(MARK):
        _restore(display, segmentation_node)


def show_all_again() -> None:
    """The same for each segmentation of the scene: for one that was saved with a preview."""
    import slicer

    for node in slicer.util.getNodesByClass("vtkMRMLSegmentationNode"):
        show_again(node)


def _restore(display: Any, segmentation_node: Any) -> None:
    shown = _marked(display)
    display.RemoveAttribute(MARK)
    for segment_id, (fill, outline) in shown.items():
        if segmentation_node.GetSegmentation().GetSegment(segment_id) is not None:
            display.SetSegmentVisibility2DFill(segment_id, fill)
            display.SetSegmentVisibility2DOutline(segment_id, outline)


def _marked(display: Any) -> dict[str, list[bool]]:
    """What the mark says; nothing where it is none of ours."""
    try:
        found = json.loads(display.GetAttribute(MARK) or "{}")
        return {str(key): [bool(fill), bool(line)] for key, (fill, line) in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
