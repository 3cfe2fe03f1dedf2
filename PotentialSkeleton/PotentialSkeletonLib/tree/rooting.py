"""Rooted trees of a skeleton: where each begins, and which branches of its loops are cut.

A tree view (root-to-tip lines, groups, generations) needs one way from the root to each place. Of
the branches of a loop the one with the smallest minimal radius is left out of the tree views: what
stays is a maximum spanning tree by the branches' minimal radii (Kruskal 1956). The skeleton itself
keeps every branch. A component that is one closed branch is opened at its node.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError

from ..graph.curve_skeleton import END, CurveSkeleton


@dataclass(frozen=True)
class DirectedBranch:
    """A branch in the direction away from the root.

    Attributes
    ----------
    number : int
        Of the skeleton's branch.
    start, end : int
        Nodes; `start` is nearer to the root.
    parent : int
        Position of the parent among the forest's branches; -1 at a root.
    children : list of int
        Positions of the branches that go on from `end`.
    points : ndarray of float, (n, 3)
        Voxels K, J, I, from `start` to `end`.
    radius : ndarray of float, (n,)
        mm.
    """

    number: int
    start: int
    end: int
    parent: int
    children: list
    points: np.ndarray
    radius: np.ndarray


@dataclass(frozen=True)
class Forest:
    """One rooted tree a component of a skeleton.

    Attributes
    ----------
    skeleton : CurveSkeleton
    roots : list of int
        One node for each component that has a branch.
    branches : list of DirectedBranch
        Depth first: parents come before their children.
    cut : list of int
        The skeleton's branches that are left out because they close a loop.
    isolated : list of int
        Nodes without any branch.
    """

    skeleton: CurveSkeleton
    roots: list
    branches: list
    cut: list
    isolated: list

    @cached_property
    def first(self) -> dict:
        """Positions of the branches that begin at each root."""
        found: dict[int, list[int]] = {root: [] for root in self.roots}
        for position, branch in enumerate(self.branches):
            if branch.parent < 0:
                found[branch.start].append(position)
        return found


def rooted_forest(
    skeleton: CurveSkeleton,
    roots: Iterable[int] | None = None,
    near: ArrayLike | None = None,
) -> Forest:
    """Root each component of a skeleton, and cut its loops for the tree views.

    Parameters
    ----------
    skeleton : CurveSkeleton
    roots : iterable of int, optional
        Nodes, at most one for each component. In the other components the end of the branch with
        the largest mean radius, as `CurveSkeleton.roots` takes it.
    near : array_like, (n, 3), optional
        Points in voxels K, J, I instead of nodes: each chooses the nearest end of the skeleton
        (the nearest node where there is no end).

    Returns
    -------
    Forest

    Raises
    ------
    InputError
        If both `roots` and `near` are given, if a root is no node, or if two lie in one component.

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
    kept, cut = _spanning(skeleton)
    at_node: list[list[int]] = [[] for _ in skeleton.nodes]
    for number in kept:
        branch = skeleton.branches[number]
        for node in {branch.start, branch.end}:
            at_node[node].append(number)
    branches: list[DirectedBranch] = []
    for root in chosen:
        _grow(skeleton, root, at_node, branches)
    isolated = [node for node in chosen if not at_node[node]]
    rooted = [node for node in chosen if at_node[node]]
    return Forest(skeleton, rooted, branches, cut, isolated)


def nearest_ends(skeleton: CurveSkeleton, points: ArrayLike) -> list:
    """The end nearest to each point (n, 3) in voxels K, J, I; nodes, each once.

    Raises
    ------
    InputError
        If the skeleton is empty, or a point is not three finite numbers.
    """
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
    """Numbers of the branches of a maximum spanning forest by minimal radius, and of the others.

    Of a component that is one closed branch that branch is kept.
    """
    branches = skeleton.branches
    thickest = sorted(
        range(len(branches)),
        key=lambda n: (-branches[n].radius.min(), -branches[n].radius.mean(), n),
    )
    own = list(range(len(skeleton.nodes)))

    def top(node):
        while own[node] != node:
            own[node] = own[own[node]]
            node = own[node]
        return node

    meeting = np.bincount(
        [node for branch in branches for node in (branch.start, branch.end)],
        minlength=len(skeleton.nodes),
    )
    kept, cut = [], []
    for number in thickest:
        branch = branches[number]
        first, last = top(branch.start), top(branch.end)
        closed = branch.start == branch.end and meeting[branch.start] == 2
        (kept if first != last or closed else cut).append(number)
        own[last] = first
    return sorted(kept), sorted(cut)


def _grow(skeleton, root, at_node, branches):
    """Append the branches of one tree, depth first, the skeleton's order at each node."""
    waiting = [(number, root, -1) for number in reversed(at_node[root])]
    while waiting:
        number, node, parent = waiting.pop()
        branch, position = skeleton.branches[number], len(branches)
        forward = branch.start == node
        end = branch.end if forward else branch.start
        if parent >= 0:
            branches[parent].children.append(position)
        step = 1 if forward else -1
        branches.append(
            DirectedBranch(
                number, node, end, parent, [], branch.points[::step], branch.radius[::step]
            )
        )
        if end != node:
            others = [other for other in at_node[end] if other != number]
            waiting += [(other, end, position) for other in reversed(others)]
