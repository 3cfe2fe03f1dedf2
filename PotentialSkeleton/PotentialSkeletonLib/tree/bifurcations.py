"""Where a line leaves its neighbours at a junction: the bifurcation region on it.

Antiga and Steinman 2004, "Robust and objective decomposition and mapping of bifurcating vessels",
IEEE Transactions on Medical Imaging 23(6): on each line a bifurcation has two reference points.
The first is where the line leaves the tubes of the lines that part from it there. The second lies
one maximal inscribed ball upstream: the centre whose ball just reaches the first. Between the two
is the bifurcation region. A line that stays in the tubes up to its tip, a spur, has none there.
Lengths are mm from the root.
"""

from functools import cached_property

import numpy as np

from .lines import RootedLine
from .positions import Course
from .rooting import Forest
from .tube_function import tube_function

STEPS_AT_ONCE = 32  # points of a line that are tried together
ROUNDS = 3  # each narrows a crossing down to 1/32 of the step


class Bifurcations:
    """Bifurcation regions of a forest's lines.

    Parameters
    ----------
    forest : Forest
    """

    def __init__(self, forest: Forest):
        self.forest = forest
        self._spacing = np.asarray(forest.skeleton.spacing)
        self._known: dict[int, tuple[float, float]] = {}

    def regions(self, line: RootedLine) -> list[tuple[int, float, float]]:
        """Junctions on a line, each with the start and the end of its region.

        Returns
        -------
        list of (int, float, float)
            Node, mm, mm, from the root to the tip.
        """
        course = self.course(line)
        found = []
        for index in range(len(line.branches)):
            others = self._others(line, index)
            if not others:
                continue
            own = line.branches[index]
            region = self._known.get(own) or self._region(course, line, index, others)
            if region is None:
                continue
            if region[1] <= course.lengths[line.starts[index + 1]]:
                self._known[own] = region  # the same on all lines that go through the branch
            found.append((self.forest.branches[own].start, *region))
        return found

    def _region(self, course, line, index, others):
        leaving = self._leaving(course, line, index, others)
        return None if leaving is None else (upstream(course, leaving), leaving)

    def course(self, line: RootedLine) -> Course:
        """A line in mm."""
        return Course(line.points * self._spacing, line.radius)

    def _others(self, line, index):
        """Branches that part from the line where its branch `index` begins."""
        branches, own = self.forest.branches, line.branches[index]
        parent = branches[own].parent
        beside = branches[parent].children if parent >= 0 else self.forest.first[line.root]
        return [other for other in beside if other != own]

    def _leaving(self, course, line, index, others):
        """Length at which the line first leaves all tubes of those that part from it, or None."""
        first, before = int(line.starts[index]), line.branches[:index]
        for low in range(first + 1, len(course.points), STEPS_AT_ONCE):
            places = course.points[low : low + STEPS_AT_ONCE]
            outside = np.flatnonzero(self._values(places, others, before) > 0)
            if outside.size:
                at = low + int(outside[0])
                return self._crossing(course, at, others, before)
        return None

    def _crossing(self, course, at, others, before):
        """Length between points at - 1 (inside the tubes) and at (outside) where they end."""
        inside, outside = course.lengths[at - 1], course.lengths[at]
        for _ in range(ROUNDS):
            lengths = np.linspace(inside, outside, STEPS_AT_ONCE + 1)[1:]
            places = np.array([course.at(length)[0] for length in lengths])
            first = int(np.argmax(self._values(places, others, before) > 0))
            outside = lengths[first]
            inside = lengths[first - 1] if first else inside
        return outside

    def _values(self, places, others, before):
        return tube_function(places, *self._segments_near(places, others, before))

    def _segments_near(self, places, others, before):
        """Segments of the branches before and of whole side trees whose tubes can hold places."""
        low, high = places.min(axis=0), places.max(axis=0)
        chosen, waiting = list(before), list(others)
        while waiting:
            position = waiting.pop()
            chosen.append(position)
            waiting += self.forest.branches[position].children
        points, radius = [np.empty((0, 2, 3))], [np.empty((0, 2))]
        for position in chosen:
            box_low, box_high, ends, sizes = self._tubes[position]
            if (box_low <= high).all() and (box_high >= low).all():
                points.append(ends)
                radius.append(sizes)
        return np.concatenate(points), np.concatenate(radius)

    @cached_property
    def _tubes(self):
        """Box of each branch's tube, its segments' ends (mm) and radii."""
        found = []
        for branch in self.forest.branches:
            points, radius = branch.points * self._spacing, branch.radius
            reach = radius.max()
            found.append(
                (
                    points.min(axis=0) - reach,
                    points.max(axis=0) + reach,
                    np.stack([points[:-1], points[1:]], axis=1),
                    np.stack([radius[:-1], radius[1:]], axis=1),
                )
            )
        return found


def upstream(course: Course, length: float) -> float:
    """The nearest length before one whose ball does not reach further than there; 0 where all do.

    Parameters
    ----------
    course : Course
    length : float
        mm.
    """
    place, _ = course.at(length)
    away = np.linalg.norm(course.points - place, axis=1) - course.radius
    before = np.flatnonzero((course.lengths < length) & (away >= 0))
    if not before.size:
        return 0.0
    at = before[-1]
    inside = course.lengths[at + 1] < length
    after = away[at + 1] if inside else -course.at(length)[1]
    step = min(course.lengths[at + 1], length) - course.lengths[at]
    return course.lengths[at] + _zero(away[at], after) * step


def _zero(first, last):
    """Where between two values a straight line through them is 0; 0 to 1."""
    if not np.isfinite(first) or not np.isfinite(last) or last == first:
        return 1.0
    return float(np.clip(first / (first - last), 0, 1))
