"""Contrast to the local background: of whatever scale, offset, sign, spacing and tissues."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from FuzzyConnectedGPULib.contrast import background
from FuzzyConnectedGPULib.contrast.background import LocalBackground
from FuzzyConnectedGPULib.contrast.contrast_map import contrast_map
from FuzzyConnectedGPULib.contrast.filters import (
    GAUSSIAN_REACH,
    gaussian_weights,
    self_guided,
    separable,
)
from FuzzyConnectedGPULib.segmentation import segment
from FuzzyVesselCoreLib.errors import DeviceError

SHAPE = (24, 28, 30)
CENTRE = (12, 14, 15)


def tube(shape=SHAPE, radius=2.0):
    k, j, _i = np.indices(shape)
    return (k - 12) ** 2 + (j - 14) ** 2 <= radius**2


def vessel(height=18.0, noise=3.0):
    """A noisy tube along I, its background at 0."""
    rng = np.random.default_rng(5)
    return (height * tube() + rng.normal(0, noise, SHAPE)).astype(np.float32)


# --- what the map does not depend on


@pytest.mark.parametrize("fill", [3.4e38, -3.4e38, 1e300])
def test_fill_values_do_not_spoil_the_rest(fill):
    """The largest floats stand for "no data" in many files; their squares are infinite."""
    volume = vessel().astype(np.float64 if fill > 1e100 else np.float32)
    volume[:2] = fill
    found = segment(volume, [CENTRE])
    scene, labels = found.scene, found.labels > 0
    assert np.isfinite([*scene.values.flat, scene.least_contrast, scene.noise]).all()
    assert labels[tube(radius=1)].mean() > 0.9
    assert labels[:6].sum() < 20


def test_dark_vessels_are_the_mirror_image_of_bright_ones():
    bright, dark = (contrast_map(each, (1, 1, 1), CENTRE) for each in (vessel(), -vessel()))
    assert (bright.polarity, dark.polarity) == (1, -1)
    np.testing.assert_allclose(dark.contrast, bright.contrast, atol=1e-3)
    assert np.array_equal(segment(-vessel(), [CENTRE]).labels, segment(vessel(), [CENTRE]).labels)


# --- masks and tissues


def test_a_scan_of_several_tissues_is_judged_by_the_tissue_around_the_click(phantom):
    volume, seed = phantom.volume, phantom.seeds[0]
    found = contrast_map(volume, phantom.spacing, seed)
    liver = np.median(volume[(phantom.liver > 0) & (phantom.mask == 0)])
    assert found._tissue.median == pytest.approx(liver, abs=15)
    assert found._tissue.deviation < 0.2 * volume.std()
    assert (limit := found.competing_above([tuple(seed)])) > 1.5 * volume[tuple(seed)]
    assert not (phantom.mask[found.smooth > limit] > 0).any()


# --- the background


@pytest.mark.parametrize("sigma", [1.5, 4.0, 6.0])
def test_the_background_is_a_masked_gaussian(sigma):
    """Coarse cells stand for their voxels: inside within 2 % of the range, 8 % at the borders."""
    rng = np.random.default_rng(3)
    volume = ndimage.gaussian_filter(rng.normal(0, 1, (30, 26, 34)), 3).astype(np.float32)
    usable = rng.random(volume.shape) < 0.6
    share = ndimage.gaussian_filter(usable.astype(float), sigma, mode="nearest")
    total = ndimage.gaussian_filter(np.where(usable, volume, 0.0), sigma, mode="nearest")
    found = LocalBackground(volume, usable.astype(np.uint8), (sigma,) * 3, 0.0, 100.0).values()
    error = np.abs(found - total / share) / np.ptp(volume)
    assert error.max() < 0.08
    assert error[6:-6, 6:-6, 6:-6].max() < 0.02


# --- the same on CUDA


@pytest.mark.parametrize("kind", ["fill", "tiny", "sparse"])
def test_cuda_handles_the_same_unusual_volumes(cpu_cuda, monkeypatch, kind):
    volume, mask = vessel(), None
    if kind == "fill":
        volume[:2] = 3.4e38
    elif kind == "tiny":
        volume = (volume * np.float64(1e-12)).astype(np.float32)
    else:
        mask = np.zeros(SHAPE, np.uint8)
        mask[CENTRE] = mask[1, 1, 1] = 1
        monkeypatch.setattr(background, "MAX_SAMPLES", 1000)
    host = contrast_map(volume, (1, 1, 1), CENTRE, mask)
    device = contrast_map(volume, (1, 1, 1), CENTRE, mask, gpu=cpu_cuda)
    assert device.noise == host.noise
    np.testing.assert_array_equal(device.contrast, host.contrast)
    assert device.holds_for(CENTRE)
    assert device.to_host().holds_for(CENTRE)


# --- the filters, against scipy's, on volumes of any shape


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


def test_a_missing_numba_is_named(monkeypatch):
    for name in ("click_scene", "widest_paths"):
        monkeypatch.delitem(sys.modules, f"FuzzyConnectedGPULib.contrast.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(DeviceError, match="pip install numba"):
        segment(vessel(), [CENTRE])
