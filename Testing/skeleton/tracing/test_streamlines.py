"""Curves that follow known fields."""

import numpy as np
import pytest

from PotentialSkeletonLib.critical_points.critical_points import CriticalPoint
from PotentialSkeletonLib.tracing.streamlines import Tracer, core_curves

CENTRE = np.array([10.0, 10.0, 10.0])


def tracer_of(vectors, ends=()):
    return Tracer(vectors.astype(np.float32), np.ones(vectors.shape[:3], np.uint8), ends)


def field(function, shape=(21, 21, 21)):
    return function(np.stack(np.indices(shape), axis=-1).astype(float))


def test_a_curve_ends_at_the_attractor():
    tracer = tracer_of(field(lambda x: CENTRE - x), [CENTRE])
    points = tracer.trace([3.2, 14.1, 12.0])
    np.testing.assert_allclose(points[-1], CENTRE)
    away = points - CENTRE
    direction = away[0] / np.linalg.norm(away[0])
    across = away - np.outer(away @ direction, direction)
    assert np.linalg.norm(across, axis=1).max() < 0.05  # a straight path


def test_later_curves_end_at_earlier_ones():
    def valley(x):  # towards the line J = I = 10, then along it
        return np.stack([0.3 + 0 * x[..., 0], 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    tracer = tracer_of(field(valley))
    first = tracer.trace_along([[2.0, 10.0, 10.0]])
    second = tracer.trace([2.0, 17.0, 10.0])
    assert np.linalg.norm(first - second[-1], axis=1).min() == 0
    assert len(second) < len(first)


def test_curves_leave_a_saddle_in_both_directions():
    def double_well(x):
        k = (x[..., 0] - 10) / 4
        return np.stack([4 * (k - k**3), 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    wells = [np.array([6.0, 10, 10]), np.array([14.0, 10, 10])]
    kinds = ["saddle-1", "attractor", "attractor"]
    slopes, axes = np.array([-1.0, -1.0, 1.0]), np.eye(3)[:, ::-1]
    points = [CriticalPoint(p, kind, slopes, axes) for p, kind in zip([CENTRE, *wells], kinds)]
    tracer = tracer_of(field(double_well), [point.position for point in points])
    curves = list(core_curves(tracer, points))
    assert len(curves) == 2
    ends = sorted(curve[-1][0] for curve in curves)
    assert ends == pytest.approx([6, 14])
    for curve in curves:
        np.testing.assert_allclose(curve[0], CENTRE)
        assert np.linalg.norm(np.diff(curve, axis=0), axis=1).max() < 0.6
