"""Undo and redo of every click: Slicer switches the scene's own undo off."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from FuzzyVesselCoreLib.mrml.points import placed_points
from FuzzyVesselCoreLib.mrml.provenance import voxel_time
from FuzzyVesselCoreLib.mrml.segments import is_as_written, result_segment

from . import run_inputs, vessels
from .vessels import POINT_PROPERTIES

STEPS = 50


class PointStates:
    """Reads and restores the points of one list: label, position and description.

    A point that comes back has the lock and the visibility that it had last.
    """

    def __init__(self, node: Any) -> None:
        self.node = node
        self._properties: dict[tuple, dict[str, Any]] = {}

    def now(self) -> tuple:
        """Label, position and description of each point that is placed."""
        points, state = placed_points(self.node), []
        for index, at in zip(points.indices, map(tuple, points.world.tolist())):
            label = self.node.GetNthControlPointLabel(index)
            self._properties[label, at] = {
                name: getattr(self.node, f"GetNthControlPoint{name}")(index)
                for name in POINT_PROPERTIES
            }
            state.append((label, at, self.node.GetNthControlPointDescription(index)))
        return tuple(state)

    def restore(self, state: tuple) -> None:
        """Put the list back to a state; points that are not placed yet are dropped."""
        import slicer

        if self.now() == state:
            return
        with slicer.util.NodeModify(self.node):
            self.node.RemoveAllControlPoints()
            for label, at, description in state:
                index = self.node.AddControlPointWorld(at, label)
                self.node.SetNthControlPointDescription(index, description)
                for name, value in self._properties[label, at].items():
                    getattr(self.node, f"SetNthControlPoint{name}")(index, value)


class _State(NamedTuple):
    """The points of each list by its ID, the setting, and the lists that were removed."""

    points: dict[str, tuple]
    setting: Any
    removed: frozenset[str]


class ClickHistory:
    """The earlier and later states of all lists of points and of a setting.

    One step is what changed between two calls of `record`: so a point that goes from one list to
    another one is one step. A list that is chosen, or that leaves the scene by itself, is none; a
    list that `removed` names is one.

    Parameters
    ----------
    put : callable
        ``put(node, there)`` brings a list back that was removed, or removes it again.
    """

    def __init__(self, put: Callable[[Any, bool], None] = lambda _node, _there: None) -> None:
        self._put = put
        self._lists: dict[str, PointStates] = {}
        self._states: list[_State] = []
        self._removed: frozenset[str] = frozenset()
        self._at, self._going = -1, False

    def removed(self, node: Any) -> None:
        """A list was removed on purpose: the next call of `record` makes a step of it."""
        if node.GetID() in self._lists:
            self._removed |= {node.GetID()}

    def record(self, lists: Sequence[Any], setting: Any = None) -> bool:
        """Remember the points of lists and a setting; returns whether that is a new step."""
        if self._going:
            return False
        for node in lists:
            if node.GetID() not in self._lists:
                states = self._lists[node.GetID()] = PointStates(node)
                for state in self._states:
                    state.points[node.GetID()] = states.now()
        now = {node.GetID(): self._lists[node.GetID()].now() for node in lists}
        if not self._states:
            self._states, self._at = [_State(now, setting, self._removed)], 0
            return False
        before = self._states[self._at]
        same = setting == before.setting and self._removed == before.removed
        if same and all(before.points[each] == points for each, points in now.items()):
            return False
        self._states = self._states[max(self._at + 1 - STEPS, 0) : self._at + 1]
        self._states.append(_State({**before.points, **now}, setting, self._removed))
        self._at = len(self._states) - 1
        return True

    @property
    def can_undo(self) -> bool:
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        return self._at + 1 < len(self._states)

    def undo(self) -> Any:
        """Put the lists back to the step before; returns the setting of that step."""
        return self._go(-1)

    def redo(self) -> Any:
        """Put the lists forward to the step that was taken back; returns its setting."""
        return self._go(1)

    def _go(self, step: int) -> Any:
        import slicer

        if not 0 <= self._at + step < len(self._states):
            return self._states[self._at].setting if self._states else None
        before = self._states[self._at].points
        self._at += step
        state = self._states[self._at]
        put, self._removed = sorted(self._removed ^ state.removed), state.removed
        self._going = True  # who observes the lists may call `record` in the middle
        try:
            for each in put:
                self._put(self._lists[each].node, each not in state.removed)
            for each, points in state.points.items():
                own = self._lists[each]
                there = slicer.mrmlScene.IsNodePresent(own.node)
                if there and points != before[each] == own.now():  # else edited elsewhere
                    own.restore(points)
        finally:
            self._going = False
        return state.setting


class RemovedVessel:
    """Removes a vessel, its points, and its segment unless somebody edited it; undo brings it back.

    Parameters
    ----------
    parameters : parameter node wrapper
    node : vtkMRMLMarkupsFiducialNode
    """

    def __init__(self, parameters: Any, node: Any) -> None:
        self.node = node
        self._place = vessels.vessels_of(parameters).index(node)
        self._color = vessels.color_of(node)
        self._segment = _taken_segment(parameters, node)
        scene_node = parameters.sceneVolume
        lists = [each.GetID() for each in run_inputs.vessels_of_scene(scene_node)]
        self._result = scene_node, voxel_time(parameters.labelmap), lists
        vessels.remove_vessel(parameters, node)

    def bring_back(self, parameters: Any) -> None:
        """Put the vessel into its place; its segment too, where no other result came meanwhile."""
        import slicer

        slicer.mrmlScene.AddNode(self.node)  # with the ID that it had
        vessels.paint(self.node, self._color)
        lists = vessels.vessels_of(parameters)
        lists.insert(self._place, self.node)
        vessels.keep(parameters, list(dict.fromkeys(lists)))
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

        if self._segment is None or not slicer.mrmlScene.IsNodePresent(self._segment[0]):
            return
        segmentation_node, segment_id, segment, following = self._segment
        inner = segmentation_node.GetSegmentation()
        if inner.GetSegment(segment_id) is None:
            before = following if inner.GetSegment(following) is not None else ""
            inner.AddSegment(segment, segment_id, before)


def _taken_segment(parameters: Any, node: Any) -> tuple | None:
    """Remove the segment of a list; segmentation, ID, a copy, and the ID behind it."""
    import slicer

    segmentation_node = parameters.segmentation
    segment_id = result_segment(segmentation_node, node, parameters.inputVolume)
    if not segment_id:
        return None
    inner = segmentation_node.GetSegmentation()
    if not is_as_written(inner.GetSegment(segment_id)):
        return None
    ids = [*inner.GetSegmentIDs(), ""]
    copy = slicer.vtkSegment()
    copy.DeepCopy(inner.GetSegment(segment_id))
    inner.RemoveSegment(segment_id)
    return segmentation_node, segment_id, copy, ids[ids.index(segment_id) + 1]
