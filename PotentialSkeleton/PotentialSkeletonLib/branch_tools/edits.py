"""Corrections of a skeleton by a click: a branch cut or removed, a gap between trees bridged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import END, JUNCTION, Branch, CurveSkeleton, Node
from ..graph.lines import Course
from .along_the_tree import checked_place, nearest_place
from .joining import with_branches

CUT, REMOVE, BRIDGE = "cut", "remove", "bridge"
LARGEST_GAP = 30.0  # mm from the click to either side; beyond it nobody has clicked into the gap
BRIDGE_STEP = 1.0  # mm between the points of a bridge
AT_END = 1e-6  # mm; nearer to a node is at the node


@dataclass(frozen=True)
class Edit:
    """A correction at a place.

    Attributes
    ----------
    kind : str
        "cut": the branch ends there, and another one begins. "remove": the branch there goes.
        "bridge": the end nearest to the place is joined with the nearest other tree.
    point : tuple of float
        Voxels K, J, I of the skeleton.

    Examples
    --------
    >>> Edit("cut", [0, 2, 3]).to_dict()
    {'kind': 'cut', 'point': [0.0, 2.0, 3.0]}
    """

    kind: str
    point: Sequence[float]

    def __post_init__(self):
        if self.kind not in (CUT, REMOVE, BRIDGE):
            raise InputError(
                _("The correction {kind!r} is unknown: use {cut}, {remove} or {bridge}.").format(
                    kind=self.kind, cut=CUT, remove=REMOVE, bridge=BRIDGE
                )
            )
        point = np.asarray(self.point, float)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise InputError(_("The place of a correction must be three finite numbers."))
        object.__setattr__(self, "point", tuple(point.tolist()))

    def to_dict(self) -> dict:
        """For JSON."""
        return {"kind": self.kind, "point": list(self.point)}


def edited(skeleton: CurveSkeleton, edit: Edit) -> tuple[CurveSkeleton, list[list[int]]]:
    """Correct a skeleton.

    Parameters
    ----------
    skeleton : CurveSkeleton
    edit : Edit

    Returns
    -------
    skeleton : CurveSkeleton
        Each part that is connected has a component number of its own.
    origins : list of list of int
        The branches of the first skeleton that each branch is made of; none for a bridge.

    Raises
    ------
    InputError
        If there is no branch, the place is far from the tree, or there is no gap to bridge.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> line = skeleton_of_polylines([[[0, 0, 0], [0, 0, 30]]], [[2, 2]])
    >>> halves, origins = edited(line, Edit("cut", (0, 1, 12)))
    >>> [branch.component for branch in halves.branches], origins
    ([1, 2], [[0], [0]])
    >>> whole, origins = edited(halves, Edit("bridge", (0, 0, 12)))
    >>> len(whole.branches), origins
    (1, [[0, 1]])
    """
    draft = _Draft(skeleton)
    place = np.asarray(edit.point) * np.asarray(skeleton.spacing)
    if edit.kind == BRIDGE:
        draft.bridge(place)
    else:
        number, length = checked_place(draft.courses, place)
        if edit.kind == CUT:
            draft.cut(number, length)
        else:
            draft.origins[number] = None
    return draft.finished()


class _Draft:
    """A skeleton whose nodes and branches are being changed."""

    def __init__(self, skeleton: CurveSkeleton) -> None:
        self.skeleton = skeleton
        self.spacing = np.asarray(skeleton.spacing)
        self.nodes, self.branches = list(skeleton.nodes), list(skeleton.branches)
        # Branches of the first skeleton; None for a branch that is left out.
        self.origins: list[list[int] | None] = [[n] for n in range(len(self.branches))]
        self.courses = [Course(b.points * self.spacing, b.radius) for b in self.branches]

    def cut(self, number: int, length: float) -> None:
        """End a branch at a length, and begin another one there."""
        self._split(number, length, self._node(number, length), self._node(number, length))

    def bridge(self, place: np.ndarray) -> None:
        """Join the end nearest to a place (mm) with the tree that is nearest of the others."""
        tip = self._nearest_tip(place)
        component = self.nodes[tip].component
        others = [n for n, b in enumerate(self.branches) if b.component != component]
        if not others:
            raise InputError(
                _("There is one tree only, so there is no gap to bridge: a bridge joins two trees.")
            )
        found, length = nearest_place([self.courses[n] for n in others], place)
        number = others[found]
        there, radius = self.courses[number].at(length)
        start = self.nodes[tip].position * self.spacing
        away = max(np.linalg.norm(start - place), np.linalg.norm(there - place))
        if away > LARGEST_GAP:
            raise InputError(
                _(
                    "The click is {distance:.0f} mm away from one side of the gap: click between "
                    "the two ends, at most {largest:.0f} mm from each."
                ).format(distance=away, largest=LARGEST_GAP)
            )
        end = self._end_near(number, length, radius)
        if end is None:
            end = self._node(number, length)
            self._split(number, length, end, end)
        self._add_line(tip, end)

    def _nearest_tip(self, place):
        tips = [n for n, node in enumerate(self.nodes) if node.kind == END]
        if not tips:
            raise InputError(_("The skeleton has no end, from which a gap could be bridged."))
        away = [np.linalg.norm(self.nodes[n].position * self.spacing - place) for n in tips]
        return tips[int(np.argmin(away))]

    def _end_near(self, number, length, radius):
        """The branch's node within a radius of a place on it, or None."""
        branch, whole = self.branches[number], self.courses[number].lengths[-1]
        away, node = min((length, branch.start), (whole - length, branch.end))
        return node if away <= radius else None

    def _node(self, number, length):
        """A new node at a place of a branch."""
        place, radius = self.courses[number].at(length)
        component = self.branches[number].component
        self.nodes.append(Node(place / self.spacing, JUNCTION, radius, component))
        return len(self.nodes) - 1

    def _split(self, number, length, first_end, second_start):
        """Replace a branch by the two parts of it; one of no length is left out."""
        branch, course = self.branches[number], self.courses[number]
        whole, origin = course.lengths[-1], self.origins[number]
        self.origins[number] = None
        for low, high, start, end in (
            (0.0, length, branch.start, first_end),
            (length, whole, second_start, branch.end),
        ):
            if high - low > AT_END:
                points, radius = course.between(low, high)
                self.branches.append(
                    Branch(points / self.spacing, radius, start, end, branch.component)
                )
                self.origins.append(origin)

    def _add_line(self, first, last):
        one, other = self.nodes[first], self.nodes[last]
        reach = np.linalg.norm((one.position - other.position) * self.spacing)
        count = max(int(np.ceil(reach / BRIDGE_STEP)), 1) + 1
        points = np.linspace(one.position, other.position, count)
        radius = np.linspace(one.radius, other.radius, count)
        self.branches.append(Branch(points, radius, first, last, one.component))
        self.origins.append([])

    def finished(self) -> tuple[CurveSkeleton, list[list[int]]]:
        """Join what two branches meet at, and number the trees."""
        draft = replace(self.skeleton, nodes=self.nodes, branches=self.branches)
        kept = [n for n, origin in enumerate(self.origins) if origin is not None]
        joined, parts = with_branches(draft, kept)
        origins = [[old for n in part for old in self.origins[n] or ()] for part in parts]
        return _numbered(joined), [list(dict.fromkeys(each)) for each in origins]


def _numbered(skeleton):
    """The skeleton with one component number for each part that is connected."""
    own = list(range(len(skeleton.nodes)))

    def top(node):
        while own[node] != node:
            own[node] = own[own[node]]
            node = own[node]
        return node

    for branch in skeleton.branches:
        first, last = sorted((top(branch.start), top(branch.end)))
        own[last] = first
    number: dict[int, int] = {}
    fresh = max((node.component for node in skeleton.nodes), default=0)
    for node in range(len(own)):
        if top(node) not in number:  # the first part keeps the number, others get new ones
            wanted = skeleton.nodes[top(node)].component
            fresh += wanted in number.values()
            number[top(node)] = fresh if wanted in number.values() else wanted
    nodes = [replace(each, component=number[top(n)]) for n, each in enumerate(skeleton.nodes)]
    branches = [replace(each, component=number[top(each.start)]) for each in skeleton.branches]
    return replace(skeleton, nodes=nodes, branches=branches)
