"""Components, sizes, boxes, cavities and Euler characteristics on CUDA are those of the CPU."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled, DeviceMemoryError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box
from FuzzyVesselCoreLib.voxels.components import cuda_labels, packed_mask
from FuzzyVesselCoreLib.voxels.components.labels import (
    component_sizes,
    fill_cavities,
    label_components,
)
from FuzzyVesselCoreLib.voxels.topology.euler import euler_characteristic
from support.random_solids import random_solid
from support.solid_shapes import ball, box_corner, two_components
from support.solids import ring

CANCEL = Progress(lambda share: False)


def assert_like_host(mask, gpu):
    """All functions on one mask; the two counts of components, over corners and over faces."""
    on_device = gpu.put(mask.view(np.uint8))
    counts = [assert_same_components(mask, on_device, corners, gpu) for corners in (True, False)]
    assert_same_cavities(mask, on_device, gpu)
    assert cuda_labels.euler_characteristic(on_device, gpu) == euler_characteristic(mask)
    assert cuda_labels.bounding_box(on_device, gpu) == (bounding_box(mask), np.count_nonzero(mask))
    return counts


def assert_same_components(mask, on_device, corners, gpu):
    expected, count = label_components(mask, 26 if corners else 6)
    labels, found = cuda_labels.label_components(on_device, gpu, 26 if corners else 6)
    assert found == count
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(gpu.get(labels), expected)
    sizes = cuda_labels.component_sizes(labels, count, gpu)
    assert sizes.dtype == np.int64
    np.testing.assert_array_equal(sizes, component_sizes(expected, count))
    assert cuda_labels.component_boxes(labels, count, gpu) == ndimage.find_objects(expected)
    return count


def assert_same_cavities(mask, on_device, gpu):
    filled, *cavities = cuda_labels.fill_cavities(on_device, gpu)
    expected, *expected_cavities = fill_cavities(mask)
    assert cavities == expected_cavities
    assert filled.dtype == np.uint8
    np.testing.assert_array_equal(gpu.get(filled).view(bool), expected)
    assert (filled is on_device) == (cavities[0] == 0)


def one_voxel(shape, place):
    mask = np.zeros(shape, bool)
    mask[place] = True
    return mask


def noise(shape, share, seed=0):
    return np.random.default_rng(seed).random(shape) < share


def spiral(side):
    """A line that winds from the border to the middle of a slice, between walls of one voxel."""
    mask = np.zeros((side, side), bool)
    at, step = np.array([0, -1]), np.array([0, 1])
    for length in (side, *np.repeat(np.arange(side - 1, 0, -2), 2)):
        for _ in range(length):
            at = at + step
            mask[tuple(at)] = True
        step = np.array([step[1], -step[0]])
    return mask


def shells():
    """Hollow cubes within each other, and a hollow that is open over an edge only."""
    mask = np.zeros((13, 13, 40), bool)
    for n in range(0, 6, 2):
        mask[n : 13 - n, n : 13 - n, n : 40 - n] = True
        mask[n + 1 : 12 - n, n + 1 : 12 - n, n + 1 : 39 - n] = False
    mask[0, 0, 20] = False
    return mask


SHAPES = {
    "empty": np.zeros((4, 5, 37), bool),
    "full": np.ones((4, 5, 67), bool),
    "full row of words": np.ones((3, 4, 64), bool),
    "first voxel": one_voxel((3, 4, 33), (0, 0, 0)),
    "last voxel": one_voxel((3, 4, 33), (2, 3, 32)),
    "one voxel volume": np.ones((1, 1, 1), bool),
    "row": noise((1, 1, 5), 0.5),
    "long row": noise((1, 1, 333), 0.6),
    "column": noise((300, 1, 1), 0.6),
    "slice along K": noise((7, 1, 9), 0.5),
    "slice": noise((1, 40, 70), 0.5),
    "spiral": np.repeat(spiral(41)[None], 2, axis=0),
    "spiral on its side": np.repeat(spiral(41)[:, :, None], 2, axis=2),
    "shells": shells(),
    "ball": ball(8),
    "hollow ball": ball(8) & ~np.pad(ball(4), 4),
    "box corner": box_corner(),
    "two components": two_components(),
    "ring": ring()[0],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_as_on_the_host(cpu_cuda, shape):
    assert_like_host(SHAPES[shape], cpu_cuda)


@pytest.mark.parametrize("share", [0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.98])
def test_noise_is_as_on_the_host(cpu_cuda, share):
    for seed, shape in enumerate([(9, 10, 11), (6, 7, 32), (5, 6, 100), (11, 12, 3)]):
        assert_like_host(noise(shape, share, seed), cpu_cuda)


@pytest.mark.parametrize("seed", range(6))
def test_random_solids_are_as_on_the_host(cpu_cuda, seed):
    assert_like_host(random_solid(np.random.default_rng(seed)), cpu_cuda)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_threads_that_give_way_do_not_change_the_components(interleaved_cuda, share):
    assert_like_host(noise((4, 5, 70), share), interleaved_cuda)


def test_many_components_over_many_blocks(cpu_cuda):
    mask = np.indices((44, 56, 56)).sum(axis=0) % 2 == 0
    count = assert_same_components(mask, cpu_cuda.put(mask.view(np.uint8)), False, cpu_cuda)
    assert count == mask.sum() > 65535


def test_runs_over_many_words(cpu_cuda):
    """Longer than the words in which a run's begin is looked for at first."""
    mask = np.ones((1, 3, 32 * 150), bool)
    mask[0, 0, 40 * 32 - 1] = mask[0, 1, ::2] = mask[0, 2, 4000] = False
    mask[0, 1, 4500:] = False
    assert assert_like_host(mask, cpu_cuda)[0] == 1
    assert assert_like_host(mask[:, :1].copy(), cpu_cuda) == [2, 2]


