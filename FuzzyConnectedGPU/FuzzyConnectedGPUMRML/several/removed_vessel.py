"""A vessel that is removed from the list, in such a way that undo can bring it back."""

from typing import Any

from FuzzyVesselCoreLib.mrml.provenance import voxel_time
from FuzzyVesselCoreLib.mrml.segment_origin import is_as_written, result_segment

from .. import run_inputs
from . import vessel_list

# Of one segment, by what follows Get and Set in the names of its display node's methods.
SEGMENT_LOOK = (
    *("SegmentVisibility", "SegmentVisibility3D"),
    *("SegmentVisibility2DFill", "SegmentVisibility2DOutline"),
    *("SegmentOpacity3D", "SegmentOpacity2DFill", "SegmentOpacity2DOutline"),
)


class RemovedVessel:
    """Removes a vessel, its points, and its segment unless somebody edited it.

    Nothing happens to the last vessel of a list.

    Parameters
    ----------
    parameters : parameter node wrapper
    node : vtkMRMLMarkupsFiducialNode

    Attributes
    ----------
    node : vtkMRMLMarkupsFiducialNode
        The list, which is in the scene no more.
    """

    def __init__(self, parameters: Any, node: Any) -> None:
        self.node = node
        self._place = vessel_list.vessels_of(parameters).index(node)
        self._look = _copy_of(node.GetDisplayNode())
        self._segment = _taken_segment(parameters, node)
        scene_node = parameters.sceneVolume
        self._result = scene_node, voxel_time(parameters.labelmap), _lists_of(scene_node)
        vessel_list.remove_vessel(parameters, node)

    def bring_back(self, parameters: Any) -> None:
        """Put the vessel into its place; its segment too, where no other result came meanwhile."""
        import slicer

        slicer.mrmlScene.AddNode(self.node)  # with the ID that it had
        if self._look is not None:
            self.node.CreateDefaultDisplayNodes()
            self.node.GetDisplayNode().CopyContent(self._look)
        lists = vessel_list.vessels_of(parameters)
        lists.insert(self._place, self.node)
        vessel_list.keep(parameters, list(dict.fromkeys(lists)))
        parameters.seeds = self.node
        scene_node, time, lists_of_result = self._result
        if time != voxel_time(parameters.labelmap) or scene_node is not parameters.sceneVolume:
            return
        if scene_node is not None and lists_of_result:
            scene_node.RemoveNodeReferenceIDs(run_inputs.VESSELS)
            for each in lists_of_result:
                scene_node.AddNodeReferenceID(run_inputs.VESSELS, each)
        self._bring_segment_back()

    def _bring_segment_back(self) -> None:
        import slicer

        if self._segment is None:
            return
        segmentation_node, segment_id, segment, following, look = self._segment
        if not slicer.mrmlScene.IsNodePresent(segmentation_node):
            return
        inner = segmentation_node.GetSegmentation()
        if inner.GetSegment(segment_id) is None:
            before = following if inner.GetSegment(following) is not None else ""
            inner.AddSegment(segment, segment_id, before)
            display = segmentation_node.GetDisplayNode()
            for name, value in look.items() if display is not None else ():
                getattr(display, f"Set{name}")(segment_id, value)


def _taken_segment(parameters: Any, node: Any) -> tuple | None:
    """Remove the segment of a list; segmentation, ID, a copy, the ID behind it, its look."""
    import slicer

    segmentation_node = parameters.segmentation
    segment_id = result_segment(segmentation_node, node, parameters.inputVolume)
    if not segment_id:
        return None
    inner = segmentation_node.GetSegmentation()
    if not is_as_written(inner.GetSegment(segment_id)):
        return None
    display, look = segmentation_node.GetDisplayNode(), {}
    if display is not None:
        look = {name: getattr(display, f"Get{name}")(segment_id) for name in SEGMENT_LOOK}
    ids = [*inner.GetSegmentIDs(), ""]
    copy = slicer.vtkSegment()
    copy.DeepCopy(inner.GetSegment(segment_id))
    inner.RemoveSegment(segment_id)
    return segmentation_node, segment_id, copy, ids[ids.index(segment_id) + 1], look


def _lists_of(scene_node: Any) -> list[str]:
    """IDs of the lists that a result was computed from; removing one takes its reference away."""
    if scene_node is None:
        return []
    role = run_inputs.VESSELS
    count = scene_node.GetNumberOfNodeReferences(role)
    return [scene_node.GetNthNodeReferenceID(role, number) for number in range(count)]


def _copy_of(node: Any) -> Any:
    import slicer

    if node is None:
        return None
    copy = slicer.mrmlScene.CreateNodeByClass(node.GetClassName())
    copy.UnRegister(None)
    copy.CopyContent(node)
    return copy
