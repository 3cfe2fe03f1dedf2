"""A contrast map cached between clicks: on the device, within its memory, never outdated."""

from types import SimpleNamespace

import numpy as np
import pytest

from FuzzyConnectedGPULib import CachedConnectedness, segment
from FuzzyConnectedGPULib.contrast import contrast_model, widest_paths
from FuzzyConnectedGPULib.contrast.contrast_map import DeviceVolume
from FuzzyVesselCoreLib.errors import DeviceError, DeviceMemoryError

SHAPE = (17, 19, 23)
SEED, BRANCH, FAINT, OUTSIDE = (8, 9, 11), (6, 2, 4), (12, 15, 18), (6, 16, 4)
BOXES = [
    np.s_[0:3, 4:9, 2:23],
    np.s_[5:6, 0:19, 22:99],
    np.s_[3, 4, 5],
    np.s_[:, 7:7, 1:2],
]


def vessel(seed=0):
    """Noise with a vessel, a branch and a faint spot."""
    volume = np.random.default_rng(seed).normal(100, 10, SHAPE)
    volume[:, 7:11, 9:13] += 80
    volume[5:8, :, 3:6] += 50
    volume[11:14, 14:17, 17:20] += 25
    return volume.astype(np.int16)


@pytest.fixture
def on_cuda(cpu_cuda, monkeypatch):
    """The emulated device, which "cuda" and "auto" name."""
    monkeypatch.setattr(
        contrast_model, "choose_device", lambda word: "cpu" if word == "cpu" else cpu_cuda
    )
    return cpu_cuda


CLICKS = [
    ([SEED], []),
    ([SEED, BRANCH], []),
    ([SEED, BRANCH, FAINT], []),
    ([SEED, BRANCH, FAINT], [OUTSIDE]),
    ([SEED], [OUTSIDE]),
]


def clicked(positive, negative=(), volume=None, **options):
    volume = vessel() if volume is None else volume
    negative = negative or None
    return segment(volume, positive, background_seeds=negative, **{"device": "cuda", **options})


@pytest.mark.parametrize("border", ["drawn", "half"])
def test_clicks_with_cached_maps_give_what_they_give_alone(on_cuda, border):
    kept = CachedConnectedness()
    for positive, negative in CLICKS:
        ours = clicked(positive, negative, cached=kept, border=border)
        alone = clicked(positive, negative, border=border)
        on_cpu = clicked(positive, negative, border=border, device="cpu")
        np.testing.assert_array_equal(ours.scene.values, alone.scene.values)
        np.testing.assert_array_equal(ours.labels, on_cpu.labels)
        np.testing.assert_array_equal(ours.scene.values, on_cpu.scene.values)
    assert kept.reused


@pytest.mark.parametrize("error", [DeviceMemoryError, DeviceError])
def test_a_further_click_that_fails_on_the_device(on_cuda, monkeypatch, error):
    kept = CachedConnectedness()
    clicked([SEED], cached=kept)

    def fail(*_arguments, **_options):
        raise error("the card is full")

    with monkeypatch.context() as patch:
        patch.setattr(widest_paths, "widest_paths_on_device", fail)
        with pytest.raises(error):
            clicked([SEED, BRANCH], cached=kept)
        assert kept._map is None
        with pytest.warns(UserWarning, match="the card is full"):
            found = clicked([SEED, BRANCH], cached=kept, device="auto")
        assert found.scene.device == "cpu"
    np.testing.assert_array_equal(found.labels, clicked([SEED, BRANCH], device="cpu").labels)
    again = clicked([SEED, BRANCH], cached=kept)
    np.testing.assert_array_equal(again.labels, found.labels)


@pytest.mark.parametrize("change", ["volume", "mask", "spacing", "device", "seed"])
def test_any_change_but_of_further_clicks_finds_it_anew(on_cuda, change):
    kept, volume = CachedConnectedness(), vessel()
    clicked([SEED], cached=kept, volume=volume)
    same = dict(volume=volume.copy(), spacing=(1, 1, 1))
    clicked([SEED, BRANCH], cached=kept, **same)
    assert kept.reused
    options, seeds = dict(same), [SEED]
    if change == "volume":
        options["volume"][16, 18, 22] += 1
    elif change == "mask":
        options["mask"] = np.ones(SHAPE, np.uint8)
    elif change == "spacing":
        options["spacing"] = (1, 1, 2)
    elif change == "device":
        kept._map.gpu = SimpleNamespace(name="another card")
    else:
        clicked([(0, 0, 0)], cached=kept, **options)
        assert kept.reused  # the volume holds one tissue
        kept._map.tissue.alone = False
        seeds = [BRANCH]
    clicked(seeds, cached=kept, **options)
    assert not kept.reused


def check_reading(gpu):
    values = np.random.default_rng(1).normal(0, 3, SHAPE).astype(np.float32)
    volume = DeviceVolume(gpu.put(values), gpu)
    for _before_and_after_all_were_copied in range(2):
        for box in BOXES:
            np.testing.assert_array_equal(volume[box], values[box])
        assert volume[3, 4, 5] == volume[tuple(np.array([3, 4, 5]))] == values[3, 4, 5]
        np.testing.assert_array_equal(volume, values)
    assert (volume.shape, volume.size, volume.dtype) == (values.shape, values.size, values.dtype)


@pytest.mark.gpu
def test_cached_maps_on_a_gpu():
    kept = CachedConnectedness()
    for positive, negative in CLICKS:
        ours = clicked(positive, negative, cached=kept)
        np.testing.assert_array_equal(ours.labels, clicked(positive, negative).labels)
        on_cpu = clicked(positive, negative, device="cpu")
        np.testing.assert_array_equal(ours.labels, on_cpu.labels)
        assert ours.scene.device != "cpu"
    assert kept._map.gpu is not None


@pytest.mark.gpu
def test_reading_on_a_gpu(gpu):
    check_reading(gpu)
