"""Distance and tortuosity between two points along a skeleton."""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from ..graph.lines import Course

# A point is on the tree within so many radii of the vessel, and so many mm more.
FAR_RADII, FAR = 2.0, 5.0


@dataclass(frozen=True)
class TreeDistance:
    """The shortest way along a skeleton.

    Attributes
    ----------
    length : float
        Along the branches, mm.
    straight : float
        Between its two ends, mm.
    tortuosity : float
        Length over the straight distance; infinite where that is 0 and the length is not, and 1
        where both are.
    branches : list of int
        In their order.
    points : ndarray of float, (n, 3)
        Voxels K, J, I.
    """

    length: float
    straight: float
    tortuosity: float
    branches: list
    points: np.ndarray


def distance_between(skeleton: CurveSkeleton, first: ArrayLike, last: ArrayLike) -> TreeDistance:
    """Find the shortest way between the places on the skeleton nearest to two points.

    Parameters
    ----------
    skeleton : CurveSkeleton
        It may have loops.
    first, last : array_like, (3,)
        Voxels K, J, I.

    Raises
    ------
    InputError
        If the skeleton has no branch, a point is not finite or far from the tree, or the two places
        lie on trees that are not connected.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> bent = skeleton_of_polylines([[[0, 0, 0], [3, 0, 0], [3, 4, 0]]], [[1, 1, 1]])
    >>> found = distance_between(bent, [0, 0, 0], [3, 4, 1])
    >>> found.length, found.straight, round(found.tortuosity, 3)
    (7.0, 5.0, 1.4)
    """
    spacing = np.asarray(skeleton.spacing)
    courses = [Course(branch.points * spacing, branch.radius) for branch in skeleton.branches]
    start, end = (checked_place(courses, np.asarray(p, float) * spacing) for p in (first, last))
    legs = _legs(skeleton, courses, start, end)
    parts = [_part(courses[number], *span) for number, *span in legs]
    points = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
    length = float(sum(abs(b - a) for _, a, b in legs))
    straight = float(np.linalg.norm(points[-1] - points[0]))
    ratio = length / straight if straight > 0 else (1.0 if length == 0 else float("inf"))
    branches = [number for number, *_ in legs]
    return TreeDistance(length, straight, ratio, branches, points / spacing)


def checked_place(courses: list[Course], point: np.ndarray) -> tuple[int, float]:
    """As `nearest_place`; `InputError` where the point (mm) is far from all lines."""
    if not courses:
        raise InputError(
            _("The skeleton has no branch: there is no tree that a point could lie on.")
        )
    number, length = nearest_place(courses, point)
    place, radius = courses[number].at(length)
    away = float(np.linalg.norm(place - point))
    if away > FAR_RADII * radius + FAR:
        raise InputError(
            _(
                "The point is {distance:.0f} mm away from the tree: click on a vessel that "
                "has a centreline."
            ).format(distance=away)
        )
    return number, length


def nearest_place(courses: list[Course], point: np.ndarray) -> tuple[int, float]:
    """The line nearest to a point (mm), and the length along it of its nearest place."""
    if point.shape != (3,) or not np.isfinite(point).all():
        raise InputError(_("A point must be three finite numbers."))
    best = (np.inf, 0, 0.0)
    for number, course in enumerate(courses):
        start, along = course.points[:-1], np.diff(course.points, axis=0)
        squared = (along**2).sum(axis=1)
        share = ((point - start) * along).sum(axis=1) / np.where(squared > 0, squared, 1)
        share = share.clip(0, 1)
        away = np.linalg.norm(start + share[:, None] * along - point, axis=1)
        at = int(away.argmin())
        length = course.lengths[at] + share[at] * np.sqrt(squared[at])
        best = min(best, (float(away[at]), number, float(length)))
    return best[1], best[2]


def _legs(skeleton, courses, start, end):
    """Branch, length from and length to of each leg of the shortest way (Dijkstra 1959)."""
    whole = [course.lengths[-1] for course in courses]
    best, best_legs = np.inf, None
    if start[0] == end[0]:
        best, best_legs = abs(end[1] - start[1]), [(start[0], start[1], end[1])]
    at_node: list[list[int]] = [[] for _ in skeleton.nodes]
    for number, branch in enumerate(skeleton.branches):
        at_node[branch.start].append(number)
        at_node[branch.end].append(number)
    own = skeleton.branches[start[0]]
    waiting = [
        (start[1], own.start, [(start[0], start[1], 0.0)]),
        (whole[start[0]] - start[1], own.end, [(start[0], start[1], whole[start[0]])]),
    ]
    done = set()
    goal = skeleton.branches[end[0]]
    while waiting:
        length, node, legs = heapq.heappop(waiting)
        if node in done or length >= best:
            continue
        done.add(node)
        for side, begin in ((goal.start, 0.0), (goal.end, whole[end[0]])):
            if node == side and length + abs(end[1] - begin) < best:
                best, best_legs = length + abs(end[1] - begin), [*legs, (end[0], begin, end[1])]
        for number in at_node[node]:
            branch = skeleton.branches[number]
            forward = branch.start == node
            span = (0.0, whole[number]) if forward else (whole[number], 0.0)
            far = branch.end if forward else branch.start
            heapq.heappush(waiting, (length + whole[number], far, [*legs, (number, *span)]))
    if best_legs is None:
        raise InputError(
            _(
                "The two points lie on trees that are not connected: bridge the gap between "
                "them first."
            )
        )
    long = [leg for leg in best_legs if leg[1] != leg[2]]
    return long or best_legs[:1]


def _part(course, first, last):
    points, _radius = course.between(min(first, last), max(first, last))
    return points if first <= last else points[::-1]
