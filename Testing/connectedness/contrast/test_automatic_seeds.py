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


def test_strongest_first_and_no_plate_or_blob():
    volume = with_tube(with_tube(noise(), 10, 10, 2, 12), 34, 34, 2, 25)
    volume[:, :, 22:24] += 40  # a plate
    axes = np.indices(SHAPE)
    volume[np.linalg.norm(axes - np.array([24, 38, 8]).reshape(3, 1, 1, 1), axis=0) <= 3] += 80
    seeds = automatic_seeds(volume, count=2)
    assert distance_to_axis(seeds[:1], 34, 34) <= 2
    assert distance_to_axis(seeds[1:], 34, 34) <= 2 or distance_to_axis(seeds[1:], 10, 10) <= 2


def test_mask_and_its_border():
    volume = with_tube(with_tube(noise(), 10, 10, 2, 40), 34, 34, 2, 15)
    mask = np.zeros(SHAPE, np.uint8)
    mask[8:40, 20:48, 20:48] = 1
    seeds = automatic_seeds(volume, mask=mask, count=5)
    assert (distance_to_axis(seeds, 34, 34) <= 2).all()
    assert seeds[:, 0].min() >= 10
    assert seeds[:, 0].max() <= 37


def test_dark_vessels_only_without_bright_ones():
    dark = with_tube(noise(), 10, 10, 2, -25)
    assert (distance_to_axis(automatic_seeds(dark), 10, 10) <= 2).all()
    both = with_tube(dark, 34, 34, 2, 15)
    assert (distance_to_axis(automatic_seeds(both), 34, 34) <= 2).all()


def test_single_slice():
    image = noise(shape=(1, 64, 64))[0]
    image[20:24] += 20
    seeds = automatic_seeds(image, count=2)
    assert (seeds[:, 0] == 0).all()
    assert ((seeds[:, 1] >= 20) & (seeds[:, 1] < 24)).all()


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
