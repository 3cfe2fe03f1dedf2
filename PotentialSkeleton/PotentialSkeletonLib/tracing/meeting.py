"""Curves that were followed by themselves, ended where they meet those before them."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled

from .spatial_point_index import PointIndex, insert_points, nearest_ahead
from .stepping import CRITICAL_POINT, CURVE, ON_CURVE, Curves


@compiled
def end_each(
    path: np.ndarray,
    curves: Curves,
    leads: np.ndarray,
    lead_ends: np.ndarray,
    kept: int,
    shape: tuple[int, ...],
    index: PointIndex,
) -> tuple[np.ndarray, PointIndex]:
    """End each curve where it meets one that was inserted before, and insert what is left of it.

    A curve does not depend on the others up to there, so it is the one that would be followed with
    all those before it in the index.

    Parameters
    ----------
    path : ndarray, (m, 6)
        From `follow_each`, all curves.
    curves : Curves
        Their lengths and endings are set anew.
    leads : ndarray, (k, 3)
        Points that stand before the curves, one's after the other's; they are inserted, too.
    lead_ends : ndarray of int, (n,)
        Where those of each curve end.
    kept : int
        Points of each curve are inserted from this one on.
    shape : 3 ints K, J, I
        Of the field.
    index : PointIndex

    Returns
    -------
    points : ndarray, (n, 3)
        Of the curves, one behind the other.
    index
        As it is now.
    """
    points = np.empty((len(path) + len(curves.starts), 3))
    position, step = np.empty(3), np.empty(3)
    begin: Any = np.int64(0)
    first: Any = np.int64(0)
    on_curve: Any = np.int64(ON_CURVE)
    for curve in range(len(curves.starts)):
        length = curves.lengths[curve]
        last = begin
        for n in range(first, first + length):
            for axis in range(3):
                position[axis], step[axis] = path[n, axis], path[n, 3 + axis]
                points[last, axis] = position[axis]
            last += 1
            if np.isnan(step[0]):
                continue
            end = nearest_ahead(position, step, curves.owns[curve], shape, index)
            if end >= 0:
                for axis in range(3):
                    points[last, axis] = index.points[end, axis]
                last += 1
                met_curve = index.curve_of[end] == ON_CURVE
                curves.endings[curve] = CURVE if met_curve else CRITICAL_POINT
                break
        curves.lengths[curve] = last - begin
        lead = lead_ends[curve - 1] if curve else 0
        index = insert_points(leads[lead : lead_ends[curve]], on_curve, index)
        index = insert_points(points[begin + kept : last], on_curve, index)
        begin, first = last, first + length
    return points[:begin], index
