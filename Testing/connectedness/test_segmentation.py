"""From arrays to labels in one call, and which threshold it takes."""

import numpy as np
import pytest

from FuzzyConnectedGPULib import (
    GaussianAffinity,
    SegmentOptions,
    binarize,
    connectedness,
    estimate_affinity,
)
from FuzzyConnectedGPULib.segmentation import segment
from FuzzyConnectedGPULib.thresholds import (
    AutomaticThreshold,
    automatic_threshold,
    background_threshold,
    choose_threshold,
    fill_gaps,
)
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((64, 64, 64))


@pytest.fixture(scope="module")
def scene(phantom):
    return connectedness(phantom.volume, phantom.seeds, device="cpu")


def test_the_steps_are_those_of_the_single_functions(phantom, scene):
    found = segment(phantom.volume, phantom.seeds, device="cpu", model="affinity")
    assert found.affinity == estimate_affinity(phantom.volume, phantom.seeds)
    np.testing.assert_array_equal(found.scene.values, scene.values)
    assert found.threshold == automatic_threshold(scene)
    np.testing.assert_array_equal(found.labels, binarize(scene, found.threshold))


def test_options_are_a_record_or_keywords(phantom):
    options = SegmentOptions(radius=1, device="cpu", threshold=0.9)
    found = segment(phantom.volume, phantom.seeds, options=options)
    wanted = segment(phantom.volume, phantom.seeds, radius=1, device="cpu", threshold=0.9)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    found = segment(phantom.volume, phantom.seeds, options=options, threshold=0.5)
    np.testing.assert_array_equal(found.labels, binarize(wanted.scene, 0.5))
    with pytest.raises(InputError, match="below the cut"):
        SegmentOptions(cut=0.5, threshold=0.2)


def test_radius_and_side_reach_the_affinity(phantom):
    found = segment(phantom.volume, phantom.seeds, radius=1, side="bright", device="cpu")
    wanted = estimate_affinity(phantom.volume, phantom.seeds, radius=1, side="bright")
    assert found.affinity == wanted
    assert found.affinity.side == "bright"


def test_a_background_seed_never_lowers_a_sure_threshold(scene):
    automatic = automatic_threshold(scene)
    assert automatic.confidence > 0.5
    far = np.argwhere(scene.values < automatic / 2)[:1]
    assert choose_threshold(scene, far) == automatic
    assert isinstance(choose_threshold(scene, far), AutomaticThreshold)


def test_a_background_seed_in_a_leak_raises_the_threshold(scene):
    automatic = automatic_threshold(scene)
    leak = np.argwhere((scene.values > automatic) & (scene.values < 1))[:1]
    threshold = choose_threshold(scene, leak)
    assert threshold == background_threshold(scene, leak) > automatic
    assert not isinstance(threshold, AutomaticThreshold)
    assert not binarize(scene, threshold)[tuple(leak[0])]


def test_an_unsure_threshold_gives_way_to_background_seeds_that_are_reached():
    values = np.linspace(0.2, 1, 512, dtype=np.float32).reshape(8, 8, 8)
    values[0, 0, 0] = 0
    assert automatic_threshold(values).confidence < 0.5
    reached = [[0, 1, 0]]
    assert choose_threshold(values, reached) == background_threshold(values, reached)
    assert choose_threshold(values, [[0, 0, 0]]) == automatic_threshold(values)


@pytest.mark.parametrize("model", ["contrast", "affinity"])
def test_the_run_can_be_cancelled_after_the_propagation(phantom, model):
    fractions = []

    def progress(fraction):
        fractions.append(fraction)
        return fractions.count(1.0) < 2

    with pytest.raises(Cancelled):
        segment(phantom.volume, phantom.seeds, device="cpu", progress=progress, model=model)
    assert fractions[-2:] == [1.0, 1.0]


# --- gaps


def test_gaps_are_filled_and_a_smooth_border_stays():
    labels = np.zeros((12, 12, 12), np.uint8)
    labels[2:10, 2:10, 2:10] = 1
    whole = labels.copy()
    labels[5, 5, 5] = labels[5, 5, 6] = labels[2, 6, 6] = 0
    assert np.array_equal(fill_gaps(labels), whole)
    assert labels.sum() == whole.sum() - 3  # the input is left as it was
    assert np.array_equal(fill_gaps(whole, 5), whole)


def test_a_wide_gap_needs_more_rounds():
    labels = np.ones((9, 9, 9), np.uint8)
    labels[3:6, 3:6, 3:6] = 0
    once, often = fill_gaps(labels, 1), fill_gaps(labels, 5)
    assert labels.sum() < once.sum() < often.sum() == labels.size
    assert fill_gaps(labels, 0) is labels


def test_a_thin_vessel_and_an_empty_volume_stay():
    labels = np.zeros((7, 7, 7), np.uint8)
    assert not fill_gaps(labels, 3).any()
    labels[3, 3, :] = labels[3, 4, :] = 1
    assert np.array_equal(fill_gaps(labels, 3), labels)


def test_nothing_is_added_outside_the_mask_or_at_a_background_seed():
    labels = np.ones((5, 5, 5), np.uint8)
    labels[2, 2, 2] = labels[2, 2, 3] = 0
    mask = np.ones_like(labels)
    mask[2, 2, 3] = 0
    assert fill_gaps(labels, 3, mask)[2, 2].tolist() == [1, 1, 1, 0, 1]
    assert fill_gaps(labels, 3, mask, [[2, 2, 2]])[2, 2].tolist() == [1, 1, 0, 0, 1]


@pytest.mark.parametrize("rounds", [-1, 11, 1.5, True])
def test_other_numbers_of_rounds_are_refused(rounds):
    with pytest.raises(InputError, match="rounds"):
        fill_gaps(np.ones((3, 3, 3), np.uint8), rounds)


def test_segment_fills_gaps_on_wish():
    random = np.random.default_rng(2)
    volume = random.normal(100, 10, (16, 16, 16)).astype(np.int16)
    options = dict(threshold=0.4, device="cpu", affinity=GaussianAffinity(100, 12, 12))
    plain = segment(volume, [[8, 8, 8]], **options)
    filled = segment(volume, [[8, 8, 8]], fill_gaps=2, **options)
    assert np.array_equal(filled.labels, fill_gaps(plain.labels, 2))
    assert filled.labels.sum() > plain.labels.sum()


@pytest.mark.parametrize("model", ["contrast", "affinity"])
@pytest.mark.parametrize("seeds", [[(2, 2, 2)], {"one": [(2, 2, 2)], "other": [(0, 0, 0)]}])
def test_an_invalid_spacing_is_refused_by_every_model(model, seeds):
    volume = np.arange(64, dtype=np.int16).reshape(4, 4, 4)
    with pytest.raises(InputError, match="three positive numbers"):
        segment(volume, seeds, spacing=(1, 1, -1), model=model, device="cpu")
