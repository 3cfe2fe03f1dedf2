"""A skeleton from polylines: centrelines of other programs, and small graphs for examples."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError

from ..graph.curve_skeleton import END, ISOLATED, JUNCTION, LOOP, Branch, CurveSkeleton, Node

SAME_PLACE = 1e-6  # mm; ends nearer than this are one node


def skeleton_of_polylines(
    polylines: Sequence[ArrayLike],
    radii: Sequence[ArrayLike],
    spacing: Sequence[float] = (1.0, 1.0, 1.0),
) -> CurveSkeleton:
    """Make a graph of polylines; where ends coincide there is one node.

    Parameters
    ----------
    polylines : sequence of array_like, (n, 3)
        Points in voxels K, J, I, at least two a line.
    radii : sequence of array_like, (n,)
        mm, at each point.
    spacing : 3 floats
        K, J, I in mm.

    Returns
    -------
    CurveSkeleton
        One branch a polyline, in their order; without critical points and voxels.

    Raises
    ------
    InputError
        If a polyline has fewer than two points, or not one finite radius a point.

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
    ends = []
    for points, _ in lines:
        ends.append([_node_at(points[side] * spacing, places) for side in (0, -1)])
    components = _components(len(places), ends)
    nodes = [
        Node(
            place / spacing,
            _kind(number, ends),
            max(
                radius[side]
                for (_, radius), pair in zip(lines, ends)
                for side, node in zip((0, -1), pair)
                if node == number
            ),
            components[number],
        )
        for number, place in enumerate(places)
    ]
    branches = [
        Branch(points, radius, start, end, components[start])
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


def _components(count, ends):
    """Number of each node's component, from 1."""
    own = list(range(count))
    for start, end in ends:
        first, last = sorted((own[start], own[end]))
        own = [first if each == last else each for each in own]
    numbers = {first: number for number, first in enumerate(sorted(set(own)), 1)}
    return [numbers[first] for first in own]


def _kind(number, ends):
    degree = sum(pair.count(number) for pair in ends)
    if degree == 2 and [number, number] in ends:
        return LOOP
    return {0: ISOLATED, 1: END}.get(degree, JUNCTION)
