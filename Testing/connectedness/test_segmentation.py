"""From arrays to labels in one call, and which threshold it takes."""

import numpy as np
import pytest

from FuzzyConnectedGPULib import (
    binarize,
    connectedness,
)
from FuzzyConnectedGPULib.thresholds import (
    AutomaticThreshold,
    automatic_threshold,
    background_threshold,
    choose_threshold,
    fill_gaps,
)
from FuzzyVesselCoreLib.phantom.liver import liver_phantom


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((64, 64, 64))


@pytest.fixture(scope="module")
def scene(phantom):
    return connectedness(phantom.volume, phantom.seeds, device="cpu")


def test_a_background_seed_in_a_leak_raises_the_threshold(scene):
    automatic = automatic_threshold(scene)
    leak = np.argwhere((scene.values > automatic) & (scene.values < 1))[:1]
    threshold = choose_threshold(scene, leak)
    assert threshold == background_threshold(scene, leak) > automatic
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
