"""Which lists of points are the vessels, what kind each is, and branches that points hand over.

The vessels are references of the module's parameter node, in their order; `seeds` among the
parameters is the vessel whose points are placed now. With one vessel there are no references.
"""

from collections.abc import Sequence
from typing import Any

from FuzzyVesselCoreLib.mrml.ownership import referred
from FuzzyVesselCoreLib.mrml.points import VESSEL_COLOR, color_of, paint
from FuzzyVesselCoreLib.mrml.segments import VESSEL_KIND

ROLE = "vessels"
HAND_OVER = "hand-over"  # how the description of such a point begins; a number follows
POINT_PROPERTIES = ("Locked", "Visibility", "Selected", "AssociatedNodeID")

Color = tuple[float, float, float]


OTHER = "other"
KINDS: dict[str, Color] = {
    "portal vein": (0.70, 0.45, 0.95),
    "hepatic vein": (0.15, 0.45, 0.95),
    "artery": (0.90, 0.15, 0.15),
    "vein": (0.10, 0.70, 0.65),
    OTHER: VESSEL_COLOR,
}
# Kinds by parts of names; the first that fits.
WORDS = {
    "portal": "portal vein",
    "hepatic vein": "hepatic vein",
    "hepatic_vein": "hepatic vein",
    "arter": "artery",
    "aort": "artery",
    "hepatic": "hepatic vein",
    "vein": "vein",
    "vena": "vein",
}
# Of further vessels of a kind whose colour is taken.
FURTHER: tuple[Color, ...] = (
    *((0.95, 0.50, 0.75), (0.45, 0.85, 0.40), (0.95, 0.60, 0.30), (0.60, 0.80, 0.95)),
    *((0.75, 0.70, 0.40), (0.80, 0.40, 0.55)),
)


def kind_of(list_node: Any) -> str:
    """The kind (of `KINDS`) of a list's vessel; "other" if it was not chosen."""
    kind = list_node.GetAttribute(VESSEL_KIND)
    return kind if kind in KINDS else OTHER


def kind_by_word(name: str) -> str:
    """The kind that a name such as "portal" or "Hepatic veins" stands for; else "other"."""
    return next((kind for word, kind in WORDS.items() if word in name.lower()), OTHER)


def set_kind(list_node: Any, name: str, taken: Sequence[Color] = ()) -> None:
    """Give a list a kind (of `KINDS`), and a colour that no other vessel has (`taken`)."""
    list_node.SetAttribute(VESSEL_KIND, name)
    known = [_rounded(color) for color in taken]
    free = [each for each in (KINDS[name], *FURTHER) if _rounded(each) not in known]
    paint(list_node, (free or [KINDS[name]])[0])


def _rounded(color: Color) -> tuple:
    return tuple(round(part, 3) for part in color)


# --- references to several nodes


def refer(node: Any, role: str, wanted: Sequence[Any]) -> None:
    """Let a node refer to these nodes in a role, and to no others."""
    ids, count = [each.GetID() for each in wanted], node.GetNumberOfNodeReferences(role)
    if [node.GetNthNodeReferenceID(role, n) for n in range(count)] != ids:
        node.RemoveNodeReferenceIDs(role)
        for each in ids:
            node.AddNodeReferenceID(role, each)


# --- the vessels of the parameters


def vessels_of(parameters: Any) -> list[Any]:
    """The lists (vtkMRMLMarkupsFiducialNode) of all vessels, the current one among them."""
    current = parameters.seeds
    found = list(dict.fromkeys(referred(parameters.parameterNode, ROLE)))
    if current is None or current in found:
        return found
    return [*found, current] if len(found) > 1 else [current]


def clicked_vessels(parameters: Any) -> list[Any]:
    """The lists that have a placed point."""
    return [each for each in vessels_of(parameters) if each.GetNumberOfDefinedControlPoints()]


def keep(parameters: Any, lists: Sequence[Any]) -> None:
    """Write which lists are the vessels."""
    refer(parameters.parameterNode, ROLE, lists)


def add_vessel(parameters: Any, names: dict[str, str]) -> Any:
    """Add a vessel without points and make it the current one; `names` are those of the kinds."""
    import slicer

    lists = vessels_of(parameters)
    title = _free_name(names[OTHER], lists)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", title)
    set_kind(node, OTHER, [color_of(each) for each in lists])
    keep(parameters, [*lists, node])
    parameters.seeds = node
    return node


def change_kind(parameters: Any, node: Any, kind: str, names: dict[str, str]) -> None:
    """Give a vessel another kind; its name follows where it was that of a kind."""
    others = [each for each in vessels_of(parameters) if each is not node]
    known = node.GetAttribute(VESSEL_KIND) is None
    known = known or node.GetName().startswith(names[kind_of(node)])
    set_kind(node, kind, [color_of(each) for each in others])
    if known:
        node.SetName(_free_name(names[kind], others))


def remove_vessel(parameters: Any, node: Any) -> None:
    """Remove a vessel and its points, unless it is the last; the one before becomes current."""
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
        if _rounded(color_of(each)) in taken:
            set_kind(each, kind_of(each), taken)
        taken.append(_rounded(color_of(each)))


def _free_name(name: str, lists: Sequence[Any]) -> str:
    """The name, with a number behind it if a vessel has it already."""
    taken, number, free = {each.GetName() for each in lists}, 1, name
    while free in taken:
        free = f"{name} {(number := number + 1)}"
    return free


# --- points


def is_hand_over(node: Any, index: int) -> bool:
    """Whether a control point hands the branch that begins there over to the list's vessel."""
    return node.GetNthControlPointDescription(index).startswith(HAND_OVER)


def is_seed(node: Any, index: int) -> bool:
    """Whether a control point lies in its own vessel, as most do."""
    return not is_hand_over(node, index)


def mark_hand_over(lists: Sequence[Any], node: Any, index: int) -> None:
    """Let a control point of a vessel's list take the branch that begins there.

    `lists` are those of all vessels: the point becomes the last of all hand-overs. It is saved,
    moved, deleted and undone like every point.
    """
    numbers = [order_of(each, n) for each in lists for n in range(each.GetNumberOfControlPoints())]
    node.SetNthControlPointDescription(index, f"{HAND_OVER} {max(numbers, default=0) + 1}")


def order_of(node: Any, index: int) -> int:
    """The place of a hand-over among all of them."""
    digits = node.GetNthControlPointDescription(index).removeprefix(HAND_OVER).strip()
    return int(digits) if digits.isdigit() else 0


def give_point(node: Any, index: int, other: Any) -> int:
    """Give a control point to another list, with all that is said of it; its index there."""
    new = other.AddControlPointWorld(node.GetNthControlPointPositionWorld(index))
    for name in (*POINT_PROPERTIES, "Label", "Description"):
        value = getattr(node, f"GetNthControlPoint{name}")(index)
        getattr(other, f"SetNthControlPoint{name}")(new, value)
    node.RemoveNthControlPoint(index)
    return new
