"""States of a list of points, to be restored: the scene's own undo is switched off in Slicer."""

from itertools import count
from typing import Any

from FuzzyVesselCoreLib.mrml.points import placed_points

# What a control point has beside label, position and description: it is no step, and it outlives
# undo.
PROPERTIES = ("Locked", "Visibility", "Selected", "AssociatedNodeID")


class PointStates:
    """Reads and restores the points of one list.

    A state is what the points are: label, position, and description, which says whether a point
    hands a branch over. A point that comes back has the lock and the visibility that it had last.

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

    @property
    def node(self) -> Any:
        """The list."""
        return self._node

    def now(self) -> tuple:
        """Number, label, position and description of each point that is placed."""
        points, state = placed_points(self._node), []
        for index, at in zip(points.indices, points.world.tolist()):
            point_id = self._node.GetNthControlPointID(index)
            if point_id not in self._numbers:
                self._numbers[point_id] = next(self._new_numbers)
            number = self._numbers[point_id]
            self._properties[number] = {
                name: getattr(self._node, f"GetNthControlPoint{name}")(index) for name in PROPERTIES
            }
            label = self._node.GetNthControlPointLabel(index)
            state.append(
                (number, label, tuple(at), self._node.GetNthControlPointDescription(index))
            )
        return tuple(state)

    def restore(self, state: tuple) -> None:
        """Put the list back to a state; points that are not placed yet are dropped."""
        import slicer

        if self.now() == state:  # and the properties are those of now
            return
        with slicer.util.NodeModify(self._node):
            self._node.RemoveAllControlPoints()
            for number, label, position, description in state:
                index = self._node.AddControlPointWorld(position)
                self._node.SetNthControlPointLabel(index, label)
                self._node.SetNthControlPointDescription(index, description)
                self._numbers[self._node.GetNthControlPointID(index)] = number
                for name, value in self._properties[number].items():
                    getattr(self._node, f"SetNthControlPoint{name}")(index, value)
