"""A wide, faint vessel among several tissues: no speckles without a click, solid with one."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyConnectedGPULib.contrast.background import lower_own_background
from FuzzyConnectedGPULib.contrast.contrast_map import contrast_map
from FuzzyConnectedGPULib.segmentation import segment
from support.wide_vessel import (
    FIRST,
    IN_WIDE,
    SHAPE,
    SPACING,
    bright_vessel,
    scan,
    wide_vessel,
)

PARTS = np.ones((3, 3, 3))


def labels_of(clicks, volume=None):
    volume = scan() if volume is None else volume
    return segment(volume, clicks, spacing=SPACING, device="cpu").labels > 0


@pytest.mark.parametrize("sign", [1, -1])
def test_it_is_no_speckles(sign):
    """Its contrast lies about the threshold, so that noise decided: on 5 % of its voxels."""
    labels = labels_of([FIRST], scan(sign))
    assert labels[bright_vessel()].mean() > 0.95
    away = wide_vessel() & ~ndimage.binary_dilation(bright_vessel(), PARTS, iterations=2)
    assert away.sum() > 0.7 * wide_vessel().sum()
    assert labels[away].mean() < 0.02


@pytest.mark.parametrize("click", [IN_WIDE, (15, 26, 92), (17, 28, 90), (15, 25, 93)])
def test_a_click_makes_it_solid(click):
    """Noise left out a fifth of the voxels near the click and more, and cut it into 20 parts."""
    both, first = labels_of([FIRST, click]), labels_of([FIRST])
    assert both[click]
    assert not (first & ~both).any()
    squares = [(x - c) ** 2 for x, c in zip(np.indices(SHAPE), click)]
    inner = ndimage.binary_erosion(wide_vessel(), border_value=1)
    assert both[(sum(squares) <= 49) & inner].mean() > 0.95
    assert ndimage.label(both, PARTS)[1] <= 5
    near = ndimage.binary_dilation(wide_vessel(), iterations=2)
    assert (both & ~first & ~near).sum() < 0.05 * wide_vessel().sum()


@pytest.mark.parametrize("click", [(15, 26, 92), (15, 25, 93)])
def test_a_click_where_contrast_is_left_in_patches_is_judged_as_elsewhere(click):
    """By that contrast the vessel was full of holes: a quarter of it."""
    both = labels_of([FIRST, click], scan(bright=150, faint=20))
    assert both[wide_vessel()].mean() > 0.6


def test_a_click_leaves_out_what_is_far_brighter():
    """Fuller than the click's own vessel and beside it, as an aorta is."""
    volume = scan()
    beside = np.zeros(SHAPE, bool)
    beside[:, 24:32, 98:106] = True
    volume[beside] += 240
    both, first = labels_of([FIRST, IN_WIDE], volume), labels_of([FIRST], volume)
    assert both[wide_vessel()].mean() > 0.5
    inner = ndimage.binary_erosion(beside)
    assert not (both & ~first)[inner].any()


def test_of_one_tissue_nothing_is_lowered(monkeypatch):
    """Scans with a mask, or of one tissue, keep their contrast bit for bit."""
    volume = scan(air=False)
    plain = contrast_map(volume, SPACING, FIRST)
    assert not plain.several_tissues
    name = "FuzzyConnectedGPULib.contrast.contrast_map.lower_own_background"
    monkeypatch.setattr(name, lambda *_: pytest.fail("one tissue"))
    again = contrast_map(volume, SPACING, FIRST)
    np.testing.assert_array_equal(again.contrast, plain.contrast)


@pytest.mark.parametrize("polarity", [1, -1])
def test_contrasts_fall_without_a_step_and_clear_ones_stay(polarity):
    own = np.linspace(-5, 45, 2001, dtype=np.float32).reshape(1, 1, -1)
    for stands_out, at_first, limit in ((4, 100, 12), (4, 10, 6.5), (-4, 100, 0), (30, 60, 39)):
        lowered = own.copy()
        background = np.full_like(own, polarity * stands_out)
        lower_own_background(lowered, background, polarity, at_first)
        kept = (own <= 0) | (own >= limit)
        np.testing.assert_allclose(lowered[kept], own[kept], rtol=1e-6)
        assert (lowered <= own).all()
        assert (np.diff(lowered) >= 0).all()
        assert np.diff(lowered).max() < 0.2
        assert (lowered[(own > 0) & (own < 0.79 * limit)] == 0).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_on_the_device(cpu_cuda, sign):
    volume = scan(sign)
    ours = contrast_map(volume, SPACING, FIRST, gpu=cpu_cuda)
    theirs = contrast_map(volume, SPACING, FIRST)
    assert ours.several_tissues
    assert ours.polarity == sign
    np.testing.assert_array_equal(ours.contrast, theirs.contrast)
    lowered = (np.asarray(ours.contrast) == 0) & wide_vessel()
    assert lowered.sum() > 0.3 * wide_vessel().sum()


def test_half_of_the_first_click_s_contrast_is_not_clear_enough():
    """In the demo's phantom it left specks along the wall of the vena cava, 1,400 voxels each."""
    rim = np.linspace(20, 28, 9, dtype=np.float32).reshape(1, 1, -1)
    lower_own_background(rim, np.full_like(rim, 22), 1, 48.7)
    assert rim.max() < 20.3  # the threshold of the paths' object there
