"""Which lists of points are the vessels: references of the module's parameters, in their order.

The parameter `seeds` is the vessel whose points are placed now. A scene that knew one list only has
no references: then that list is the one vessel.
"""

from typing import Any

from FuzzyVesselCoreLib.mrml.new_points import VESSEL_COLOR, paint

from .vessel_kinds import KIND, OTHER, Color, color_of, kind_of, set_kind

ROLE = "vessels"


def vessels_of(parameters: Any) -> list[Any]:
    """The lists of all vessels, the current one among them.

    Parameters
    ----------
    parameters : parameter node wrapper

    Returns
    -------
    list of vtkMRMLMarkupsFiducialNode
    """
    node, current = parameters.parameterNode, parameters.seeds
    numbers = range(node.GetNumberOfNodeReferences(ROLE))
    found = [node.GetNthNodeReference(ROLE, number) for number in numbers]
    found = list(dict.fromkeys(each for each in found if each is not None))
    if current is None or current in found:
        return found
    return [*found, current] if len(found) > 1 else [current]


def clicked_vessels(parameters: Any) -> list[Any]:
    """The lists that have a placed point."""
    return [each for each in vessels_of(parameters) if each.GetNumberOfDefinedControlPoints()]


def keep(parameters: Any, lists: list[Any]) -> None:
    """Write which lists are the vessels."""
    node = parameters.parameterNode
    if [node.GetNthNodeReferenceID(ROLE, n) for n in range(len(lists))] == [
        each.GetID() for each in lists
    ] and node.GetNumberOfNodeReferences(ROLE) == len(lists):
        return
    node.RemoveNodeReferenceIDs(ROLE)
    for each in lists:
        node.AddNodeReferenceID(ROLE, each.GetID())


def add_vessel(parameters: Any, names: dict[str, str]) -> Any:
    """Add a vessel without points and of no stated kind, and make it the current one.

    Parameters
    ----------
    parameters : parameter node wrapper
    names : dict of str to str
        Of each kind, in the user's language.

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
    """
    import slicer

    lists = vessels_of(parameters)
    title = _free_name(names[OTHER.name], lists)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", title)
    paint(node, VESSEL_COLOR)
    set_kind(node, OTHER.name, [color_of(each) for each in lists])
    keep(parameters, [*lists, node])
    parameters.seeds = node
    return node


def change_kind(parameters: Any, node: Any, kind: str, names: dict[str, str]) -> None:
    """Give a vessel another kind; its name follows where it was that of a kind."""
    others = [each for each in vessels_of(parameters) if each is not node]
    known = node.GetAttribute(KIND) is None or node.GetName().startswith(names[kind_of(node).name])
    set_kind(node, kind, [color_of(each) for each in others])
    if known:
        node.SetName(_free_name(names[kind], others))


def remove_vessel(parameters: Any, node: Any) -> None:
    """Remove a vessel and its points; the one before it becomes the current one."""
    import slicer

    lists = vessels_of(parameters)
    if node not in lists or len(lists) < 2:
        return
    place = lists.index(node)
    lists.remove(node)
    if parameters.seeds is node:
        parameters.seeds = lists[max(place - 1, 0)]
    keep(parameters, lists)
    slicer.mrmlScene.RemoveNode(node)


def take_colors(parameters: Any) -> None:
    """With several vessels, give each a colour of its own."""
    taken: list[Color] = []
    for each in vessels_of(parameters):
        if color_of(each) in taken:
            set_kind(each, kind_of(each).name, taken)
        taken.append(color_of(each))


def _free_name(name: str, lists: list[Any]) -> str:
    """The name, with a number behind it if a vessel has it already."""
    taken = {each.GetName() for each in lists}
    number, free = 1, name
    while free in taken:
        free = f"{name} {(number := number + 1)}"
    return free
