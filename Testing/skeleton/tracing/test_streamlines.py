"""Curves that follow known fields."""

import numpy as np
import pytest

from PotentialSkeletonLib.critical_points.critical_points import CriticalPoint
from PotentialSkeletonLib.field.tiles import Tiles
from PotentialSkeletonLib.tracing import streamlines
from PotentialSkeletonLib.tracing.outgoing_directions import outgoing_directions
from PotentialSkeletonLib.tracing.stepping import CRITICAL_POINT, CURVE, STALL
from PotentialSkeletonLib.tracing.streamlines import Tracer, core_curves

CENTRE = np.array([10.0, 10.0, 10.0])


def tracer_of(vectors, ends=()):
    return Tracer(Tiles.whole(vectors, np.ones(vectors.shape[:3], bool)), ends)


def field(function, shape=(21, 21, 21)):
    return function(np.stack(np.indices(shape), axis=-1).astype(float))


def test_a_curve_ends_at_the_attractor():
    tracer = tracer_of(field(lambda x: CENTRE - x), [CENTRE])
    points, ending = tracer.trace([3.2, 14.1, 12.0])
    assert ending == CRITICAL_POINT
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
    points, _ = tracer.trace([10.0, 16.0, 10.0])
    radius = np.linalg.norm(points - CENTRE, axis=1)
    one_turn = int(2 * np.pi * 6 / 0.25)
    np.testing.assert_allclose(radius[:one_turn], 6, atol=0.1)


def test_later_curves_end_at_earlier_ones():
    def valley(x):  # towards the line J = I = 10, then along it
        return np.stack([0.3 + 0 * x[..., 0], 10 - x[..., 1], 10 - x[..., 2]], axis=-1)

    tracer = tracer_of(field(valley))
    (first,) = tracer.trace_along([[[2.0, 10.0, 10.0]]])
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
    points, ending = Tracer(Tiles.whole(vectors, mask), []).trace([2.0, 10.0, 10.0])
    assert ending == STALL
    assert 14 < points[-1][0] <= 14.5
    assert len(Tracer(Tiles.whole(vectors, mask), []).trace([16.0, 10.0, 10.0])[0]) == 0


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
    points, _ = tracer.trace([4.0, 28.0, 3.0])
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

    points, ending = tracer_of(field(saddle), [CENTRE]).trace([10.0, 3.0, 10.0])
    assert ending == CRITICAL_POINT
    np.testing.assert_allclose(points[-1], CENTRE)
    _, ending = tracer_of(field(rising), [[9.7, 10.0, 10.0]]).trace(CENTRE)
    assert ending == STALL


def test_directions_from_a_saddle_depend_on_no_choice_of_the_solver():
    """Eigenvectors of a double eigenvalue may be any pair in its plane, with any signs."""
    turn = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    slopes = np.array([-3.0, 1.0, 1.0 + 1e-9])
    directions = [
        outgoing_directions([CriticalPoint(CENTRE, "saddle-2", slopes, vectors)])[0]
        for vectors in (np.eye(3), turn, -turn)
    ]
    for found in directions:
        np.testing.assert_allclose(found, [[0, 1, 0], [0, 0, 1]], atol=1e-9)
    swirl = np.array([[0, 0, 2**0.5], [1, 1, 0], [1j, -1j, 0]]) / 2**0.5
    slopes = np.array([1 + 2j, 1 - 2j, -1.0])
    (found,) = outgoing_directions([CriticalPoint(CENTRE, "saddle-2", slopes, swirl)])
    np.testing.assert_allclose(found, [[0, 1, 0], [0, 0, 1]], atol=1e-9)


def test_a_field_in_tiles_gives_the_same_curves_and_each_tile_they_need_is_fetched_once():
    rng = np.random.default_rng(3)
    vectors = np.repeat(rng.standard_normal((70, 3, 150, 3)), 12, axis=1).astype(np.float32)
    free = rng.random(vectors.shape[:3]) < 0.98
    free[35:] = False
    fetched = []

    def fetch(box):
        if box[0].stop:
            fetched.append(str(box))
        return vectors[box], free[box].view(np.uint8)

    whole = Tracer(Tiles.whole(vectors, free), [])
    tiled = Tracer(Tiles(free.shape, fetch), [])
    lengths = []
    for start in rng.uniform(0, [34, 35, 149], (200, 3)):
        curve, ending = whole.trace(start)
        same, same_ending = tiled.trace(start)
        np.testing.assert_array_equal(curve, same)
        assert ending == same_ending
        lengths.append(len(curve))
        for tracer in (whole, tiled):
            (kept,) = tracer.trace_along([[start]])
            np.testing.assert_array_equal(kept, curve)
    assert max(lengths) > 20
    assert len(set(fetched)) == len(fetched)
    assert 10 < len(fetched) <= 20  # of 30: there is no object in the others


@pytest.mark.parametrize("part", [1, 3, 64])
def test_curves_that_are_followed_at_once_are_those_followed_one_after_the_other(monkeypatch, part):
    monkeypatch.setattr(streamlines, "CURVES_PER_PART", part)
    monkeypatch.setattr(streamlines, "VOXELS_PER_CURVE", 1 << 17)  # by threads
    rng = np.random.default_rng(5)
    k, j, i = np.indices((20, 20, 60)) - np.array([10, 10, 30]).reshape(3, 1, 1, 1)
    vectors = np.stack([-k, -j, np.sin(i / 4.0)], axis=-1) + 0.1 * rng.normal(size=(*k.shape, 3))
    vectors = vectors.astype(np.float32)
    field = Tiles.whole(vectors, np.ones(k.shape, bool))
    starts = rng.uniform(1, [18, 18, 58], (40, 3))
    leads = [np.stack([start + 1, start]) for start in starts]
    at_once, in_turn = Tracer(field, [CENTRE]), Tracer(field, [CENTRE])
    owns = np.full(20, -1)
    found = at_once.trace_and_keep(starts[:20], owns) + at_once.trace_along(leads[20:])
    expected = [in_turn.trace_and_keep(start[None], owns[:1])[0] for start in starts[:20]]
    expected += [in_turn.trace_along([lead])[0] for lead in leads[20:]]
    alone = [Tracer(field, [CENTRE]).trace(start)[0] for start in starts]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(map(len, found)) < 0.8 * sum(map(len, alone))  # they do meet
