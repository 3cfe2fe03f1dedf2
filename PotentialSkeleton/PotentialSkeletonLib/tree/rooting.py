"""Rooted trees of a skeleton, and the lines from the root to each tip.

A tree view needs one way from the root to each place. Of the branches of a loop the one with the
smallest minimal radius is left out: what stays is a maximum spanning tree by the branches' minimal
radii (Kruskal 1956). The skeleton itself keeps every branch. A component that is one closed branch
is opened at its node.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..curve_skeleton import END, Branch, CurveSkeleton, Node, component_numbers, node_kind

MAX_POINTS = 20_000_000  # of all lines together: about 1 GB with their arrays


@dataclass(frozen=True)
class DirectedBranch:
    """A branch in the direction away from the root."""

    number: int  # of the skeleton's branch
    start: int  # node, nearer to the root
    end: int
    parent: int  # position among the forest's branches; -1 at a root
    children: list  # positions of the branches that continue from `end`
    points: np.ndarray  # (n, 3), voxels K, J, I, from `start` to `end`
    radius: np.ndarray  # (n,), mm


@dataclass(frozen=True)
class Forest:
    """One rooted tree for each component of a skeleton."""

    skeleton: CurveSkeleton
    roots: list[int]  # a node for each component that has a branch
    branches: list[DirectedBranch]  # depth first: parents come before their children
    cut: list[int]  # the skeleton's branches that are left out because they close a loop
    isolated: list[int]  # nodes without any branch

    @cached_property
    def first(self) -> dict:
        """Positions of the branches that begin at each root."""
        found: dict[int, list[int]] = {root: [] for root in self.roots}
        for position, branch in enumerate(self.branches):
            if branch.parent < 0:
                found[branch.start].append(position)
        return found


def rooted_forest(
    skeleton: CurveSkeleton, roots: Iterable[int] | None = None, near: ArrayLike | None = None
) -> Forest:
    """Root each component of a skeleton, and cut its loops for the tree views.

    Parameters
    ----------
    skeleton : CurveSkeleton
    roots : iterable of int, optional
        Nodes, at most one for each component; elsewhere as `CurveSkeleton.roots` chooses.
    near : array_like, (n, 3), optional
        Points in voxels K, J, I instead: each chooses the nearest end (node where there is none).

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> ring = skeleton_of_polylines(
    ...     [[[0, 0, 0], [5, 0, 0]], [[5, 0, 0], [9, 4, 0], [12, 0, 0]],
    ...      [[5, 0, 0], [9, -4, 0], [12, 0, 0]], [[12, 0, 0], [20, 0, 0]]],
    ...     [[2, 2], [1, 0.5, 1], [1, 1, 1], [1, 1]],
    ... )
    >>> forest = rooted_forest(ring)
    >>> forest.roots, [branch.number for branch in forest.branches], forest.cut
    ([0], [0, 2, 3], [1])
    """
    if near is not None:
        if roots is not None:
            raise InputError("Give the roots as nodes (roots) or as points (near), not both.")
        roots = nearest_ends(skeleton, near)
    chosen = skeleton.roots(list(roots) if roots is not None else None)
    in_tree, cut = _spanning(skeleton)
    at_node: list[list[int]] = [[] for _ in skeleton.nodes]
    for number in in_tree:
        branch = skeleton.branches[number]
        for node in {branch.start, branch.end}:
            at_node[node].append(number)
    branches: list[DirectedBranch] = []
    for root in chosen:
        _add_tree(skeleton, root, at_node, branches)
    isolated = [node for node in chosen if not at_node[node]]
    return Forest(skeleton, [r for r in chosen if at_node[r]], branches, cut, isolated)


def nearest_ends(skeleton: CurveSkeleton, points: ArrayLike) -> list:
    """The end (node) nearest to each point (n, 3) in voxels K, J, I, each once; or `InputError`."""
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InputError("Points that choose roots must be finite, and have the shape (n, 3).")
    if not skeleton.nodes:
        raise InputError("The skeleton is empty: there is no end that a point could choose.")
    ends = [n for n, node in enumerate(skeleton.nodes) if node.kind == END]
    ends = ends or list(range(len(skeleton.nodes)))
    places = np.array([skeleton.nodes[node].position for node in ends])
    away = ((places[None] - points[:, None]) * skeleton.spacing) ** 2
    return list(dict.fromkeys(ends[n] for n in away.sum(axis=2).argmin(axis=1)))


def _spanning(skeleton):
    """Branches of a maximum spanning forest by minimal radius, and the others; a closed branch
    that is a component of its own belongs to the forest."""
    branches = skeleton.branches
    own = list(range(len(skeleton.nodes)))

    def top(node):
        while own[node] != node:
            own[node] = own[own[node]]
            node = own[node]
        return node

    ends = [node for branch in branches for node in (branch.start, branch.end)]
    meeting = np.bincount(ends, minlength=len(skeleton.nodes))
    in_tree, cut = [], []
    for number in sorted(
        range(len(branches)),
        key=lambda n: (-branches[n].radius.min(), -branches[n].radius.mean(), n),
    ):
        branch = branches[number]
        first, last = top(branch.start), top(branch.end)
        closed = branch.start == branch.end and meeting[branch.start] == 2
        (in_tree if first != last or closed else cut).append(number)
        own[last] = first
    return sorted(in_tree), sorted(cut)


def _add_tree(skeleton, root, at_node, branches):
    """Append the branches of one tree, depth first, the skeleton's order at each node."""
    waiting = [(number, root, -1) for number in reversed(at_node[root])]
    while waiting:
        number, node, parent = waiting.pop()
        branch, position = skeleton.branches[number], len(branches)
        step = 1 if branch.start == node else -1
        end = branch.end if step == 1 else branch.start
        if parent >= 0:
            branches[parent].children.append(position)
        line = branch.points[::step], branch.radius[::step]
        branches.append(DirectedBranch(number, node, end, parent, [], *line))
        if end != node:
            others = [other for other in at_node[end] if other != number]
            waiting += [(other, end, position) for other in reversed(others)]


