"""Steps that change a skeleton: pruning, and edits by a click; stored as text, and repeated.

Functions that change a skeleton return it with its origins: for each branch the branches of the
first skeleton that it is made of (none for a bridge).
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..curve_skeleton import (
    END,
    ISOLATED,
    JUNCTION,
    Branch,
    CurveSkeleton,
    Node,
    component_numbers,
    node_kind,
)
from .measuring import checked_place, nearest_place

LENGTH, RADIUS, GENERATION, SPUR_RATIO = "length", "radius", "generation", "spur ratio"
CUT, REMOVE, BRIDGE = "cut", "remove", "bridge"
LARGEST_GAP = 30.0  # mm from the click to either side; beyond it the click is not in a gap
BRIDGE_STEP = 1.0  # mm between the points of a bridge
AT_END = 1e-6  # mm; nearer to a node is at the node

Changed = tuple[CurveSkeleton, list[list[int]]]


@dataclass(frozen=True)
class PruneStep:
    """What is cut off; `value` is from 0 up.

    "length": end branches shorter than so many mm. "radius": end branches whose mean radius is
    smaller, mm. "spur ratio": end branches whose length over the radius at their junction is
    smaller. "generation": all branches of a higher generation.
    """

    kind: str
    value: float

    def __post_init__(self) -> None:
        _check_kind(self.kind, (LENGTH, RADIUS, GENERATION, SPUR_RATIO))
        if not 0 <= float(self.value) < float("inf"):
            text = _("Pruning by {kind} needs a number from 0 up, not {value}.")
            raise InputError(text.format(kind=self.kind, value=self.value))
        object.__setattr__(self, "value", float(self.value))

    def to_dict(self) -> dict:
        """For JSON."""
        return {"kind": self.kind, "value": self.value}


@dataclass(frozen=True)
class Edit:
    """A correction at a point (voxels K, J, I of the skeleton).

    "cut": the branch ends there, and another one begins. "remove": the branch there goes. "bridge":
    the end nearest to the place is joined with the nearest other tree.
    """

    kind: str
    point: Sequence[float]

    def __post_init__(self) -> None:
        _check_kind(self.kind, (CUT, REMOVE, BRIDGE))
        point = np.asarray(self.point, float)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise InputError(_("The place of a correction must be three finite numbers."))
        object.__setattr__(self, "point", tuple(point.tolist()))

    def to_dict(self) -> dict:
        """For JSON."""
        return {"kind": self.kind, "point": list(self.point)}


Step = PruneStep | Edit


def _check_kind(kind, kinds):
    if kind not in kinds:
        text = _("The step {kind!r} is unknown: use {kinds}.")
        raise InputError(text.format(kind=kind, kinds=", ".join(kinds)))


def replayed(skeleton: CurveSkeleton, steps: Iterable[Step]) -> Changed:
    """Apply steps one after the other; `InputError` as `pruned` and `edited`.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [15, 8, 0]], [[9, 0, 0], [9, -3, 0]]],
    ...     [[2, 2], [1.5, 1], [1.5, 1]],
    ... )
    >>> replayed(fork, [PruneStep("length", 5), Edit("cut", (5, 0, 0))])[1]
    [[0, 1], [0, 1]]
    """
    origins = [[number] for number in range(len(skeleton.branches))]
    for step in steps:
        if isinstance(step, PruneStep):
            skeleton, parts = pruned(skeleton, [step])
        else:
            skeleton, parts = edited(skeleton, step)
        origins = [list(dict.fromkeys(old for n in own for old in origins[n])) for own in parts]
    return skeleton, origins


def steps_text(steps: Sequence[Step]) -> str:
    """Steps as JSON."""
    return json.dumps([step.to_dict() for step in steps])


def steps_of_text(text: str) -> list[Step]:
    """Steps from `steps_text`; `InputError` if the text is no list of valid steps."""
    try:
        stored = json.loads(text)
    except ValueError as error:
        raise InputError(_("This is no list of steps: {error}.").format(error=error)) from error
    if not isinstance(stored, list) or not all(isinstance(each, dict) for each in stored):
        raise InputError(_("This is no list of steps: it must be a list of kinds and values."))
    classes = {frozenset(("kind", "value")): PruneStep, frozenset(("kind", "point")): Edit}
    for each in stored:
        if frozenset(each) not in classes:
            text = _("{step!r} is no step: it needs a kind, and a value or a point.")
            raise InputError(text.format(step=each))
    return [classes[frozenset(each)](**each) for each in stored]


def pruned(
    skeleton: CurveSkeleton, steps: Iterable[PruneStep], roots: Iterable[int] | None = None
) -> Changed:
    """Apply steps of pruning one after the other.

    End branches are cut one at a time, the worst first, and what is left at their junction is
    joined before the next is judged. A branch at a root (nodes, as for `CurveSkeleton.roots`) and
    the last branch of a component stay.
    """
    chosen = skeleton.roots(list(roots) if roots is not None else None)
    places = {tuple(skeleton.nodes[root].position) for root in chosen}
    origins = [[number] for number in range(len(skeleton.branches))]
    for step in steps:
        known: dict[int, tuple] = {}  # measures of branches that stay as they are
        while True:
            nodes = skeleton.nodes
            at_roots = [n for n, node in enumerate(nodes) if tuple(node.position) in places]
            stays = _staying(skeleton, step, at_roots, known)
            if len(stays) == len(skeleton.branches):
                break
            skeleton, parts = with_branches(skeleton, stays)
            origins = [[old for part in own for old in origins[part]] for own in parts]
    return skeleton, origins


def _staying(skeleton, step, roots, known):
    """Numbers of branches that stay: all but the worst, or all of the generations."""
    everything = range(len(skeleton.branches))
    if step.kind == GENERATION:
        generations = skeleton.generations(roots)
        return [n for n in everything if generations[n] <= step.value]
    worst, lowest = -1, step.value
    for number, branch in enumerate(skeleton.branches):
        ends = skeleton.nodes[branch.start], skeleton.nodes[branch.end]
        kinds = [node.kind for node in ends]
        if kinds.count(END) != 1 or branch.start in roots or branch.end in roots:
            continue
        key = id(branch.points)  # joining makes other arrays; those that stay keep theirs
        if key not in known:
            course = skeleton.course(branch)
            value = course.mean_radius if step.kind == RADIUS else float(course.lengths[-1])
            known[key] = value, branch.points
        value = known[key][0]
        if step.kind == SPUR_RATIO:
            value /= max(ends[kinds.index(END) - 1].radius, 1e-9)
        if value < lowest:
            worst, lowest = number, value
    return [n for n in everything if n != worst]


def edited(skeleton: CurveSkeleton, edit: Edit) -> Changed:
    """Correct a skeleton; each part that is connected gets a component number of its own.

    `InputError` if the place is far from the tree, or there is no gap to bridge.

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
            draft.split(number, length, draft.node(number, length), draft.node(number, length))
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
        self.courses = [skeleton.course(branch) for branch in self.branches]

    def bridge(self, place: np.ndarray) -> None:
        """Join the end nearest to a place (mm) with the tree that is nearest of the others."""
        tips = [n for n, node in enumerate(self.nodes) if node.kind == END]
        if not tips:
            raise InputError(_("The skeleton has no end, from which a gap could be bridged."))
        starts = np.array([self.nodes[n].position * self.spacing for n in tips])
        nearest = int(np.linalg.norm(starts - place, axis=1).argmin())
        tip, start = self.nodes[tips[nearest]], starts[nearest]
        others = [n for n, b in enumerate(self.branches) if b.component != tip.component]
        if not others:
            raise InputError(
                _("There is one tree only, so there is no gap to bridge: a bridge joins two trees.")
            )
        found, length = nearest_place([self.courses[n] for n in others], place)
        number = others[found]
        there, radius = self.courses[number].at(length)
        away = max(np.linalg.norm(start - place), np.linalg.norm(there - place))
        if away > LARGEST_GAP:
            text = _(
                "The click is {distance:.0f} mm away from one side of the gap: click between the "
                "two ends, at most {largest:.0f} mm from each."
            )
            raise InputError(text.format(distance=away, largest=LARGEST_GAP))
        branch, whole = self.branches[number], self.courses[number].lengths[-1]
        to_end, end = min((length, branch.start), (whole - length, branch.end))
        if to_end > radius:
            end = self.node(number, length)
            self.split(number, length, end, end)
        other = self.nodes[end]
        reach = np.linalg.norm((tip.position - other.position) * self.spacing)
        count = max(int(np.ceil(reach / BRIDGE_STEP)), 1) + 1
        points = np.linspace(tip.position, other.position, count)
        radii = np.linspace(tip.radius, other.radius, count)
        self.branches.append(Branch(points, radii, tips[nearest], end, tip.component))
        self.origins.append([])

    def node(self, number: int, length: float) -> int:
        """A new node at a place of a branch."""
        place, radius = self.courses[number].at(length)
        component = self.branches[number].component
        self.nodes.append(Node(place / self.spacing, JUNCTION, radius, component))
        return len(self.nodes) - 1

    def split(self, number: int, length: float, first_end: int, second_start: int) -> None:
        """Replace a branch by the two parts of it; one of no length is left out."""
        branch, course, origin = self.branches[number], self.courses[number], self.origins[number]
        self.origins[number] = None
        for low, high, start, end in (
            (0.0, length, branch.start, first_end),
            (length, course.lengths[-1], second_start, branch.end),
        ):
            if high - low > AT_END:
                points, radius = course.between(low, high)
                points = points / self.spacing
                self.branches.append(Branch(points, radius, start, end, branch.component))
                self.origins.append(origin)

    def finished(self) -> Changed:
        """Join what two branches meet at, and number the trees."""
        draft = replace(self.skeleton, nodes=self.nodes, branches=self.branches)
        stays = [n for n, origin in enumerate(self.origins) if origin is not None]
        joined, parts = with_branches(draft, stays)
        origins = [[old for n in part for old in self.origins[n] or ()] for part in parts]
        return _numbered(joined), [list(dict.fromkeys(each)) for each in origins]


