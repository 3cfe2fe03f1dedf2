"""The labelmap or segmentation that a person most likely means when the module is opened."""

from typing import Any

import slicer

from PotentialSkeletonMRML.kept_result import kept_nodes

SEGMENTATION, LABELMAP = "vtkMRMLSegmentationNode", "vtkMRMLLabelMapVolumeNode"


def is_segmentation(node: Any) -> bool:
    """Whether a node, or None, is a segmentation."""
    return node is not None and node.IsA(SEGMENTATION)


def current_object() -> tuple[Any, str]:
    """Return the node and, of a segmentation, the segment; None and an empty text where none is.

    It is the segment that is open in the Segment Editor, else the newest segmentation or labelmap
    that is shown, else the newest one. A labelmap of centrelines is none.
    """
    nodes = _objects()
    edited, segment_id = _edited()
    if edited in nodes:
        return edited, segment_id
    shown = [node for node in nodes if _is_shown(node)]
    found = next(iter([*reversed(shown), *reversed(nodes)]), None)
    return found, ""


def _objects() -> list[Any]:
    scene = slicer.mrmlScene
    nodes = [scene.GetNthNode(number) for number in range(scene.GetNumberOfNodes())]
    models = [node for node in nodes if node.IsA("vtkMRMLModelNode")]
    own = [kept_nodes(model).get("labelmapNode") for model in models]
    return [
        node
        for node in nodes
        if node.GetClassName() in (SEGMENTATION, LABELMAP)
        and not node.GetHideFromEditors()
        and node not in own
    ]


def _edited() -> tuple[Any, str]:
    """Return what is open in the Segment Editor."""
    editor = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSegmentEditorNode")
    node = editor.GetSegmentationNode() if editor is not None else None
    segment_id = (editor.GetSelectedSegmentID() or "") if node is not None else ""
    there = node is not None and node.GetSegmentation().GetSegment(segment_id) is not None
    return (node, segment_id) if there else (None, "")


def _is_shown(node: Any) -> bool:
    if is_segmentation(node):
        display = node.GetDisplayNode()
        segments = node.GetSegmentation().GetNumberOfSegments()
        return display is not None and bool(display.GetVisibility()) and segments > 0
    count = slicer.mrmlScene.GetNumberOfNodesByClass("vtkMRMLSliceCompositeNode")
    slices = (
        slicer.mrmlScene.GetNthNodeByClass(number, "vtkMRMLSliceCompositeNode")
        for number in range(count)
    )
    return any(each.GetLabelVolumeID() == node.GetID() for each in slices)
