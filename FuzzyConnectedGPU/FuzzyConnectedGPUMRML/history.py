"""Undo and redo of every click: Slicer switches the scene's own undo off."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from FuzzyVesselCoreLib.mrml.points import paint, placed_points
from FuzzyVesselCoreLib.mrml.provenance import volume_fingerprint
from FuzzyVesselCoreLib.mrml.segments import is_as_written, result_segment
from FuzzyVesselCoreLib.mrml.writing import refer

from . import fuzzy_scene, vessel_lists
from .vessel_lists import POINT_PROPERTIES

STEPS = 50


class _State(NamedTuple):
    """The points of each list by its ID, the setting, and the vessels that were removed."""

    points: dict[str, tuple]
    setting: Any
    removed: frozenset


class ClickHistory:
    """The earlier and later states of all lists of points and of a setting.

    One step is what changed between two calls of `record`: so a point that goes from one list to
    another one is one step. A list that is chosen, or that leaves the scene by itself, is none; a
    `RemovedVessel` is one. A point that comes back has the lock and the visibility that it had
    last.
    """

    def __init__(self) -> None:
        self._lists: dict[str, Any] = {}
        self._properties: dict[tuple, dict[str, Any]] = {}
        self._states: list[_State] = []
        self._removed: frozenset = frozenset()
        self._at, self._going = -1, False

    def removed(self, vessel: "RemovedVessel") -> None:
        """A vessel was removed: the next call of `record` makes a step of it."""
        self._removed |= {vessel}

    def record(self, lists: Sequence[Any], setting: Any = None) -> None:
        """Remember the points of lists and a setting, where they have changed."""
        if self._going:
            return
        now = {node.GetID(): self._points(node) for node in lists}
        for node in lists:
            if node.GetID() not in self._lists:
                self._lists[node.GetID()] = node
                for state in self._states:
                    state.points[node.GetID()] = now[node.GetID()]
        known = self._states[self._at].points if self._states else {}
        state = _State({**known, **now}, setting, self._removed)
        if not self._states or state != self._states[self._at]:
            self._states = [*self._states[max(self._at + 1 - STEPS, 0) : self._at + 1], state]
            self._at = len(self._states) - 1

    @property
    def can_undo(self) -> bool:
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        return self._at + 1 < len(self._states)

    def undo(self) -> Any:
        """Put the lists back to the step before; returns the setting of that step."""
        return self._go(-1 if self.can_undo else 0)

    def redo(self) -> Any:
        """Put the lists forward to the step that was taken back; returns its setting."""
        return self._go(1 if self.can_redo else 0)

    def _go(self, step: int) -> Any:
        import slicer

        before = self._states[self._at].points
        self._at += step
        state = self._states[self._at]
        removed, self._removed = self._removed, state.removed
        self._going = True  # who observes the lists may call `record` in the middle
        try:
            for vessel in removed - state.removed:
                vessel.bring_back()
            for vessel in state.removed - removed:
                vessel.remove()
            for each, points in state.points.items():
                node = self._lists[each]
                there = slicer.mrmlScene.IsNodePresent(node)
                if there and points != before[each] == self._points(node):  # else edited elsewhere
                    self._restore(node, points)
        finally:
            self._going = False
        return state.setting

    def _points(self, node: Any) -> tuple:
        """Label, position and description of each point that is placed."""
        placed, state = placed_points(node), []
        for index, at in zip(placed.indices, map(tuple, placed.world.tolist())):
            label = node.GetNthControlPointLabel(index)
            self._properties[node.GetID(), label, at] = {
                name: getattr(node, f"GetNthControlPoint{name}")(index) for name in POINT_PROPERTIES
            }
            state.append((label, at, node.GetNthControlPointDescription(index)))
        return tuple(state)

    def _restore(self, node: Any, state: tuple) -> None:
        """Put a list back to a state; points that are not placed yet are dropped."""
        import slicer

        with slicer.util.NodeModify(node):
            node.RemoveAllControlPoints()
            for label, at, description in state:
                index = node.AddControlPointWorld(at, label)
                node.SetNthControlPointDescription(index, description)
                for name, value in self._properties[node.GetID(), label, at].items():
                    getattr(node, f"SetNthControlPoint{name}")(index, value)


class RemovedVessel:
    """A vessel that is removed, with its segment unless that was edited; undo brings it back."""

    def __init__(self, parameters: Any, node: Any) -> None:
        self._parameters, self.node = parameters, node
        self.remove()

    def remove(self) -> None:
        """Remove the vessel, unless it has gone in another way, or is the last one."""
        import slicer

        parameters, self._lists = self._parameters, vessel_lists.vessels_of(self._parameters)
        if self.node not in self._lists or len(self._lists) < 2:
            self._lists = []
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            self._color = vessel_lists.color_of(self.node)
            self._segment = _taken_segment(parameters, self.node)
            self._result = _result_of(parameters)
            self._divided = fuzzy_scene.vessels_of_scene(parameters.sceneVolume)
            vessel_lists.remove_vessel(parameters, self.node)

    def bring_back(self) -> None:
        """Put the vessel into its place; its segment too, where no other result came meanwhile."""
        import slicer

        parameters = self._parameters
        if self.node not in self._lists:
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            slicer.mrmlScene.AddNode(self.node)  # with the ID that it had
            paint(self.node, self._color)
            lists = vessel_lists.vessels_of(parameters)
            lists.insert(self._lists.index(self.node), self.node)
            vessel_lists.keep(parameters, list(dict.fromkeys(lists)))
            parameters.seeds = self.node
        if self._result != _result_of(parameters):
            return
        if self._divided:
            refer(parameters.sceneVolume, fuzzy_scene.VESSELS, self._divided)
        if self._segment is not None and slicer.mrmlScene.IsNodePresent(self._segment[0]):
            segmentation_node, segment_id, segment, following = self._segment
            inner = segmentation_node.GetSegmentation()
            if inner.GetSegment(segment_id) is None:
                before = following if inner.GetSegment(following) is not None else ""
                inner.AddSegment(segment, segment_id, before)


def _result_of(parameters: Any) -> tuple:
    return parameters.sceneVolume, volume_fingerprint(parameters.labelmap)


def _taken_segment(parameters: Any, node: Any) -> tuple | None:
    """Remove the segment of a list; segmentation, ID, a copy, and the ID behind it."""
    import slicer

    segmentation_node = parameters.segmentation
    segment_id = result_segment(segmentation_node, node, parameters.inputVolume)
    inner = segmentation_node.GetSegmentation() if segment_id else None
    if inner is None or not is_as_written(inner.GetSegment(segment_id)):
        return None
    ids = [*inner.GetSegmentIDs(), ""]
    copy = slicer.vtkSegment()
    copy.DeepCopy(inner.GetSegment(segment_id))
    inner.RemoveSegment(segment_id)
    return segmentation_node, segment_id, copy, ids[ids.index(segment_id) + 1]
