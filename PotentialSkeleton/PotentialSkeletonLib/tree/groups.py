"""Lines split at bifurcations into tracts, and tracts of several lines grouped to branches.

Tracts and groups as VMTK defines them (Antiga and Steinman 2004, and the documentation of
vmtkbranchextractor): a tract within a bifurcation region is blanked; tracts of different lines that
run in the same vessel, or through the same bifurcation, are one group. Bifurcations whose regions
overlap on a line are one region there.
"""

from dataclasses import dataclass

import numpy as np

from .bifurcations import Bifurcations
from .lines import root_to_tip_lines
from .rooting import Forest


@dataclass(frozen=True)
class Tract:
    """A piece of a root-to-tip line.

    Attributes
    ----------
    line : int
        Number of the line (VMTK: CenterlineIds).
    tract : int
        Number along the line, from 0 (TractIds).
    group : int
        The vessel or bifurcation, from 0 (GroupIds).
    blanked : bool
        Whether it lies within a bifurcation (Blanking).
    points : ndarray of float, (n, 3)
        mm: voxels K, J, I times the spacing.
    radius : ndarray of float, (n,)
        mm.
    branches : tuple of int
        Numbers of the skeleton's branches that it stands for: its own, and those of the line that
        have no tract, as they lie within a bifurcation, where their middle is in this one.
    """

    line: int
    tract: int
    group: int
    blanked: bool
    points: np.ndarray
    radius: np.ndarray
    branches: tuple = ()


def split_lines(forest: Forest) -> list[Tract]:
    """Split root-to-tip lines into tracts, and group them.

    Parameters
    ----------
    forest : Forest

    Returns
    -------
    list of Tract
        Line by line. Groups are numbered in the order in which they appear.

    Raises
    ------
    InputError
        As `root_to_tip_lines`.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import rooted_forest, skeleton_of_polylines
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [30, 0, 0]], [[30, 0, 0], [50, 20, 0]], [[30, 0, 0], [50, -20, 0]]],
    ...     [[2, 2], [2, 1], [2, 1]],
    ... )
    >>> [(t.line, t.tract, t.group, t.blanked) for t in split_lines(rooted_forest(fork))]
    [(0, 0, 0, False), (0, 1, 1, True), (0, 2, 2, False), (1, 0, 0, False), (1, 1, 1, True), (1, 2, 3, False)]
    """  # noqa: E501
    lines = root_to_tip_lines(forest)
    finder = Bifurcations(forest)
    regions = [_overlapping_joined(finder.regions(line)) for line in lines]
    one = _merged(regions)
    regions = [_shared_joined(own, one) for own in regions]
    numbers: dict = {}
    tracts = []
    for number, (line, own) in enumerate(zip(lines, regions)):
        course = finder.course(line)
        segments = _segments_of(line, own, one, course.lengths, forest)
        for tract, (key, blanked, first, last, branches) in enumerate(segments):
            group = numbers.setdefault(key, len(numbers))
            piece = course.between(first, last)
            tracts.append(Tract(number, tract, group, blanked, *piece, branches))
    return tracts


def _overlapping_joined(regions):
    """Regions of one line that overlap as one: nodes, start, end."""
    joined = []
    for node, first, last in regions:
        if joined and first <= joined[-1][2]:
            nodes, start, end = joined[-1]
            joined[-1] = ([*nodes, node], min(start, first), max(end, last))
        else:
            joined.append(([node], first, last))
    return joined


def _shared_joined(regions, one):
    """Regions of one line as one where another line has them as one."""
    joined = []
    for nodes, first, last in regions:
        if joined and one[nodes[0]] == one[joined[-1][0][0]]:
            before, start, _ = joined[-1]
            joined[-1] = ([*before, *nodes], start, last)
        else:
            joined.append((nodes, first, last))
    return joined


def _merged(regions):
    """Of each junction the first one among all that share a region with it on some line."""
    own: dict = {}

    def top(node):
        while own.setdefault(node, node) != node:
            node = own[node]
        return node

    for nodes in (nodes for line in regions for nodes, _, _ in line):
        for node in nodes:
            own[top(node)] = top(nodes[0])
    return {node: top(node) for node in list(own)}


def _segments_of(line, regions, one, lengths, forest):
    """Key, blanked, start, end and branches of each piece of a line."""
    branch_from = {forest.branches[n].start: n for n in line.branches}
    segments, done, branch, key = [], 0.0, line.branches[0], ("root", line.root)
    for nodes, first, last in regions:
        if first > done:
            segments.append((key, False, done, first, [branch]))
        segments.append((("junction", one[nodes[0]]), True, max(first, done), last, []))
        done, branch = last, branch_from[nodes[-1]]
        key = ("branch", branch)
    if lengths[-1] > done:
        segments.append((key, False, done, lengths[-1], [branch]))
    _give_hidden(segments, line, lengths)
    return [(*rest, tuple(forest.branches[n].number for n in own)) for *rest, own in segments]


def _give_hidden(segments, line, lengths):
    """Add each branch that has no piece of its own to the piece that holds its middle."""
    seen = {branch for *_, own in segments for branch in own}
    ends = [last for _, _, _, last, _ in segments]
    for index, branch in enumerate(line.branches):
        if branch not in seen:
            middle = lengths[line.starts[index : index + 2]].mean()
            place = min(np.searchsorted(ends, middle), len(segments) - 1)
            segments[place][-1].append(branch)
