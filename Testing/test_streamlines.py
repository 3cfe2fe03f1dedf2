"""Curves that follow known fields."""

import numpy as np
import pytest

from PotentialSkeletonLib.critical_points import CriticalPoint
from PotentialSkeletonLib.streamlines import ATTRACTOR, CURVE, STALL, Tracer, grow_core

CENTRE = np.array([10.0, 10.0, 10.0])


def tracer_of(vectors, attractors=()):
    return Tracer(vectors, np.ones(vectors.shape[:3], bool), attractors)


def field(function, shape=(21, 21, 21)):
    return function(np.stack(np.indices(shape), axis=-1).astype(float))


def test_a_curve_ends_at_the_attractor():
    tracer = tracer_of(field(lambda x: CENTRE - x), [CENTRE])
    points, ending = tracer.trace([3.2, 14.1, 12.0])
    assert ending == ATTRACTOR
    np.testing.assert_allclose(points[-1], CENTRE)
    away = points - CENTRE
    direction = away[0] / np.linalg.norm(away[0])
    across = away - np.outer(away @ direction, direction)
    assert np.linalg.norm(across, axis=1).max() < 0.05  # a straight way in


def test_a_curve_in_a_swirl_keeps_its_radius():
    def swirl(x):
        away = x - CENTRE
        return np.stack([0 * away[..., 0], -away[..., 2], away[..., 1]], axis=-1)

    tracer = tracer_of(field(swirl))
    points, _ = tracer.trace([10.0, 16.0, 10.0])
    radius = np.linalg.norm(points - CENTRE, axis=1)
    one_turn = int(2 * np.pi * 6 / 0.25)
    np.testing.assert_allclose(radius[:one_turn], 6, atol=0.1)


def test_later_curves_end_at_earlier_ones():
    def valley(x):  # towards the line J = I = 10, then along it
        return np.stack([0.3 + 0 * x[..., 0], 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    tracer = tracer_of(field(valley))
    first, _ = tracer.trace([2.0, 10.0, 10.0])
    tracer.keep(first)
    second, ending = tracer.trace([2.0, 17.0, 10.0])
    assert ending == CURVE
    assert np.linalg.norm(first - second[-1], axis=1).min() == 0
    assert len(second) < len(first)


def test_a_curve_stalls_where_the_field_turns_against_it():
    def wall(x):
        force = np.zeros_like(x)
        force[..., 0] = np.where(x[..., 0] < 10, 1.0, -1.0)
        return force

    points, ending = tracer_of(field(wall)).trace([2.0, 10.0, 10.0])
    assert ending == STALL
    assert points[-1][0] == pytest.approx(9.5, abs=0.5)


def test_no_force_no_curve():
    points, ending = tracer_of(np.zeros((5, 5, 5, 3))).trace([2.0, 2.0, 2.0])
    assert ending == STALL
    assert len(points) == 1


def test_no_curve_leaves_the_object():
    mask = np.zeros((21, 21, 21), bool)
    mask[:15] = True
    vectors = field(lambda x: np.where([True, False, False], 1.0, 0 * x))
    points, ending = Tracer(vectors, mask, []).trace([2.0, 10.0, 10.0])
    assert ending == STALL
    assert 14 < points[-1][0] <= 14.5
    assert len(Tracer(vectors, mask, []).trace([16.0, 10.0, 10.0])[0]) == 0


def test_curves_grow_both_ways_from_a_saddle():
    def double_well(x):
        k = (x[..., 0] - 10) / 4
        return np.stack([4 * (k - k**3), 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    wells = [np.array([6.0, 10, 10]), np.array([14.0, 10, 10])]
    saddle = CriticalPoint(CENTRE, "saddle-1", np.array([-1.0, -1.0, 1.0]), np.eye(3)[:, ::-1])
    curves = grow_core(tracer_of(field(double_well), wells), [saddle])
    assert len(curves) == 2
    ends = sorted(curve[-1][0] for curve in curves)
    assert ends == pytest.approx([6, 14])
    for curve in curves:
        np.testing.assert_allclose(curve[0], CENTRE)
        assert np.linalg.norm(np.diff(curve, axis=0), axis=1).max() < 0.6
