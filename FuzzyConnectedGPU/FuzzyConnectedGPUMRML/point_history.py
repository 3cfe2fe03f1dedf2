"""Undo for lists of points: the scene's own undo is switched off in Slicer."""

from itertools import count
from typing import Any

from FuzzyVesselCoreLib.mrml.points import placed_points

STEPS = 50
# What a control point has beside label and position: no step, and it outlives undo.
PROPERTIES = ("Description", "Locked", "Visibility", "Selected", "AssociatedNodeID")


class PointHistory:
    """The earlier states of one list of points.

    A step is a point that was placed, moved, renamed or deleted; what a drag passes through is
    none. A point that comes back has the lock, the visibility and the description that it had last.

    Parameters
    ----------
    node : vtkMRMLMarkupsNode
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        # Undo makes points anew, with other IDs: a number of our own goes on with each point.
        self._numbers: dict[str, int] = {}
        self._new_numbers = count()
        self._properties: dict[int, dict[str, Any]] = {}
        self._states = [self._state()]

    def record(self) -> bool:
        """Remember the list as it is now; returns whether it differs from the last step."""
        state = self._state()
        if state == self._states[-1]:
            return False
        self._states = [*self._states[-STEPS:], state]
        return True

    @property
    def can_undo(self) -> bool:
        return len(self._states) > 1

    def undo(self) -> None:
        """Put the list back to the step before; points that are not placed yet are dropped."""
        import slicer

        if not self.can_undo:
            return
        self._state()  # the points as they are now
        self._states.pop()
        with slicer.util.NodeModify(self._node):
            self._node.RemoveAllControlPoints()
            for number, label, position in self._states[-1]:
                index = self._node.AddControlPointWorld(position)
                self._node.SetNthControlPointLabel(index, label)
                self._numbers[self._node.GetNthControlPointID(index)] = number
                for name, value in self._properties[number].items():
                    getattr(self._node, f"SetNthControlPoint{name}")(index, value)

    def _state(self) -> list[tuple]:
        """Number, label and position of each point that is placed."""
        points, state = placed_points(self._node), []
        for index, at in zip(points.indices, points.world.tolist()):
            point_id = self._node.GetNthControlPointID(index)
            if point_id not in self._numbers:
                self._numbers[point_id] = next(self._new_numbers)
            number = self._numbers[point_id]
            self._properties[number] = {
                name: getattr(self._node, f"GetNthControlPoint{name}")(index) for name in PROPERTIES
            }
            state.append((number, self._node.GetNthControlPointLabel(index), tuple(at)))
        return state
