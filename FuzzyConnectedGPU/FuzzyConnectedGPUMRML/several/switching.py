"""Points that go from one list to another one."""

from typing import Any

from ..point_history import PROPERTIES

KEPT = (*PROPERTIES, "Label", "Description")


def give_point(node: Any, index: int, other: Any) -> int:
    """Give a control point to another list, with all that is said of it.

    Parameters
    ----------
    node : vtkMRMLMarkupsNode
    index : int
    other : vtkMRMLMarkupsNode

    Returns
    -------
    int
        Its index in the other list.
    """
    position = node.GetNthControlPointPositionWorld(index)
    new = other.AddControlPointWorld(position)
    for name in KEPT:
        value = getattr(node, f"GetNthControlPoint{name}")(index)
        getattr(other, f"SetNthControlPoint{name}")(new, value)
    node.RemoveNthControlPoint(index)
    return new
