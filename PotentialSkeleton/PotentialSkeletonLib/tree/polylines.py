"""A skeleton from polylines: centrelines of other programs, and small graphs for examples."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError

from ..graph.curve_skeleton import Branch, CurveSkeleton, Node, component_numbers, node_kind

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
