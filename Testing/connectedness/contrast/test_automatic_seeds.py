"""Automatic seeds: points on tubes, not on plates, blobs, bone or noise."""

import numpy as np
import pytest

from FuzzyConnectedGPULib import automatic_seeds
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

SHAPE = 48, 48, 48


def noise(number=1, shape=SHAPE):
    return np.random.default_rng(number).normal(0, 1, shape).astype(np.float32)


def distance_to_axis(seeds, j, i):
    """Of seeds to a tube along K."""
    return np.hypot(seeds[:, 1] - j, seeds[:, 2] - i)


def with_tube(volume, j, i, radius, value):
    axes = np.indices(volume.shape)
    volume[np.hypot(axes[1] - j, axes[2] - i) <= radius] += value
    return volume


def test_phantom_inside_liver():
    phantom = liver_phantom((96,) * 3)
    seeds = automatic_seeds(phantom.volume, spacing=phantom.spacing, mask=phantom.liver, count=4)
    assert len(seeds) == 4
    assert phantom.mask[tuple(seeds.T)].all()
    unit = np.array(phantom.spacing) / min(phantom.spacing)
    apart = np.linalg.norm((seeds[:, None] - seeds) * unit, axis=2)
    assert apart[np.triu_indices(4, 1)].min() >= 10


@pytest.mark.parametrize("boxed", [False, True])
def test_no_bone_in_a_whole_scan(boxed):
    phantom = liver_phantom((96,) * 3)
    mask = np.zeros(phantom.volume.shape, np.uint8)
    mask[:, 10:90, 5:80] = 1  # with ribs and spine
    seeds = automatic_seeds(
        phantom.volume, spacing=phantom.spacing, mask=mask if boxed else None, count=4
    )
    for k, j, i in seeds:
        near = np.median(phantom.volume[max(k - 1, 0) : k + 2, j - 1 : j + 2, i - 1 : i + 2])
        assert 150 < near < 260  # vessels and aorta; bone is brighter


def test_dark_vessels_only_without_bright_ones():
    dark = with_tube(noise(), 10, 10, 2, -25)
    assert (distance_to_axis(automatic_seeds(dark), 10, 10) <= 2).all()
    both = with_tube(dark, 34, 34, 2, 15)
    assert (distance_to_axis(automatic_seeds(both), 34, 34) <= 2).all()


@pytest.mark.parametrize("volume", [noise(2), np.zeros(SHAPE, np.int16)])
def test_nothing_tubular(volume):
    with pytest.raises(InputError, match="by hand"):
        automatic_seeds(volume)


def test_refusals():
    with pytest.raises(InputError, match="from 1 up"):
        automatic_seeds(noise(), count=0)
    with pytest.raises(InputError, match="mask is empty"):
        automatic_seeds(noise(), mask=np.zeros(SHAPE))


def test_progress_rises_and_cancels():
    volume = with_tube(noise(), 24, 24, 3, 20)
    seen = []
    automatic_seeds(volume, progress=lambda fraction: seen.append(fraction))
    assert seen == sorted(seen)
    assert seen[-1] == 1
    with pytest.raises(Cancelled):
        automatic_seeds(volume, progress=lambda fraction: fraction < 0.1)
