"""Thresholds: by hand, by background seeds, by the volume curve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity, connectedness
from FuzzyConnectedGPULib.scene import AutomaticThreshold, binarize, fill_gaps, level_values
from FuzzyConnectedGPULib.thresholds import (
    automatic_threshold,
    background_threshold,
    choose_threshold,
)
from FuzzyVesselCoreLib.errors import InputError


def scene_of(*levels):
    """A scene of one row with the given levels of 65535."""
    return level_values(np.array(levels)).reshape(1, 1, -1)


# --- binarize ----------------------------------------------------------------------------


def test_the_object_holds_the_values_from_the_threshold_on():
    scene = np.array([[[0, 0.25, 0.5, 0.75, 1]]], np.float32)
    made = binarize(scene, 0.5)
    assert made.dtype == np.uint8
    assert made.tolist() == [[[0, 0, 1, 1, 1]]]


@pytest.mark.parametrize("threshold", [0, -0.1, 1.0001, np.nan, np.inf, None, "auto"])
def test_other_thresholds_are_refused_by_value(threshold):
    with pytest.raises(InputError, match="threshold"):
        binarize(np.ones((1, 1, 1), np.float32), threshold)


# --- background seeds --------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_background_seeds_compete_like_relative_connectedness(number):
    """{C_S > max C_S(t)} is {C_S > C_T}: the second propagation is not needed."""
    random = np.random.default_rng(number)
    volume = random.integers(90, 150, (3, 5, 6)).astype(np.int16)
    seeds, background = [[0, 0, 0]], random.integers(0, (3, 5, 6), (2, 3))
    affinity = GaussianAffinity(120, 15, 10)
    for_object = connectedness(volume, seeds, affinity, device="cpu").values
    against = connectedness(volume, background, affinity, device="cpu").values
    if for_object[tuple(background.T)].max() == 1:
        return
    made = binarize(for_object, background_threshold(for_object, background))
    assert (made == (for_object > against)).all()


def test_a_background_seed_in_the_object_is_named():
    with pytest.raises(InputError, match=r"I,J,K = 2,0,0 is as connected"):
        background_threshold(scene_of(0, 5, 65535), [[0, 0, 1], [0, 0, 2]])


# --- automatic threshold -----------------------------------------------------------------


def two_tissues(vessel, background, voxels=200_000, share=0.02, spread=0.15):
    """A scene whose vessels and background hang on links of about so many sigmas."""
    random = np.random.default_rng(5)
    inside = int(voxels * share)
    sigmas = np.concatenate([np.full(inside, vessel), np.full(voxels - inside, background)])
    sigmas = sigmas * np.exp(spread * random.standard_normal(voxels))
    sigmas[0] = 0
    return np.exp(-(sigmas**2) / 2).astype(np.float32).reshape(50, 40, 100), inside


@pytest.mark.parametrize(("vessel", "background"), [(0.5, 1.5), (0.5, 2.0), (1, 3), (0.8, 3.5)])
def test_two_tissues_are_parted(vessel, background):
    scene, inside = two_tissues(vessel, background)
    threshold = automatic_threshold(scene)
    assert abs(int(binarize(scene, threshold).sum()) - inside) < 0.1 * inside
    assert threshold.confidence > 0.6
    assert "leak" in threshold.reason


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.99), st.integers(1, 12))
@settings(max_examples=60)
def test_every_scene_gives_a_threshold_that_keeps_its_seeds(number, cut, side):
    random = np.random.default_rng(number)
    scene = (random.random((side,) * 3) ** random.choice([0.1, 1, 20])).astype(np.float32)
    scene[scene < cut] = 0
    scene.flat[0] = 1
    threshold = automatic_threshold(scene)
    assert 0 < threshold <= 1
    assert threshold >= scene[scene > 0].min() - 1e-4
    assert 0 <= threshold.confidence <= 1
    assert binarize(scene, threshold).flat[0] == 1


# ---- From arrays to labels in one call, and which threshold it takes


@pytest.fixture(scope="module")
def scene(phantom):
    return connectedness(phantom.volume, phantom.seeds, device="cpu")


def test_a_background_seed_in_a_leak_raises_the_threshold(scene):
    automatic = automatic_threshold(scene)
    leak = np.argwhere((scene.values > automatic) & (scene.values < 1))[:1]
    threshold = choose_threshold(scene, leak)
    assert threshold == background_threshold(scene, leak) > automatic
    assert choose_threshold(scene, []) == automatic
    assert not isinstance(threshold, AutomaticThreshold)
    assert not binarize(scene, threshold)[tuple(leak[0])]


# --- gaps


def test_gaps_are_filled_and_a_smooth_border_stays():
    labels = np.zeros((12, 12, 12), np.uint8)
    labels[2:10, 2:10, 2:10] = 1
    whole = labels.copy()
    labels[5, 5, 5] = labels[5, 5, 6] = labels[2, 6, 6] = 0
    assert np.array_equal(fill_gaps(labels), whole)
    assert labels.sum() == whole.sum() - 3  # the input is left as it was
    assert np.array_equal(fill_gaps(whole, 5), whole)
    thin = np.zeros((7, 7, 7), np.uint8)
    assert not fill_gaps(thin, 3).any()
    thin[3, 3, :] = thin[3, 4, :] = 1
    assert np.array_equal(fill_gaps(thin, 3), thin)


def test_nothing_is_added_outside_the_mask_or_at_a_background_seed():
    labels = np.ones((5, 5, 5), np.uint8)
    labels[2, 2, 2] = labels[2, 2, 3] = 0
    mask = np.ones_like(labels)
    mask[2, 2, 3] = 0
    assert fill_gaps(labels, 3, mask)[2, 2].tolist() == [1, 1, 1, 0, 1]
    assert fill_gaps(labels, 3, mask, [[2, 2, 2]])[2, 2].tolist() == [1, 1, 0, 0, 1]
    one_slice = np.ones((7, 9), np.uint8)
    one_slice[3, 4] = one_slice[5, 5] = 0
    filled = fill_gaps(one_slice, 1, background_seeds=[[0, 5, 5]])
    assert np.argwhere(filled == 0).tolist() == [[5, 5]]
