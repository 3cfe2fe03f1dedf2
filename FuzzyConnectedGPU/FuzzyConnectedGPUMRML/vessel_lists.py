"""Lists of points: vessels and their kinds, branches handed over, points found, undo of clicks.

The vessels are references of the module's parameter node, in their order; `seeds` among the
parameters is the vessel whose points are placed now. With one vessel there are no references.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import slicer

from FuzzyConnectedGPULib import HandOver, automatic_seeds
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import writing
from FuzzyVesselCoreLib.mrml.points import (
    BACKGROUND_COLOR,
    VESSEL_COLOR,
    PlacedPoints,
    color_of,
    inside,
    paint,
    placed_points,
    points_in_volume,
    seeds_of,
    world_points,
)
from FuzzyVesselCoreLib.mrml.reading import node_name, voxels_of
from FuzzyVesselCoreLib.mrml.segments import VESSEL_KIND, free_name
from FuzzyVesselCoreLib.translation import tr as _

ROLE = "vessels"
HAND_OVER = "hand-over"  # how the description of such a point begins; a number follows
# Of a control point, beside its place.
PROPERTIES = ("Label", "Description", "Locked", "Visibility", "Selected", "AssociatedNodeID")
SPREADS = 4.0  # deviations from the others' median at which a point is odd
AUTOMATIC_LABEL = "automatic"  # how labels of points begin that were found without a click
MIN_POINTS = 3  # of two, it is not known which one is wrong
STEPS = 50  # of undo: Slicer switches the scene's own undo off

Color = tuple[float, float, float]
OTHER = "other"
# Kinds, with their usual names and colours.
KINDS: dict[str, tuple[str, Color]] = {
    "portal vein": (_("Portal vein"), (0.70, 0.45, 0.95)),
    "hepatic vein": (_("Hepatic vein"), (0.15, 0.45, 0.95)),
    "artery": (_("Artery"), (0.90, 0.15, 0.15)),
    "vein": (_("Vein"), (0.10, 0.70, 0.65)),
    OTHER: (_("Vessel"), VESSEL_COLOR),
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


def set_kind(list_node: Any, kind: str, taken: Sequence[Color] = ()) -> None:
    """Give a list a kind, and a colour that no other vessel has (`taken`).

    The kind is of `KINDS`, or as of `kind_named`: those have the colour of artery or vein.
    """
    list_node.SetAttribute(VESSEL_KIND, kind)
    usual = (KINDS.get(kind) or KINDS.get(kind.split()[-1]) or KINDS[OTHER])[1]
    free = [
        color
        for color in (usual, *FURTHER)
        if not any(np.allclose(color, other, atol=1e-3) for other in taken)
    ]
    paint(list_node, (free or [usual])[0])


# --- the vessels of the parameters


def vessels_of(parameters: Any) -> list[Any]:
    """The lists (vtkMRMLMarkupsFiducialNode) of all vessels, the current one among them."""
    current = parameters.seeds
    found = list(dict.fromkeys(writing.referred(parameters.parameterNode, ROLE)))
    if current is None or current in found:
        return found
    return [*found, current] if len(found) > 1 else [current]


def clicked_vessels(parameters: Any) -> list[Any]:
    """The lists that have a placed point."""
    return [each for each in vessels_of(parameters) if each.GetNumberOfDefinedControlPoints()]


def keep(parameters: Any, lists: Sequence[Any]) -> None:
    """Write which lists are the vessels."""
    writing.refer(parameters.parameterNode, ROLE, lists)


def list_of(parameters: Any, name: str) -> Any:
    """The list of vessel points (`seeds`) or of background points; created if missing."""
    if getattr(parameters, name) is None:
        setattr(parameters, name, new_list(name))
    return getattr(parameters, name)


def new_list(name: str) -> Any:
    """A new list of vessel points (`seeds`) or of background points, in its colour."""
    vessel = name == "seeds"
    title = slicer.mrmlScene.GenerateUniqueName(KINDS[OTHER][0] if vessel else _("Not vessel"))
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", title)
    paint(node, VESSEL_COLOR if vessel else BACKGROUND_COLOR)
    return node


def add_vessel(parameters: Any) -> None:
    """Add a vessel without points, in a colour of its own, and make it the current one."""
    lists, node = vessels_of(parameters), new_list("seeds")
    node.SetName(free_name(KINDS[OTHER][0], [each.GetName() for each in lists]))
    set_kind(node, OTHER, [color_of(each) for each in lists])
    keep(parameters, [*lists, node])
    parameters.seeds = node


def change_kind(parameters: Any, node: Any, kind: str) -> None:
    """Give a vessel another kind; its name follows where it was that of a kind."""
    others = [each for each in vessels_of(parameters) if each is not node]
    known = node.GetAttribute(VESSEL_KIND) is None
    known = known or node.GetName().startswith(KINDS[kind_of(node)][0])
    set_kind(node, kind, [color_of(each) for each in others])
    if known:
        node.SetName(free_name(KINDS[kind][0], [each.GetName() for each in others]))


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
    numbers = [_order_of(each, n) for each in lists for n in range(each.GetNumberOfControlPoints())]
    node.SetNthControlPointDescription(index, f"{HAND_OVER} {max(numbers, default=0) + 1}")


def _order_of(node: Any, index: int) -> int:
    """The place of a hand-over among all of them."""
    digits = node.GetNthControlPointDescription(index).removeprefix(HAND_OVER).strip()
    return int(digits) if digits.isdigit() else 0


def hand_overs_of(
    lists: Sequence[Any], volume_node: Any, shape: tuple[int, ...]
) -> tuple[list[HandOver], list[str]]:
    """The branches that points hand over, in their order, and warnings on points outside."""
    found, warnings = [], []
    for number, node in enumerate(lists if len(lists) > 1 else (), 1):
        points = placed_points(node, is_hand_over)
        voxels = points_in_volume(volume_node, points.world)
        placed = zip(points.indices, points.labels, voxels.tolist(), inside(voxels, shape))
        for index, label, (k, j, i), hit in placed:
            if hit:
                found.append((_order_of(node, index), HandOver((k, j, i), number, label)))
            else:
                text = _("{name} lies outside the volume: no branch is given to its vessel.")
                warnings.append(text.format(name=label))
    return [each for _order, each in sorted(found, key=lambda each: each[0])], warnings


def seeds_of_vessels(
    lists: Sequence[Any], volume_node: Any, shape: Any, region: Any
) -> list[PlacedPoints]:
    """The seeds of each vessel; none where it has only branches that are handed over."""
    accept, found = is_seed if len(lists) > 1 else None, []
    for node in lists:
        points = node and placed_points(node)
        if points and points.labels and not placed_points(node, accept).labels:
            none = np.empty((0, 3), np.int64)
            found.append(PlacedPoints([], none, [], none))
        else:
            found.append(seeds_of(node, volume_node, shape, region, accept=accept))
    return found


def seed_voxels(lists: Sequence[Any], volume_node: Any, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The voxels (n, 3) of each vessel's seeds that lie in a volume."""
    found = [points_in_volume(volume_node, placed_points(node, is_seed).world) for node in lists]
    return [voxels[inside(voxels, shape)] for voxels in found]


