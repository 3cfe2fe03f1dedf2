"""Contrast maps on CUDA, on the CPU and on a real GPU: their bits, and how clicks reuse them."""

from types import SimpleNamespace

import numpy as np
import pytest

from FuzzyConnectedGPULib import ContrastMapCache, segment
from FuzzyConnectedGPULib.contrast.click_scene import click_scene
from FuzzyConnectedGPULib.contrast.contrast_map import DeviceVolume, contrast_map
from FuzzyVesselCoreLib.errors import DeviceError, DeviceMemoryError
from FuzzyVesselCoreLib.gpu import device

SHAPE = (17, 19, 23)
SEED, BRANCH, FAINT, OUTSIDE = (8, 9, 11), (6, 2, 4), (12, 15, 18), (6, 16, 4)
NOISE = 10.0
SPACINGS = [(1.0, 1.0, 1.0), (2.5, 0.7, 0.7), (0.8, 0.8, 5.0)]


def vessel(kind=np.int16, shape=SHAPE, sign=1, base=100, seed=0):
    """Noise with a vessel along K, a branch, and a faint spot."""
    volume = np.random.default_rng(seed).normal(base, NOISE, shape)
    volume[:, 7:11, 9:13] += 8 * NOISE * sign
    volume[5:8, :, 3:6] += 5 * NOISE * sign
    volume[11:14, 14:17, 17:20] += 2.5 * NOISE * sign
    return volume.clip(0, 255).astype(kind)


def ball_mask(shape=SHAPE):
    """A ball round the middle; some voxels in it are left out."""
    axes = np.ogrid[tuple(slice(0, n) for n in shape)]
    squared = sum((x - (n - 1) / 2) ** 2 for x, n in zip(axes, shape))
    mask = (squared < 49) & (np.random.default_rng(3).random(shape) < 0.95)
    mask[tuple(n // 2 for n in shape)] = True
    return mask.astype(np.uint8)


def same_bits(ours, theirs):
    np.testing.assert_array_equal(np.asarray(ours).view("u4"), np.asarray(theirs).view("u4"))


def assert_same_map(ours, theirs):
    """Bit for bit."""
    assert (ours.polarity, ours.box) == (theirs.polarity, theirs.box)
    np.testing.assert_array_equal(ours.spacing, theirs.spacing)
    assert ours.noise == theirs.noise
    same_bits(ours.contrast, theirs.contrast)
    same_bits(ours.smooth, theirs.smooth)
    same_bits(ours.difference[0], theirs.difference[0])
    assert ours.difference[1] == theirs.difference[1]


def check_map(gpu, volume, spacing, mask=None):
    ours = contrast_map(volume, spacing, SEED, mask, gpu=gpu)
    assert_same_map(ours, contrast_map(volume, spacing, SEED, mask))
    assert ours.contrast.dtype == ours.smooth.dtype == np.float32
    return ours


# ---- maps


@pytest.mark.parametrize("spacing", SPACINGS)
def test_a_map_is_that_of_the_cpu(cpu_cuda, spacing):
    check_map(cpu_cuda, vessel(), spacing)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32, np.float32, np.float64])
def test_maps_of_all_voxel_types(cpu_cuda, kind):
    check_map(cpu_cuda, vessel(kind), SPACINGS[0])


def test_scene_among_several_tissues_is_that_of_the_cpu(cpu_cuda):
    shape = (20, 36, 64)
    volume = np.random.default_rng(2).normal(50, NOISE, shape)
    volume[:, :, :30] -= 1000  # air
    volume[:, 16:20, 46:50] += 12 * NOISE
    volume[8:12, 20:24, 46:50] += 12 * NOISE
    volume[:, 28:34, 44:54] = 900  # bone
    volume = volume.astype(np.int16)
    seed = (3, 18, 48)
    ours = contrast_map(volume, SPACINGS[0], seed, gpu=cpu_cuda)
    theirs = contrast_map(volume, SPACINGS[0], seed)
    assert_same_map(ours, theirs)
    assert 200 < ours.competing_above([seed]) == theirs.competing_above([seed]) < 900
    clicks = np.array([seed]), np.empty((0, 3), int)
    one, other = (click_scene(mapped, *clicks) for mapped in (ours, theirs))
    np.testing.assert_array_equal(one[0], other[0])
    assert other[0][3, 30, 49] < 0.5 <= other[0][5, 18, 48]


