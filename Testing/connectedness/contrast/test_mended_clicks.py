"""Clicks without any contrast, and further clicks in a vessel that is there."""

import numpy as np
import pytest

from FuzzyConnectedGPULib.input_validation import FaintClicksNote, NoContrastNote
from FuzzyConnectedGPULib.segmentation import segment
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

FEW = 60  # voxels


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((64, 64, 64))


def run(phantom, seeds):
    return segment(phantom.volume, seeds, spacing=phantom.spacing, device="cpu")


AIR = [(54, 63, 31), (40, 14, 62), (16, 56, 54), (2, 63, 43)]


@pytest.mark.parametrize("click", AIR)
def test_a_click_in_air_adds_a_few_voxels_and_is_named(phantom, click):
    """It added the air around it: 11 to 3,000 ml of a phantom of 20 l."""
    assert phantom.volume[click] < -900
    vessel = tuple(phantom.seeds[1])
    before, after = run(phantom, [vessel]), run(phantom, [vessel, click])
    assert after.labels[click]
    assert not (before.labels > after.labels).any()
    assert (after.labels > before.labels).sum() < FEW
    (note,) = after.scene.notes
    assert isinstance(note, NoContrastNote)
    assert note.voxels == (click,)
    assert "I,J,K = " + ",".join(map(str, click[::-1])) in note
    assert before.scene.notes == ()


@pytest.mark.parametrize("click", AIR)
def test_the_only_click_in_air_adds_a_few_voxels(phantom, click):
    found = run(phantom, [click])
    assert 0 < found.labels.sum() < FEW
    (note,) = found.scene.notes
    assert isinstance(note, FaintClicksNote)
    assert note.voxels == (click,)


def test_clicks_in_the_background_of_a_single_tissue_add_a_few_voxels():
    """As the only click, one a little darker than the tissue took a tenth of the volume."""
    rng = np.random.default_rng(3)
    volume = rng.normal(100, 2, (24, 40, 40))
    volume[:, :, :18] -= 9
    volume[:, 28:32, 28:32] += 60
    for clicks in ([(12, 20, 6)], [(12, 20, 6), (18, 10, 8)]):
        found = segment(volume.astype(np.float32), clicks, device="cpu")
        assert found.labels.sum() < len(clicks) * FEW
    more = segment(volume.astype(np.float32), [(12, 30, 30)], device="cpu")
    assert more.labels[:, 29:31, 29:31].mean() > 0.9


# Phantom, first click and a further one in the same vessel.
PAIRS = [
    (0, (34, 27, 28), (39, 36, 26)),
    (2, (25, 27, 24), (31, 26, 27)),
    (5, (26, 27, 25), (36, 32, 23)),
    (7, (36, 19, 21), (39, 30, 24)),
]


@pytest.mark.parametrize(("number", "first", "further"), PAIRS)
def test_a_further_click_does_not_bite_into_the_vessel(number, first, further):
    """What it reached beside the vessel raised the threshold: a ragged notch at the first one."""
    phantom = liver_phantom((64, 64, 64), number)
    before, after = run(phantom, [first]), run(phantom, [first, further])
    assert after.labels[further]
    assert not (before.labels > after.labels).any()
    assert after.contrast.contrast <= before.contrast.contrast
