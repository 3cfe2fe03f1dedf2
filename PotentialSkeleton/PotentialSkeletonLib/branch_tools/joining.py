"""A skeleton with fewer branches, in which junctions of two branches have become one branch."""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ..graph.curve_skeleton import END, ISOLATED, JUNCTION, LOOP, Branch, CurveSkeleton, Node


def with_branches(skeleton: CurveSkeleton, kept: Collection[int]) -> tuple[CurveSkeleton, list]:
    """The skeleton of some of its branches.

    Where two of them meet and no third, they are joined to one. Nodes that lose all their branches
    are left out; those that never had one stay.

    Parameters
    ----------
    skeleton : CurveSkeleton
    kept : collection of int
        Numbers of branches.

    Returns
    -------
    skeleton : CurveSkeleton
        Its critical points, voxels and report are those of the first one.
    origins : list of list of int
        The earlier branches that each branch was made of.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [15, 8, 0]], [[9, 0, 0], [15, -8, 0]]],
    ...     [[2, 2], [1.5, 1], [1.5, 1]],
    ... )
    >>> line, origins = with_branches(fork, [0, 2])
    >>> origins, [node.kind for node in line.nodes]
    ([[0, 2]], ['end', 'end'])
    """
    chains = {n: (skeleton.branches[n], [n]) for n in sorted(kept)}
    meeting: list[list[int]] = [[] for _ in skeleton.nodes]
    for number, (branch, _) in chains.items():
        meeting[branch.start].append(number)
        meeting[branch.end].append(number)
    for node, numbers in enumerate(meeting):
        if len(numbers) == 2 and numbers[0] != numbers[1]:
            first, second = sorted(numbers)
            chains[first] = _joined(chains[first], chains.pop(second), node)
            far = _far_end(chains[first][0], node, second, meeting)
            meeting[far] = [first if number == second else number for number in meeting[far]]
            meeting[node] = []
    return _renumbered(skeleton, list(chains.values()))


def _far_end(branch, node, second, meeting):
    """The end of a joined branch at which its second part is still noted."""
    for end in (branch.end, branch.start):
        if end != node and second in meeting[end]:
            return end
    return node


def _joined(first, second, node):
    (one, one_origin), (two, two_origin) = first, second
    if one.end != node:
        one, one_origin = _reversed(one), one_origin[::-1]
    if two.start != node:
        two, two_origin = _reversed(two), two_origin[::-1]
    points = np.concatenate([one.points, two.points[1:]])
    radius = np.concatenate([one.radius, two.radius[1:]])
    return Branch(points, radius, one.start, two.end, one.component), one_origin + two_origin


def _reversed(branch):
    return Branch(
        branch.points[::-1], branch.radius[::-1], branch.end, branch.start, branch.component
    )


def _renumbered(skeleton, chains):
    ends = [node for branch, _ in chains for node in (branch.start, branch.end)]
    degrees = Counter(ends)
    stays = [n for n, node in enumerate(skeleton.nodes) if n in degrees or node.kind == ISOLATED]
    number = {node: n for n, node in enumerate(stays)}
    closed = {branch.start for branch, _ in chains if branch.start == branch.end}
    nodes = []
    for node in stays:
        degree = degrees[node]
        kind = {0: ISOLATED, 1: END}.get(degree, JUNCTION)
        kind = LOOP if degree == 2 and node in closed else kind
        own = skeleton.nodes[node]
        same = own.kind == kind
        nodes.append(own if same else Node(own.position, kind, own.radius, own.component))
    branches = [
        Branch(b.points, b.radius, number[b.start], number[b.end], b.component) for b, _ in chains
    ]
    smaller = replace(skeleton, nodes=nodes, branches=branches)
    return smaller, [origin for _, origin in chains]