def give_point(node: Any, index: int, other: Any) -> None:
    """Give a control point to another list, with all that is said of it."""
    _add_point(other, node.GetNthControlPointPositionWorld(index), _properties(node, index))
    node.RemoveNthControlPoint(index)


def _properties(node: Any, index: int) -> dict[str, Any]:
    """All that is said of a control point, but for its place."""
    return {name: getattr(node, f"GetNthControlPoint{name}")(index) for name in PROPERTIES}


def _add_point(node: Any, position: Sequence[float], properties: dict[str, Any]) -> None:
    index = node.AddControlPointWorld(position)
    for name, value in properties.items():
        getattr(node, f"SetNthControlPoint{name}")(index, value)


# ---- points found without a click


def find_seeds(
    volume_node: Any, options: Any, most: int, seeds_node: Any, progress: Any, cached: Any
) -> Any:
    """Find seeds and add them to a list of points; see `FuzzyConnectedGPULogic.findSeeds`.

    The options are those of a run; no point is added into a voxel that holds one.
    """
    voxels = voxels_of(volume_node)
    if seeds_node is not None and not seeds_node.IsA("vtkMRMLMarkupsFiducialNode"):
        text = _("{name} is not a list of points: choose one, or none for a new list.")
        raise InputError(text.format(name=node_name(seeds_node)))
    if seeds_node is not None and seeds_node.GetFixedNumberOfControlPoints():
        text = _("The list {name} takes no more points (its number is fixed): choose another one.")
        raise InputError(text.format(name=node_name(seeds_node)))
    nodes = (volume_node, options.maskNode, options.roiNode, seeds_node)
    inputs = [node for node in nodes if writing.in_scene(node)]
    found = automatic_seeds(
        voxels,
        find_map=cached.contrast_map,
        spacing=volume_node.GetSpacing()[::-1],
        mask=options.region(volume_node, voxels.shape),
        count=most,
        device=options.device,
        progress=progress,
    )
    writing.check_in_scene(inputs)
    with writing.new_nodes() as add:
        if seeds_node is None:
            seeds_node = add("vtkMRMLMarkupsFiducialNode", "Vessel")
            paint(seeds_node, VESSEL_COLOR)
        points = placed_points(seeds_node)
        known = points_in_volume(volume_node, points.world).tolist()
        labels = (f"{AUTOMATIC_LABEL}-{number}" for number in count(1))
        free = (label for label in labels if label not in points.labels)
        with slicer.util.NodeModify(seeds_node):
            for voxel, position in zip(found.tolist(), world_points(found, volume_node)):
                if voxel not in known:
                    seeds_node.AddControlPointWorld(position, next(free))
    return seeds_node