@dataclass(frozen=True)
class RootedLine:
    """The way from a root to one tip."""

    points: np.ndarray  # (n, 3), voxels K, J, I
    radius: np.ndarray  # (n,), mm
    branches: tuple[int, ...]  # positions among the forest's branches, from the root on
    starts: np.ndarray  # index of each branch's first point, and of the last point
    root: int  # node
    tip: int


def root_to_tip_lines(forest: Forest) -> list[RootedLine]:
    """The line from the root to each tip, tree by tree, depth first; lines share branches.

    `InputError` if the lines together would have more than `MAX_POINTS` points.
    """
    ways = [_way_to(forest, n) for n, branch in enumerate(forest.branches) if not branch.children]
    sizes = [len(branch.points) - 1 for branch in forest.branches]
    count = sum(1 + sum(sizes[n] for n in way) for way in ways)
    if count > MAX_POINTS:
        text = _(
            "The lines from the root to {tips:,} tips would have {count:,} points, more "
            "than {most:,}: prune the tree first, or use the network, which has each "
            "branch once."
        )
        raise InputError(text.format(tips=len(ways), count=count, most=MAX_POINTS))
    return [_line(forest, way) for way in ways]


def _way_to(forest, position):
    """Positions of the branches from the root to one branch, both included."""
    way = []
    while position >= 0:
        way.append(position)
        position = forest.branches[position].parent
    return tuple(way[::-1])


def _line(forest, way):
    branches = [forest.branches[n] for n in way]
    points = [branches[0].points[:1], *(branch.points[1:] for branch in branches)]
    radius = [branches[0].radius[:1], *(branch.radius[1:] for branch in branches)]
    starts = np.cumsum([0, *(len(branch.points) - 1 for branch in branches)])
    ends = branches[0].start, branches[-1].end
    return RootedLine(np.concatenate(points), np.concatenate(radius), way, starts, *ends)


# ---- A skeleton from polylines: centrelines of other programs, and small graphs for examples

SAME_PLACE = 1e-6  # mm; ends nearer than this are one node


def skeleton_of_polylines(
    polylines: Sequence[ArrayLike],
    radii: Sequence[ArrayLike],
    spacing: Sequence[float] = (1.0, 1.0, 1.0),
) -> CurveSkeleton:
    """Make a graph of polylines, a branch each; where ends coincide there is one node.

    Parameters
    ----------
    polylines : sequence of array_like, (n, 3)
        Points in voxels K, J, I, at least two a line.
    radii : sequence of array_like, (n,)
        mm, at each point.
    spacing : 3 floats
        K, J, I in mm.

    Examples
    --------
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [15, 8, 0]], [[9, 0, 0], [15, -8, 0]]],
    ...     [[2, 2], [1.5, 1], [1.5, 1]],
    ... )
    >>> [node.kind for node in fork.nodes]
    ['end', 'junction', 'end', 'end']
    """
    spacing = tuple(float(step) for step in spacing)
    lines = [_checked(number, *pair) for number, pair in enumerate(zip(polylines, radii))]
    places: list[np.ndarray] = []
    sizes: list[float] = []
    ends = []
    for points, radius in lines:
        pair = [_node_at(points[side] * spacing, places) for side in (0, -1)]
        sizes += [0.0] * (len(places) - len(sizes))
        for node, side in zip(pair, (0, -1)):
            sizes[node] = max(sizes[node], float(radius[side]))
        ends.append(pair)
    numbers = component_numbers(len(places), ends)
    degrees = Counter(node for pair in ends for node in pair)
    closed = {start for start, end in ends if start == end}
    nodes = [
        Node(place / spacing, node_kind(degrees[n], n in closed), sizes[n], numbers[n])
        for n, place in enumerate(places)
    ]
    branches = [
        Branch(points, radius, start, end, numbers[start])
        for (points, radius), (start, end) in zip(lines, ends)
    ]
    reach = np.concatenate([points for points, _ in lines]) if lines else np.zeros((1, 3))
    shape = tuple(int(size) for size in np.ceil(reach.max(axis=0)).clip(0) + 1)
    return CurveSkeleton(nodes, branches, [], np.empty((0, 3), int), shape, spacing, {})


def _checked(number, points, radius):
    points, radius = np.asarray(points, float), np.asarray(radius, float)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
        raise InputError(f"Polyline {number} must have points (n, 3), at least two of them.")
    if radius.shape != (len(points),) or not (np.isfinite(points).all() and (radius >= 0).all()):
        raise InputError(
            f"Polyline {number} must have {len(points)} radii from 0 up, and finite points."
        )
    return points, radius


def _node_at(place, places):
    for number, other in enumerate(places):
        if np.linalg.norm(place - other) <= SAME_PLACE:
            return number
    places.append(place)
    return len(places) - 1
