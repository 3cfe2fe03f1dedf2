"""Lines split at bifurcations into tracts, and tracts of several lines grouped to vessels.

Antiga and Steinman 2004, "Robust and objective decomposition and mapping of bifurcating vessels",
IEEE Transactions on Medical Imaging 23(6), and VMTK's vmtkbranchextractor: on each line a
bifurcation has two reference points. The first is where the line leaves the tubes of the lines that
part from it there; the second lies one maximal inscribed ball upstream: the centre whose ball just
reaches the first. Between the two is the bifurcation region, whose tract is blanked. A line that
stays in the tubes up to its tip, a spur, has none there. Tracts of different lines that run in the
same vessel, or through the same bifurcation, are one group. Bifurcations whose regions overlap on a
line are one region there. Lengths are mm from the root.
"""

from dataclasses import dataclass

import numpy as np

from ..course import Course
from .rooting import Forest, root_to_tip_lines

STEPS_AT_ONCE = 32  # points of a line that are tried together
ROUNDS = 3  # each narrows a crossing down to 1/32 of the step


@dataclass(frozen=True)
class Tract:
    """A piece of a root-to-tip line; its numbers count from 0."""

    line: int  # VMTK's CenterlineIds
    tract: int  # number along the line: TractIds
    group: int  # the vessel or bifurcation: GroupIds
    blanked: bool  # whether it lies within a bifurcation: Blanking
    points: np.ndarray  # (n, 3), mm: voxels K, J, I times the spacing
    radius: np.ndarray  # (n,), mm
    branches: tuple[int, ...] = ()  # the skeleton's that it stands for: its own, and those within a
    # bifurcation whose middle lies in it


def split_lines(forest: Forest) -> list[Tract]:
    """Split root-to-tip lines into tracts, line by line, and group them."""
    lines, tubes = root_to_tip_lines(forest), _Tubes(forest)
    spacing = np.asarray(forest.skeleton.spacing)
    courses = [Course(line.points * spacing, line.radius) for line in lines]
    known: dict[int, tuple[float, float]] = {}
    regions = [_regions(*pair, tubes, known) for pair in zip(lines, courses)]
    one = _merged(regions)
    numbers: dict = {}
    tracts = []
    for number, (line, course, own) in enumerate(zip(lines, courses, regions)):
        pieces = _pieces(line, _shared_joined(own, one), one, course.lengths, forest)
        for tract, (key, blanked, first, last, branches) in enumerate(pieces):
            group = numbers.setdefault(key, len(numbers))
            piece = course.between(first, last)
            tracts.append(Tract(number, tract, group, blanked, *piece, branches))
    return tracts


def _regions(line, course, tubes, known):
    """Regions of one line: nodes, start and end (mm) each; those that overlap are joined."""
    forest, joined = tubes.forest, []
    for index, own in enumerate(line.branches):
        parent = forest.branches[own].parent
        beside = forest.branches[parent].children if parent >= 0 else forest.first[line.root]
        others = [other for other in beside if other != own]
        region = known.get(own) or (others and _region(course, line, index, others, tubes))
        if not region:
            continue
        first, last = region
        if last <= course.lengths[line.starts[index + 1]]:
            known[own] = region  # the same on all lines that go through the branch
        node = forest.branches[own].start
        if joined and first <= joined[-1][2]:
            nodes, start, end = joined[-1]
            joined[-1] = ([*nodes, node], min(start, first), max(end, last))
        else:
            joined.append(([node], first, last))
    return joined


def _region(course, line, index, others, tubes):
    """Start and end of the region where the line's branch `index` begins; None for a spur."""
    first, before = int(line.starts[index]), line.branches[:index]
    for low in range(first + 1, len(course.points), STEPS_AT_ONCE):
        places = course.points[low : low + STEPS_AT_ONCE]
        outside = np.flatnonzero(tubes.depth(places, others, before) > 0)
        if outside.size:
            leaving = _crossing(course, low + int(outside[0]), others, before, tubes)
            return _upstream(course, leaving), leaving
    return None


def _crossing(course, at, others, before, tubes):
    """Length between points at - 1 (inside the tubes) and at (outside) where they end."""
    inside, outside = course.lengths[at - 1], course.lengths[at]
    for _ in range(ROUNDS):
        lengths = np.linspace(inside, outside, STEPS_AT_ONCE + 1)[1:]
        places = np.array([course.at(length)[0] for length in lengths])
        first = int(np.argmax(tubes.depth(places, others, before) > 0))
        outside = lengths[first]
        inside = lengths[first - 1] if first else inside
    return outside