# ---- points as rows of a table, which say which one is odd


@dataclass(frozen=True)
class SeedRow:
    """One placed point of a list, by its index there; intensities are None outside the volume."""

    index: int
    label: str
    ijk: tuple  # the voxel that holds it, as the Data Probe shows it
    intensity: float | None = None
    mean: float | None = None  # of its neighbourhood, as the deviation
    deviation: float | None = None


def seed_rows(volume_node: Any, seeds_node: Any, radius: int = 2) -> list[SeedRow]:
    """The placed points of a list, with the intensities of a volume within `radius` voxels."""
    points = placed_points(seeds_node)
    volume = voxels_of(volume_node, copy=False)
    voxels = points_in_volume(volume_node, points.world)
    places = zip(points.indices, points.labels, voxels, inside(voxels, volume.shape))
    rows = []
    for index, label, voxel, hit in places:
        values: tuple = ()
        if hit:
            near = tuple(slice(max(at - radius, 0), at + radius + 1) for at in voxel)
            box = volume[near].astype(float)
            values = float(volume[tuple(voxel)]), float(box.mean()), float(box.std())
        rows.append(SeedRow(index, label, tuple(voxel[::-1].tolist()), *values))
    return rows


def odd_point(rows: Sequence[SeedRow]) -> tuple[SeedRow | None, float | None]:
    """The vessel point that disagrees most with the others, and their median intensity.

    None for the point where none does, and for the median where it is outside the volume.
    The spread is that of the other points, but not below the noise: the lowest deviation in the
    neighbourhood of any point, as most neighbourhoods hold the border of the vessel, too.
    """
    outside = [row for row in rows if row.intensity is None]
    if outside:
        return outside[0], None
    if len(rows) < MIN_POINTS:
        return None, None
    values = np.array([row.intensity for row in rows], float)
    noise = min(float(row.deviation or 0.0) for row in rows)
    found: tuple[SeedRow | None, float | None] = None, None
    most = SPREADS
    for number, row in enumerate(rows):
        others = np.delete(values, number)
        median = float(np.median(others))
        spread = max(1.4826 * float(np.median(np.abs(others - median))), noise)
        if abs(values[number] - median) > most * spread > 0:
            most = abs(values[number] - median) / spread
            found = row, median
    return found


# ---- undo and redo of every click


class _State(NamedTuple):
    """The points of each list, the setting, and the vessels that were removed."""

    points: dict[Any, tuple]
    setting: Any
    removed: frozenset


class ClickHistory:
    """The earlier and later states of all lists of points and of a setting.

    One step is what changed between two calls of `record`: so a point that goes from one list to
    another one is one step. Choosing a list, or its removal from the scene, is none; removing a
    vessel (`removed`) is one. A point that comes back has the lock and the visibility that it had
    last.
    """

    def __init__(self) -> None:
        self._properties: dict[tuple, dict[str, Any]] = {}
        self._states: list[_State] = []
        self._removed: frozenset = frozenset()
        self._at = -1

    def removed(self, vessel: Any) -> None:
        """A vessel was removed: the next call of `record` makes a step of it.

        Undo calls its ``bring_back()``, redo its ``remove()``.
        """
        self._removed |= {vessel}

    def record(self, lists: Sequence[Any], setting: Any = None) -> None:
        """Remember the points of lists and a setting, where they have changed."""
        now = {node: self._points(node) for node in lists}
        for state in self._states:
            for node, points in now.items():
                state.points.setdefault(node, points)
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
        """Put the lists back to the step before; returns the setting of that step.

        Observers of the lists must not call `record` before it returns.
        """
        return self._go(-1 if self.can_undo else 0)

    def redo(self) -> Any:
        """Put the lists forward to the step that was taken back; returns its setting."""
        return self._go(1 if self.can_redo else 0)

    def _go(self, step: int) -> Any:
        before = self._states[self._at].points
        self._at += step
        state = self._states[self._at]
        removed, self._removed = self._removed, state.removed
        for vessel in removed - state.removed:
            vessel.bring_back()
        for vessel in state.removed - removed:
            vessel.remove()
        for node, points in state.points.items():
            there = slicer.mrmlScene.IsNodePresent(node)
            if there and points != before[node] == self._points(node):  # else edited elsewhere
                with slicer.util.NodeModify(node):
                    node.RemoveAllControlPoints()  # those that are not placed yet, too
                    for point in points:
                        _add_point(node, point[0], self._properties[node, point])
        return state.setting

    def _points(self, node: Any) -> tuple:
        """Position, label and description of each point that is placed."""
        placed, state = placed_points(node), []
        for index, at in zip(placed.indices, map(tuple, placed.world.tolist())):
            properties = _properties(node, index)
            state.append((at, properties["Label"], properties["Description"]))
            self._properties[node, state[-1]] = properties
        return tuple(state)
