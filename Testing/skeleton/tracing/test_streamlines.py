"""Curves that follow known fields."""

import numpy as np
import pytest

from PotentialSkeletonLib.critical_points.critical_points import CriticalPoint
from PotentialSkeletonLib.tracing.streamlines import Tracer, core_curves, outgoing_directions

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


def test_a_curve_in_a_swirl_keeps_its_radius():
    def swirl(x):
        away = x - CENTRE
        return np.stack([0 * away[..., 0], -away[..., 2], away[..., 1]], axis=-1)

    tracer = tracer_of(field(swirl))
    points = tracer.trace([10.0, 16.0, 10.0])
    radius = np.linalg.norm(points - CENTRE, axis=1)
    one_turn = int(2 * np.pi * 6 / 0.25)
    np.testing.assert_allclose(radius[:one_turn], 6, atol=0.1)


def test_later_curves_end_at_earlier_ones():
    def valley(x):  # towards the line J = I = 10, then along it
        return np.stack([0.3 + 0 * x[..., 0], 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    tracer = tracer_of(field(valley))
    first = tracer.trace_along([[2.0, 10.0, 10.0]])
    second = tracer.trace([2.0, 17.0, 10.0])
    assert np.linalg.norm(first - second[-1], axis=1).min() == 0
    assert len(second) < len(first)


def test_a_curve_stalls_where_the_field_turns_against_it():
    def wall(x):
        force = np.zeros_like(x)
        force[..., 0] = np.where(x[..., 0] < 10, 1.0, -1.0)
        return force

    points = tracer_of(field(wall)).trace([2.0, 10.0, 10.0])
    assert points[-1][0] == pytest.approx(9.5, abs=0.5)


def test_no_force_no_curve():
    points = tracer_of(np.zeros((5, 5, 5, 3))).trace([2.0, 2.0, 2.0])
    assert len(points) == 1


def test_no_curve_leaves_the_object():
    mask = np.zeros((21, 21, 21), np.uint8)
    mask[:15] = 1
    vectors = field(lambda x: np.where([True, False, False], 1.0, 0 * x)).astype(np.float32)
    points = Tracer(vectors, mask, []).trace([2.0, 10.0, 10.0])
    assert 14 < points[-1][0] <= 14.5
    assert len(Tracer(vectors, mask, []).trace([16.0, 10.0, 10.0])) == 0


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


def test_a_curve_follows_a_valley_whose_force_is_mostly_across():
    """A tube of constant width: 200 times less force along it, and a bend of radius 30."""
    axis_radius = 30.0

    def bent_valley(x):
        j, i = x[..., 1], x[..., 2]
        radius = np.hypot(j, i) + 1e-9
        outward, onward = np.stack([j, i]) / radius, np.stack([-i, j]) / radius
        across = (axis_radius - radius) * outward + 0.005 * onward
        return np.stack([6.3 - x[..., 0], *across], axis=-1)

    tracer = tracer_of(field(bent_valley, (13, 40, 40)))
    points = tracer.trace([4.0, 28.0, 3.0])
    radius = np.hypot(points[:, 1], points[:, 2])
    settled = np.abs(radius - axis_radius) < 0.1
    assert np.flatnonzero(~settled).max() < 20
    assert points[-1, 1] < 1  # a quarter of a turn
    np.testing.assert_allclose(points[settled, 0], 6.3, atol=0.05)
    assert len(points) < 4 * 1.2 * axis_radius * np.pi / 2


def test_a_curve_ends_at_a_saddle_that_it_runs_into_and_not_at_one_that_it_leaves():
    def saddle(x):  # inward along J and I, outward along K
        return (x - CENTRE) * [1.0, -1.0, -2.0]

    def rising(x):
        return np.ones_like(x) * [1.0, 0, 0]

    points = tracer_of(field(saddle), [CENTRE]).trace([10.0, 3.0, 10.0])
    np.testing.assert_allclose(points[-1], CENTRE)
    points = tracer_of(field(rising), [[9.7, 10.0, 10.0]]).trace(CENTRE)
    assert points[-1][0] > 19


def test_directions_from_a_saddle_depend_on_no_choice_of_the_solver():
    """Eigenvectors of a double eigenvalue may be any pair in its plane, with any signs."""
    turn = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    slopes = np.array([-3.0, 1.0, 1.0 + 1e-9])
    directions = [
        outgoing_directions(CriticalPoint(CENTRE, "saddle-2", slopes, vectors))
        for vectors in (np.eye(3), turn, -turn)
    ]
    for found in directions:
        np.testing.assert_allclose(found, [[0, 1, 0], [0, 0, 1]], atol=1e-9)
    swirl = np.array([[0, 0, 2**0.5], [1, 1, 0], [1j, -1j, 0]]) / 2**0.5
    slopes = np.array([1 + 2j, 1 - 2j, -1.0])
    found = outgoing_directions(CriticalPoint(CENTRE, "saddle-2", slopes, swirl))
    np.testing.assert_allclose(found, [[0, 1, 0], [0, 0, 1]], atol=1e-9)