def test_any_value_but_zero_is_the_object(cpu_cuda):
    mask = noise((5, 6, 40), 0.8)
    values = np.where(mask, np.random.default_rng(1).integers(1, 256, mask.shape), 0)
    values = cpu_cuda.put(values.astype(np.uint8))
    assert_same_components(mask, values, True, cpu_cuda)
    assert_same_cavities(mask, values, cpu_cuda)
    assert cuda_labels.euler_characteristic(values, cpu_cuda) == euler_characteristic(mask)


def test_a_number_without_voxels_has_no_box(cpu_cuda):
    labels = np.zeros((3, 4, 50), np.int32)
    labels[1, 2, 3:40], labels[2, 2, 5] = 3, 1
    on_device = cpu_cuda.put(labels)
    assert cuda_labels.component_boxes(on_device, 4, cpu_cuda) == ndimage.find_objects(labels, 4)
    np.testing.assert_array_equal(
        cuda_labels.component_sizes(on_device, 4, cpu_cuda), component_sizes(labels, 4)
    )


@pytest.mark.parametrize("margin", [0, 1, 3])
def test_crops_have_empty_layers(cpu_cuda, margin):
    labels, count = label_components(noise((6, 7, 90), 0.06))
    on_device = cpu_cuda.put(labels)
    assert count > 20
    for number, box in enumerate(ndimage.find_objects(labels)[:20], start=1):
        expected = np.pad(labels[box] == number, margin)
        found = cuda_labels.crop(on_device, box, number, cpu_cuda, margin)
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, expected)
    whole = tuple(slice(0, n) for n in labels.shape)
    found = cuda_labels.crop(on_device != 0, whole, 1, cpu_cuda, margin)
    np.testing.assert_array_equal(found, np.pad(labels != 0, margin))


def test_a_small_volume_takes_few_launches(cpu_cuda):
    """Each costs some microseconds, and an object may have many small components."""
    mask = cpu_cuda.put(np.pad(ball(7), 1).view(np.uint8))
    cuda_labels.label_components(mask, cpu_cuda)
    assert cpu_cuda.launches == 6
    cuda_labels.fill_cavities(mask, cpu_cuda)
    cuda_labels.euler_characteristic(mask, cpu_cuda)
    cuda_labels.bounding_box(mask, cpu_cuda)
    assert cpu_cuda.launches == 6 + 4 + 2 + 2


def test_too_many_voxels_are_refused(cpu_cuda, monkeypatch):
    monkeypatch.setattr(packed_mask, "MAX_VOXELS", 59)
    mask = cpu_cuda.put(np.ones((3, 4, 5), np.uint8))
    for name in ("bounding_box", "fill_cavities", "euler_characteristic"):
        with pytest.raises(DeviceMemoryError, match="60 voxels, and 59 can be numbered"):
            getattr(cuda_labels, name)(mask, cpu_cuda)
    with pytest.raises(DeviceMemoryError, match="use device 'cpu'"):
        cuda_labels.label_components(mask, cpu_cuda)
    with pytest.raises(DeviceMemoryError, match="smaller region"):
        cuda_labels.component_sizes(mask.astype(np.int32), 1, cpu_cuda)


def test_runs_can_be_cancelled(cpu_cuda):
    mask = cpu_cuda.put(ball(4).view(np.uint8))
    with pytest.raises(Cancelled):
        cuda_labels.label_components(mask, cpu_cuda, progress=CANCEL)
    with pytest.raises(Cancelled):
        cuda_labels.fill_cavities(mask, cpu_cuda, CANCEL)


@pytest.mark.gpu
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.95])
def test_large_noise_on_a_gpu(gpu, share):
    shape = 150, 210, 333
    blurred = ndimage.gaussian_filter(np.random.default_rng(1).random(shape), 2)
    for mask in (noise(shape, share), blurred < np.quantile(blurred, share)):
        for _ in range(3):
            assert_like_host(mask, gpu)
