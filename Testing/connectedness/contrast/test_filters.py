"""Filters of the contrast model against scipy's, on volumes of any shape."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from FuzzyConnectedGPULib.contrast.filters import (
    GAUSSIAN_REACH,
    gaussian_weights,
    self_guided,
    separable,
)

SHAPES = st.tuples(*[st.integers(1, 12)] * 3)


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
