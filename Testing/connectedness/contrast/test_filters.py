"""Filters of the contrast model against scipy's, on volumes of any shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from FuzzyConnectedGPULib.contrast.filters import (
    GAUSSIAN_REACH,
    gaussian_weights,
    self_guided,
    separable,
)
from FuzzyConnectedGPULib.contrast.neighbourhood import (
    Ball,
    at_click,
    inscribed_radius,
    ridge_near,
)

SHAPES = st.tuples(*[st.integers(1, 12)] * 3)
UNIT = np.ones(3)


def noise(shape, number, scale=100.0):
    return np.random.default_rng(number).normal(0, scale, shape).astype(np.float32)


@settings(max_examples=60)
@given(SHAPES, st.integers(0, 99), st.tuples(*[st.floats(0.05, 3)] * 3))
def test_the_gaussian_is_scipys(shape, number, sigmas):
    volume = noise(shape, number)
    before = volume.copy()
    found = separable(volume, [gaussian_weights(sigma) for sigma in sigmas])
    wanted = ndimage.gaussian_filter(
        volume.astype(float), sigmas, mode="nearest", truncate=GAUSSIAN_REACH
    )
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    np.testing.assert_array_equal(volume, before)


@settings(max_examples=40)
@given(SHAPES, st.integers(0, 99), st.tuples(*[st.integers(0, 3)] * 3), st.floats(0.1, 300))
def test_the_guided_filter_is_that_of_its_definition(shape, number, radii, deviation):
    volume = noise(shape, number)
    sizes = [2 * radius + 1 for radius in radii]

    def mean(values):
        return ndimage.uniform_filter(values, sizes, mode="nearest")

    exact = volume.astype(float)
    variance = np.maximum(mean(exact**2) - mean(exact) ** 2, 0)
    gain = variance / (variance + deviation**2)
    wanted = mean(gain) * exact + mean(mean(exact) - gain * mean(exact))
    np.testing.assert_allclose(self_guided(volume, radii, deviation), wanted, atol=0.05)


def test_the_guided_filter_keeps_edges_and_takes_noise():
    edge = np.zeros((12, 12, 24), np.float32)
    edge[:, :, 12:] = 100
    volume = edge + noise(edge.shape, 1, scale=3)
    found = self_guided(volume.copy(), (2, 2, 2), 3.0)
    assert found[:, :, :9].std() < 0.6 * volume[:, :, :9].std()
    assert found[:, :, 11].mean() < 10
    assert found[:, :, 12].mean() > 90


# --- small parts round a click


@pytest.mark.parametrize("unit", [(1, 1, 1), (5, 1, 1), (1, 2.5, 1)])
def test_a_ball_is_cut_off_at_the_borders(unit):
    unit, shape, click = np.array(unit, float), (6, 20, 20), (1, 10, 18)
    ball = Ball(shape, click, 4.0, unit)
    distance = ((np.indices(shape).T - click) * unit).T
    wanted = (distance**2).sum(axis=0) <= 16
    found = np.zeros(shape, bool)
    found[ball.box] = ball.inside
    np.testing.assert_array_equal(found, wanted)
    assert ball.squared[ball.centre] == 0


def test_the_radius_within_labels():
    k, j, i = np.indices((21, 21, 21))
    labels = (k - 10) ** 2 + (j - 10) ** 2 + (i - 10) ** 2 <= 25
    assert 5 <= inscribed_radius(labels, (10, 10, 10), UNIT) <= 6
    assert inscribed_radius(labels, (0, 0, 0), UNIT) == 0
    everything = np.ones((3, 21, 21), bool)
    assert inscribed_radius(everything, (1, 10, 10), UNIT) == 2  # the volume's border counts


def test_values_near_a_click():
    values = np.zeros((9, 9, 9), np.float32)
    values[4, 4, 4:] = 5
    values[3:6, 6:9, 3:6] = 8
    assert at_click(values, (4, 4, 5)) == 5
    assert at_click(values, (4, 7, 4)) == 8
    value, voxel = ridge_near(values, (4, 5, 4), 2.5, UNIT)
    assert value == values[voxel] == 8
    assert np.abs(np.subtract(voxel, (4, 5, 4))).max() <= 2
    assert ridge_near(values, (8, 0, 0), 1.0, UNIT)[0] == 0