def _numbered(skeleton: CurveSkeleton) -> CurveSkeleton:
    """The skeleton with one component number for each part that is connected."""
    pairs = [(branch.start, branch.end) for branch in skeleton.branches]
    part = component_numbers(len(skeleton.nodes), pairs)
    number: dict[int, int] = {}
    fresh = max((node.component for node in skeleton.nodes), default=0)
    for own, node in zip(part, skeleton.nodes):
        if own not in number:  # the first part keeps the number, others get new ones
            taken = node.component in number.values()
            fresh += taken
            number[own] = fresh if taken else node.component
    nodes = [replace(each, component=number[own]) for own, each in zip(part, skeleton.nodes)]
    branches = [replace(b, component=number[part[b.start]]) for b in skeleton.branches]
    return replace(skeleton, nodes=nodes, branches=branches)


def with_branches(skeleton: CurveSkeleton, stays: Collection[int]) -> Changed:
    """The skeleton of some of its branches (numbers).

    Where two of them meet and no third, they are joined to one. Nodes that lose all their branches
    are left out; those that never had one stay.
    """
    chains = {n: (skeleton.branches[n], [n]) for n in sorted(stays)}
    meeting: list[list[int]] = [[] for _ in skeleton.nodes]
    for number, (branch, _origin) in chains.items():
        meeting[branch.start].append(number)
        meeting[branch.end].append(number)
    for node, numbers in enumerate(meeting):
        if len(numbers) == 2 and numbers[0] != numbers[1]:
            first, second = sorted(numbers)
            one, other = _towards(chains[first], node), _towards(chains.pop(second), node)
            meeting[node], far = [], other[0].start
            meeting[far] = [first if number == second else number for number in meeting[far]]
            points = np.concatenate([one[0].points, other[0].points[-2::-1]])
            radius = np.concatenate([one[0].radius, other[0].radius[-2::-1]])
            branch = Branch(points, radius, one[0].start, far, one[0].component)
            chains[first] = branch, one[1] + other[1][::-1]
    degrees = Counter(node for b, _origin in chains.values() for node in (b.start, b.end))
    closed = {branch.start for branch, _origin in chains.values() if branch.start == branch.end}
    nodes: list[Node] = []
    number_of: dict[int, int] = {}
    for number, own in enumerate(skeleton.nodes):
        if number in degrees or own.kind == ISOLATED:
            number_of[number] = len(nodes)
            nodes.append(replace(own, kind=node_kind(degrees[number], number in closed)))
    branches = [
        replace(b, start=number_of[b.start], end=number_of[b.end]) for b, _origin in chains.values()
    ]
    origins = [origin for _branch, origin in chains.values()]
    return replace(skeleton, nodes=nodes, branches=branches), origins


def _towards(chain, node):
    """A branch and its origins, turned so that it ends at a node."""
    branch, origin = chain
    if branch.end == node:
        return chain
    points, radius = branch.points[::-1], branch.radius[::-1]
    return Branch(points, radius, branch.end, branch.start, branch.component), origin[::-1]