def _upstream(course, length):
    """The nearest length before one whose ball does not reach further than there; 0 if all do."""
    place, radius = course.at(length)
    away = np.linalg.norm(course.points - place, axis=1) - course.radius
    before = np.flatnonzero((course.lengths < length) & (away >= 0))
    if not before.size:
        return 0.0
    at = before[-1]
    first = away[at]
    last = away[at + 1] if course.lengths[at + 1] < length else -radius
    share = 1.0 if last == first else float(np.clip(first / (first - last), 0, 1))
    return course.lengths[at] + share * (min(course.lengths[at + 1], length) - course.lengths[at])


class _Tubes:
    """The envelopes of the maximal inscribed balls of a forest's branches."""

    def __init__(self, forest: Forest) -> None:
        self.forest, self._tubes = forest, []
        for branch in forest.branches:
            points = branch.points * np.asarray(forest.skeleton.spacing)
            radius, reach = branch.radius, branch.radius.max()
            ends = np.stack([points[:-1], points[1:]], axis=1)
            sizes = np.stack([radius[:-1], radius[1:]], axis=1)
            self._tubes.append(
                (points.min(axis=0) - reach, points.max(axis=0) + reach, ends, sizes)
            )

    def depth(self, places: np.ndarray, others: list, before: tuple) -> np.ndarray:
        """`tube_function` of the branches before and of the whole trees that begin with others."""
        low, high = places.min(axis=0), places.max(axis=0)
        chosen, waiting = list(before), list(others)
        while waiting:
            chosen.append(waiting.pop())
            waiting += self.forest.branches[chosen[-1]].children
        points, radius = [np.empty((0, 2, 3))], [np.empty((0, 2))]
        for box_low, box_high, ends, sizes in (self._tubes[position] for position in chosen):
            if (box_low <= high).all() and (box_high >= low).all():
                points.append(ends)
                radius.append(sizes)
        return tube_function(places, np.concatenate(points), np.concatenate(radius))


def tube_function(places: np.ndarray, points: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Least value of |x - c|^2 - r^2 over the balls of segments, mm^2; negative inside their tube.

    Along a segment centre and radius are linear, so that the least value has a closed form (Antiga
    and Steinman 2004, section II). Places (m, 3), ends of segments (n, 2, 3) and radii there (n, 2)
    are in mm.
    """
    if not len(points):
        return np.full(len(places), np.inf)
    start, along = points[:, 0], points[:, 1] - points[:, 0]
    first, growth = radius[:, 0], radius[:, 1] - radius[:, 0]
    away = places[:, None] - start
    bend = (along**2).sum(axis=1) - growth**2
    slope = (away * along).sum(axis=2) + first * growth
    least = np.where(bend > 0, slope / np.where(bend > 0, bend, 1), 0.0).clip(0, 1)

    def value(share):
        beside = away - share[..., None] * along
        return (beside**2).sum(axis=2) - (first + share * growth) ** 2

    # Where one ball lies in the other the least value is at an end.
    values = [value(share) for share in (least, np.zeros_like(least), np.ones_like(least))]
    return np.minimum.reduce(values).min(axis=1)


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


def _pieces(line, regions, one, lengths, forest):
    """Key of the group, blanked, start, end and branches of each piece of a line."""
    branch_from = {forest.branches[n].start: n for n in line.branches}
    pieces, done, branch, key = [], 0.0, line.branches[0], ("root", line.root)
    for nodes, first, last in regions:
        if first > done:
            pieces.append((key, False, done, first, [branch]))
        pieces.append((("junction", one[nodes[0]]), True, max(first, done), last, []))
        done, branch = last, branch_from[nodes[-1]]
        key = ("branch", branch)
    if lengths[-1] > done:
        pieces.append((key, False, done, lengths[-1], [branch]))
    seen = {branch for *_, own in pieces for branch in own}
    ends = [last for _, _, _, last, _ in pieces]
    for index, branch in enumerate(line.branches):
        if branch not in seen:  # it lies within a bifurcation: the piece that holds its middle
            middle = lengths[line.starts[index : index + 2]].mean()
            pieces[min(np.searchsorted(ends, middle), len(pieces) - 1)][-1].append(branch)
    return [(*rest, tuple(forest.branches[n].number for n in own)) for *rest, own in pieces]
