"""Measures along a skeleton: distances, the narrowest place, stenosis."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..course import Course, line_shape
from ..curve_skeleton import Branch, CurveSkeleton

# A point is on the tree within so many radii of the vessel, and so many mm more.
FAR_RADII, FAR = 2.0, 5.0


@dataclass(frozen=True)
class TreeDistance:
    """The shortest way along a skeleton."""

    length: float  # along the branches, mm
    straight: float  # between the two ends, mm
    tortuosity: float  # their ratio; infinite where only the second is 0, 1 where both are
    curvature: float  # mean along the way, 1/mm
    torsion: float  # likewise; positive for a right-handed helix
    branches: list[int]  # in their order
    points: np.ndarray  # (n, 3), voxels K, J, I
    radius: np.ndarray  # (n,), mm


def distance_between(skeleton: CurveSkeleton, first: ArrayLike, last: ArrayLike) -> TreeDistance:
    """Find the shortest way between the places on the skeleton nearest to two points.

    Parameters
    ----------
    skeleton : CurveSkeleton
        It may have loops.
    first, last : array_like, (3,)
        Voxels K, J, I. `InputError` if one is far from the tree, or the trees are not connected.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> bent = skeleton_of_polylines([[[0, 0, 0], [3, 0, 0], [3, 4, 0]]], [[1, 1, 1]])
    >>> found = distance_between(bent, [0, 0, 0], [3, 4, 1])
    >>> found.length, found.straight, round(found.tortuosity, 3)
    (7.0, 5.0, 1.4)
    """
    spacing = np.asarray(skeleton.spacing)
    courses = [skeleton.course(branch) for branch in skeleton.branches]
    start, end = (checked_place(courses, np.asarray(p, float) * spacing) for p in (first, last))
    legs = _legs(skeleton, courses, start, end)
    parts: list[np.ndarray] = []
    for number, begin, stop in legs:
        ends = sorted((begin, stop))
        leg = np.column_stack(courses[number].between(*ends))[:: 1 if begin <= stop else -1]
        parts.append(leg[1:] if parts else leg)
    points, radius = np.split(np.concatenate(parts), [3], axis=1)
    radius = radius.ravel()
    shape = line_shape(points[:, ::-1], radius)
    straight = float(np.linalg.norm(points[-1] - points[0]))
    ratio = shape.length / straight if straight > 0 else 1.0 if shape.length == 0 else np.inf
    return TreeDistance(
        shape.length, straight, ratio, shape.curvature, shape.torsion,
        [leg[0] for leg in legs], points / spacing, radius,
    )  # fmt: skip


def checked_place(courses: Sequence[Course], point: np.ndarray) -> tuple[int, float]:
    """As `nearest_place`; `InputError` where the point (mm) is far from all lines."""
    if not courses:
        raise InputError(
            _("The skeleton has no branch: there is no tree that a point could lie on.")
        )
    number, length = nearest_place(courses, point)
    place, radius = courses[number].at(length)
    away = float(np.linalg.norm(place - point))
    if away > FAR_RADII * radius + FAR:
        text = _(
            "The point is {distance:.0f} mm away from the tree: click on a vessel that "
            "has a centreline."
        )
        raise InputError(text.format(distance=away))
    return number, length


def nearest_place(courses: Sequence[Course], point: np.ndarray) -> tuple[int, float]:
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
    at_node, goal = skeleton.branches_at_nodes(), skeleton.branches[end[0]]
    ends = {goal.start: 0.0, goal.end: whole[end[0]]}
    if goal.start == goal.end:  # a closed branch is left at the nearer side
        ends[goal.end] = min(0.0, whole[end[0]], key=lambda length: abs(end[1] - length))
    best, best_legs = np.inf, None
    if start[0] == end[0]:
        best, best_legs = abs(end[1] - start[1]), [(start[0], start[1], end[1])]
    own, done = skeleton.branches[start[0]], set()
    waiting = [
        (abs(side - start[1]), node, [(start[0], start[1], side)])
        for node, side in ((own.start, 0.0), (own.end, whole[start[0]]))
    ]
    heapq.heapify(waiting)
    while waiting:
        length, node, legs = heapq.heappop(waiting)
        if node in done or length >= best:
            continue
        done.add(node)
        if node in ends and length + abs(end[1] - ends[node]) < best:
            best = length + abs(end[1] - ends[node])
            best_legs = [*legs, (end[0], ends[node], end[1])]
        for number in at_node[node]:
            branch = skeleton.branches[number]
            forward = branch.start == node
            leg = (number, 0.0, whole[number]) if forward else (number, whole[number], 0.0)
            far = branch.end if forward else branch.start
            heapq.heappush(waiting, (length + whole[number], far, [*legs, leg]))
    if best_legs is None:
        raise InputError(
            _(
                "The two points lie on trees that are not connected: bridge the gap between "
                "them first."
            )
        )
    return [leg for leg in best_legs if leg[1] != leg[2]] or best_legs[:1]


@dataclass(frozen=True)
class NarrowestPlace:
    """Where a branch is narrowest."""

    position: np.ndarray  # (3,), voxels K, J, I
    length: float  # from the branch's first point, mm
    diameter: float  # of the maximal inscribed ball, mm


def narrowest_place(skeleton: CurveSkeleton, branch: int, margin: float = 1.0) -> NarrowestPlace:
    """The place of a branch (its number) with the smallest inscribed diameter.

    `margin` says how much of each end is left out; see `Course.inner_points`.
    """
    own = checked_branch(skeleton, branch)
    if not 0 <= margin < np.inf:
        text = _("The margin must be a number from 0 up, not {margin}.")
        raise InputError(text.format(margin=margin))
    course = skeleton.course(own)
    inside = course.inner_points(margin)
    at = inside[own.radius[inside].argmin()]
    return NarrowestPlace(own.points[at], float(course.lengths[at]), float(2 * own.radius[at]))


def checked_branch(skeleton: CurveSkeleton, branch: int) -> Branch:
    if not 0 <= branch < len(skeleton.branches):
        text = _("There is no branch {branch}: the skeleton has {count}, from 0.")
        raise InputError(text.format(branch=branch, count=len(skeleton.branches)))
    return skeleton.branches[branch]


def check_grid(mask: np.ndarray, skeleton: CurveSkeleton) -> None:
    """Refuse a mask that is not on the skeleton's grid; `InputError`."""
    if mask.shape != tuple(skeleton.shape):
        text = _(
            "The mask has the shape {shape}, the skeleton's volume {volume} (K, J, I): give the "
            "mask on the same grid."
        )
        raise InputError(text.format(shape=mask.shape, volume=tuple(skeleton.shape)))


def percent_stenosis(diameter: float, reference: float) -> float:
    """How many percent smaller a diameter is than a reference (both mm) that the user sets.

    The measure of the NASCET trial (1991) by diameters; negative where the place is wider.
    """
    if not 0 < reference < np.inf or not 0 <= diameter < np.inf:
        text = _(
            "The reference diameter must be above 0 mm ({reference}), and the diameter "
            "from 0 up ({diameter})."
        )
        raise InputError(text.format(reference=reference, diameter=diameter))
    return 100.0 * (1.0 - diameter / reference)
