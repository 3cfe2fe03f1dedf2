"""A wide, faint vessel among several tissues: no speckles without a click, solid with one."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyConnectedGPULib.segmentation import segment

SHAPE, SPACING = (24, 48, 110), (1.0, 1.0, 1.0)
FIRST, IN_WIDE = (12, 10, 72), (6, 28, 90)
PARTS = np.ones((3, 3, 3))


def bright_vessel():
    """A tube along K, and a branch that leads to the wide vessel."""
    k, j, i = np.indices(SHAPE)
    along = np.clip((j - 10 + i - 72) / 36, 0, 1)
    branch = (j - 10 - 18 * along) ** 2 + (i - 72 - 18 * along) ** 2 + (k - 12) ** 2 <= 5
    return ((j - 10) ** 2 + (i - 72) ** 2 <= 5) | branch


def wide_vessel():
    _k, j, i = np.indices(SHAPE)
    return (j - 28) ** 2 + (i - 90) ** 2 <= 64


def scan(sign=1, bright=80, faint=14):
    """Tissue at 100 and, to its left, fat and air; a bright vessel, and a wide and faint one."""
    volume = np.random.default_rng(0).normal(0, 10, SHAPE)
    volume[:, :, :40] -= 1100
    volume[:, :, 40:60] -= 300
    volume += np.where(bright_vessel(), bright, faint * wide_vessel())
    return (100 + sign * volume).astype(np.int16)


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
