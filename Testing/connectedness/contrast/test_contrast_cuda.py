"""Contrast maps and widest paths on CUDA: the kernels on the CPU, and on a real GPU."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyConnectedGPULib.contrast.click_scene import click_scene
from FuzzyConnectedGPULib.contrast.clicks import Clicks
from FuzzyConnectedGPULib.contrast.contrast_map import contrast_map
from support.path_levels import path_levels

SHAPE, SEED = (17, 19, 23), (8, 9, 11)
NOISE = 10.0
SPACINGS = [(1.0, 1.0, 1.0), (2.5, 0.7, 0.7), (0.8, 0.8, 5.0)]


def vessel(kind=np.int16, shape=SHAPE, sign=1, base=100, seed=0):
    """Noise with a vessel along K, and a branch."""
    volume = np.random.default_rng(seed).normal(base, NOISE, shape)
    volume[:, 7:11, 9:13] += 8 * NOISE * sign
    volume[5:8, :, 3:6] += 5 * NOISE * sign
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


def assert_same_evidence(ours, theirs):
    """Bit for bit."""
    assert ours.polarity == theirs.polarity
    assert ours.box == theirs.box
    np.testing.assert_array_equal(ours.unit, theirs.unit)
    assert ours.noise == theirs.noise
    same_bits(ours.contrast, theirs.contrast)
    same_bits(ours.smooth, theirs.smooth)
    for one, other in (
        (ours.wide_contrast, theirs.wide_contrast),
        (ours.difference, theirs.difference),
    ):
        same_bits(one[0], other[0])
        assert one[1] == other[1]


def check_evidence(gpu, volume, spacing, mask=None):
    ours = contrast_map(volume, spacing, SEED, mask, gpu=gpu)
    assert_same_evidence(ours, contrast_map(volume, spacing, SEED, mask))
    assert ours.contrast.dtype == ours.smooth.dtype == np.float32
    return ours


# ---- evidence


@pytest.mark.parametrize("spacing", SPACINGS)
def test_evidence_is_that_of_the_cpu(cpu_cuda, spacing):
    check_evidence(cpu_cuda, vessel(), spacing)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32, np.float32, np.float64])
def test_evidence_of_all_voxel_types(cpu_cuda, kind):
    check_evidence(cpu_cuda, vessel(kind), SPACINGS[0])


def scene_of(evidence, positive, negative=()):
    """Connectedness and threshold of clicks."""
    clicks = Clicks(np.array(positive), np.array(negative).reshape(-1, 3).astype(int))
    return click_scene(evidence, clicks)[:2]


def test_scene_of_clicks_is_that_of_the_cpu(cpu_cuda):
    volume, clicks = vessel(), [SEED, (6, 2, 4)]
    ours = scene_of(contrast_map(volume, SPACINGS[0], SEED, gpu=cpu_cuda), clicks, [(3, 3, 3)])
    theirs = scene_of(contrast_map(volume, SPACINGS[0], SEED), clicks, [(3, 3, 3)])
    np.testing.assert_array_equal(ours[0], theirs[0])
    assert ours[1] == theirs[1]


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
    assert_same_evidence(ours, theirs)
    brighter = theirs.brighter_objects([seed])
    assert 200 < brighter < 900
    assert ours.brighter_objects([seed]) == brighter
    one, other = (scene_of(evidence, [seed]) for evidence in (ours, theirs))
    np.testing.assert_array_equal(one[0], other[0])
    assert other[0][3, 30, 49] < 0.5 <= other[0][5, 18, 48]


# ---- widest paths


def contrasts(shape, seed, smoothing=1.0):
    volume = np.random.default_rng(seed).normal(0, 1, shape)
    volume = ndimage.gaussian_filter(volume, smoothing)
    return (40 * volume / volume.std()).astype(np.float32)


def some_starts(contrast, seed, count):
    """The highest voxel, and others."""
    random = np.random.default_rng(seed)
    highest = np.unravel_index(contrast.argmax(), contrast.shape)
    others = [tuple(random.integers(0, n) for n in contrast.shape) for _ in range(count - 1)]
    return [tuple(int(c) for c in start) for start in (highest, *others)]


def check_paths(gpu, contrast, mask, starts, unit, floor, competing=None):
    wanted = path_levels(contrast, mask, starts, unit, floor, competing)
    found = path_levels(contrast, mask, starts, unit, floor, competing, gpu)
    np.testing.assert_array_equal(found, wanted)
    return wanted


@pytest.mark.parametrize("floor", [1, 100, 128])
@pytest.mark.parametrize("seed", range(4))
def test_widest_paths_are_those_of_the_cpu(cpu_cuda, seed, floor):
    contrast = contrasts(SHAPE, seed, [0.0, 0.7, 1.5][seed % 3])
    mask = None
    if seed % 2:
        mask = (np.random.default_rng(seed).random(SHAPE) < 0.8).astype(np.uint8)
    unit = [20.0, 7.3, 100 / 3][seed // 2]
    check_paths(cpu_cuda, contrast, mask, some_starts(contrast, seed, 1 + seed), unit, floor)


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 8, 8), (8, 8, 8), (9, 16, 7), (17, 1, 33), (3, 2, 50), (24, 25, 26)]
)
def test_widest_paths_in_sizes_around_the_tile(cpu_cuda, shape):
    contrast = contrasts(shape, 1, 0.0) if np.prod(shape) > 1 else np.full(shape, 9, np.float32)
    check_paths(cpu_cuda, contrast, None, some_starts(contrast, 1, 2), 10.0, 50)


def some_competing(contrast, seed, share):
    return np.flatnonzero(np.random.default_rng(seed).random(contrast.size) < share)


@pytest.mark.parametrize("share", [0.001, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_what_rivals_reach_first_is_theirs(cpu_cuda, seed, share):
    contrast = contrasts(SHAPE, seed, [0.0, 0.7, 1.5][seed % 3])
    mask = None
    if seed % 2:
        mask = (np.random.default_rng(seed).random(SHAPE) < 0.8).astype(np.uint8)
        contrast = np.round(contrast / 20) * 20  # many equal levels
    starts, competing = some_starts(contrast, seed, 3), some_competing(contrast, seed, share)
    if mask is not None:
        mask[starts[0]] = 1
    unit, floor = [20.0, 7.3, 0.1][seed // 2], [1, 128][seed % 2]
    alone = path_levels(contrast, mask, starts, unit, floor)
    left = check_paths(cpu_cuda, contrast, mask, starts, unit, floor, competing)
    assert 0 < (left > 0).sum() <= (alone > 0).sum()


# ---- on a real GPU


@pytest.mark.gpu
@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.float32])
def test_evidence_on_a_gpu(gpu, kind, spacing):
    check_evidence(gpu, vessel(kind), spacing)
    check_evidence(gpu, vessel(kind, (70, 90, 131), -1), spacing)
    check_evidence(gpu, vessel(kind), spacing, ball_mask())


@pytest.mark.gpu
@pytest.mark.parametrize("floor", [1, 128])
@pytest.mark.parametrize("smoothing", [0.0, 0.7, 2.0])
def test_widest_paths_on_a_gpu(gpu, smoothing, floor):
    for seed, shape in enumerate([SHAPE, (8, 8, 8), (1, 50, 33), (90, 130, 101)]):
        contrast = contrasts(shape, seed, smoothing)
        mask = (np.random.default_rng(seed).random(shape) < 0.9).astype(np.uint8)
        starts = some_starts(contrast, seed, 4)
        place = contrast, mask if seed % 2 else None, starts, 30.0, floor
        check_paths(gpu, *place)
        check_paths(gpu, *place, some_competing(contrast, seed, 0.001))


@pytest.mark.gpu
def test_paths_and_levels_on_a_gpu(gpu):
    test_scene_of_clicks_is_that_of_the_cpu(gpu)
