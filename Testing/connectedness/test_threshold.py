"""Thresholds: by hand, by background seeds, by the volume curve."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity, connectedness
from FuzzyConnectedGPULib.affinity import level_values
from FuzzyConnectedGPULib.thresholds import (
    automatic_threshold,
    background_threshold,
    binarize,
    fill_gaps,
    volume_curve,
)
from FuzzyVesselCoreLib.errors import InputError


def scene_of(*levels):
    """A scene of one row with the given levels of 65535."""
    return level_values(np.array(levels)).reshape(1, 1, -1)


def any_scene(random, shape=(3, 4, 5)):
    return level_values(random.integers(0, 65536, shape))


# --- binarize ----------------------------------------------------------------------------


def test_the_object_holds_the_values_from_the_threshold_on():
    scene = np.array([[[0, 0.25, 0.5, 0.75, 1]]], np.float32)
    made = binarize(scene, 0.5)
    assert made.dtype == np.uint8
    assert made.tolist() == [[[0, 0, 1, 1, 1]]]


def test_a_tiny_threshold_still_leaves_out_what_is_not_connected():
    assert binarize(np.array([[[0, 1]]], np.float32), 1e-60).tolist() == [[[0, 1]]]


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


def test_the_threshold_stands_next_above_the_best_connected_background_seed():
    scene = scene_of(0, 100, 20000, 20001, 65535)
    threshold = background_threshold(scene, [[0, 0, 1], [0, 0, 2]])
    assert binarize(scene, threshold).ravel().tolist() == [0, 0, 0, 1, 1]


def test_a_background_seed_in_the_object_is_named():
    with pytest.raises(InputError, match=r"I,J,K = 2,0,0 is as connected"):
        background_threshold(scene_of(0, 5, 65535), [[0, 0, 1], [0, 0, 2]])


# --- volume curve ------------------------------------------------------------------------


def test_the_curve_counts_values_between_levels_too():
    scene = np.random.default_rng(2).random((4, 5, 6), np.float32)
    thresholds, counts = volume_curve(scene)
    assert (counts == [(scene >= t).sum() for t in thresholds]).all()


@pytest.mark.parametrize("value", [np.nan, -0.1, 1.1])
def test_values_that_no_scene_has_are_refused(value):
    with pytest.raises(InputError, match=r"within 0\.\.1"):
        volume_curve(np.array([[[0.5, value]]], np.float32))


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


def test_a_leak_close_to_the_seeds_is_trusted_less():
    threshold = automatic_threshold(two_tissues(0.15, 0.5)[0])
    assert threshold.confidence < 0.5
    assert "look alike" in threshold.reason


def test_a_cut_above_the_leak_keeps_all_that_is_left():
    scene, _ = two_tissues(0.5, 2.0)
    scene[scene < 0.5] = 0
    threshold = automatic_threshold(scene)
    assert binarize(scene, threshold).sum() == np.count_nonzero(scene)
    assert threshold.confidence == 0


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


def test_it_is_a_float_that_can_be_stored():
    threshold = automatic_threshold(two_tissues(0.5, 2.0)[0])
    assert json.loads(json.dumps(threshold)) == threshold
    for again in (copy.copy(threshold), pickle.loads(pickle.dumps(threshold))):
        assert again == threshold
        assert again.reason == threshold.reason
        assert again.confidence == threshold.confidence


# --- gaps


def test_gaps_of_a_slice_are_filled_beside_background_seeds():
    """With background seeds it ended in an IndexError, without them nothing was filled."""
    labels = np.ones((7, 9), np.uint8)
    labels[3, 4] = labels[5, 5] = labels[0, 0] = 0
    filled = fill_gaps(labels, 1, background_seeds=[[0, 5, 5]])
    assert np.argwhere(filled == 0).tolist() == [[0, 0], [5, 5]]
    assert np.array_equal(fill_gaps(labels[None], 1, background_seeds=[[0, 5, 5]])[0], filled)
    assert np.array_equal(
        fill_gaps(fill_gaps(labels), 9), fill_gaps(labels)
    )  # a smooth border stays
