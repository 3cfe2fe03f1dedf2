"""Length, curvature, torsion and tortuosity of curves whose measures are known."""

import numpy as np
import pytest

from PotentialSkeletonLib.tree.shape import line_shape


def helix(radius, pitch, turns, hand=1, count=600):
    turn = np.linspace(0, 2 * np.pi * turns, count)
    x, y = radius * np.cos(turn), hand * radius * np.sin(turn)
    return np.stack([x, y, pitch * turn / (2 * np.pi)], axis=1)


@pytest.mark.parametrize("hand", [1, -1])
@pytest.mark.parametrize(("radius", "pitch"), [(10, 20), (5, 40)])
def test_a_helix(radius, pitch, hand):
    rise = pitch / (2 * np.pi)
    squared = radius**2 + rise**2
    shape = line_shape(helix(radius, pitch, 3, hand), np.ones(600))
    assert shape.length == pytest.approx(6 * np.pi * np.sqrt(squared), rel=1e-3)
    assert shape.curvature == pytest.approx(radius / squared, rel=0.02)
    assert shape.torsion == pytest.approx(hand * rise / squared, rel=0.03)
    assert shape.tortuosity == pytest.approx(shape.length / (3 * pitch) - 1, rel=1e-3)


def test_a_straight_line_has_no_curvature():
    shape = line_shape(np.linspace((0, 0, 0), (30, 40, 0), 80), np.full(80, 2.0))
    assert shape.length == pytest.approx(50)
    assert shape.curvature == pytest.approx(0, abs=1e-9)
    assert (shape.torsion, round(shape.tortuosity, 9)) == (0, 0)


def test_a_closed_curve_has_no_tortuosity():
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([10 * np.cos(turn), 10 * np.sin(turn), 0 * turn], axis=1)
    circle[-1] = circle[0]
    assert line_shape(circle, np.ones(200)).tortuosity == 0


def test_a_line_of_two_points_has_a_length_only():
    shape = line_shape(np.array([[0.0, 0, 0], [0, 0, 3]]), np.ones(2))
    assert (shape.length, shape.curvature, shape.torsion) == (3, 0, 0)


def test_noise_of_voxels_does_not_drown_the_curvature():
    """A circle of 20 mm whose points are off by up to 0.1 mm, 0.5 mm apart."""
    rng = np.random.default_rng(3)
    turn = np.linspace(0, np.pi, 126)
    circle = np.stack([20 * np.cos(turn), 20 * np.sin(turn), 0 * turn], axis=1)
    noisy = circle + rng.uniform(-0.1, 0.1, circle.shape)
    assert line_shape(noisy, np.full(126, 3.0)).curvature == pytest.approx(1 / 20, rel=0.15)