# ---- a map that is cached between clicks: on the device, within its memory, never outdated


@pytest.fixture
def on_cuda(cpu_cuda, monkeypatch):
    """The emulated device, which "cuda" and "auto" name."""
    monkeypatch.setattr(device, "choose_device", lambda word: word if word == "cpu" else cpu_cuda)
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
    kept = ContrastMapCache()
    for positive, negative in CLICKS:
        ours = clicked(positive, negative, cached=kept, border=border)
        alone = clicked(positive, negative, border=border)
        on_cpu = clicked(positive, negative, border=border, device="cpu")
        np.testing.assert_array_equal(ours.scene.values, alone.scene.values)
        np.testing.assert_array_equal(ours.labels, on_cpu.labels)
        np.testing.assert_array_equal(ours.scene.values, on_cpu.scene.values)
    assert kept.reused
    assert_same_map(kept._map, kept._map.to_host())
    kept.free_device_memory()
    clicked([SEED], cached=kept)
    assert not kept.reused


@pytest.mark.parametrize("error", [DeviceMemoryError, DeviceError])
def test_a_further_click_that_fails_on_the_device(on_cuda, monkeypatch, error):
    kept = ContrastMapCache()
    clicked([SEED], cached=kept)

    def fail(*_arguments, **_options):
        raise error("the card is full")

    name = "FuzzyConnectedGPULib.contrast.widest_paths.widest_paths_on_device"
    with monkeypatch.context() as patch:
        patch.setattr(name, fail)
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
    kept, volume = ContrastMapCache(), vessel()
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
        kept._map._tissue.is_that_of_all_clicks = False
        seeds = [BRANCH]
    clicked(seeds, cached=kept, **options)
    assert not kept.reused


# ---- on a real GPU


@pytest.mark.gpu
@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.float32])
def test_maps_on_a_gpu(gpu, kind, spacing):
    check_map(gpu, vessel(kind), spacing)
    check_map(gpu, vessel(kind, (70, 90, 131), -1), spacing)
    check_map(gpu, vessel(kind), spacing, ball_mask())


@pytest.mark.gpu
def test_cached_maps_on_a_gpu():
    kept = ContrastMapCache()
    for positive, negative in CLICKS:
        ours = clicked(positive, negative, cached=kept)
        np.testing.assert_array_equal(ours.labels, clicked(positive, negative).labels)
        on_cpu = clicked(positive, negative, device="cpu")
        np.testing.assert_array_equal(ours.labels, on_cpu.labels)
        assert ours.scene.device != "cpu"
    assert kept._map.gpu is not None


BOXES = [
    np.s_[0:3, 4:9, 2:23],
    np.s_[5:6, 0:19, 22:99],
    np.s_[3, 4, 5],
    np.s_[:, 7:7, 1:2],
]


@pytest.mark.gpu
def test_reading_on_a_gpu(gpu):
    values = np.random.default_rng(1).normal(0, 3, SHAPE).astype(np.float32)
    volume = DeviceVolume(gpu.put(values), gpu)
    for _before_and_after_all_were_copied in range(2):
        for box in BOXES:
            np.testing.assert_array_equal(volume[box], values[box])
        assert volume[3, 4, 5] == volume[tuple(np.array([3, 4, 5]))] == values[3, 4, 5]
        np.testing.assert_array_equal(volume, values)
    assert (volume.shape, volume.size, volume.dtype) == (values.shape, values.size, values.dtype)
