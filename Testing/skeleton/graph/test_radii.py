"""Radii: distances to the nearest voxel outside; those of the device are the CPU's bit for bit."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib.graph import cuda_radii, radii
from support.random_solids import random_solid
from support.solids import tapered_y

SPACINGS = [(1.0, 1.0, 1.0), (0.7, 0.7, 0.7), (2.5, 0.683594, 0.683594), (0.4, 3.0, 1.1)]


def solids(count, seed=0):
    """Random solids, some of which touch the border of their array, and two awkward volumes."""
    rng = np.random.default_rng(seed)
    masks = [np.pad(random_solid(rng, 24), int(n % 3 > 0)) for n in range(count)]
    wide = np.pad(rng.random((2, 3, 75)) < 0.98, 1)
    return [mask.view(np.uint8) for mask in (*masks, wide, np.ones((4, 5, 6), bool))]


def assert_same_bits(ours, theirs):
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours.view(f"u{ours.itemsize}"), theirs.view(f"u{ours.itemsize}"))


def points_in(mask, rng, count):
    voxels = np.argwhere(mask)
    return voxels[rng.integers(0, len(voxels), count)] + rng.uniform(-0.5, 0.5, (count, 3))


def points_in_array(mask, rng):
    """Points of curves in a solid, and anywhere in the array; some between voxels."""
    voxels = np.argwhere(mask)
    walk = voxels[len(voxels) // 2] + np.cumsum(rng.normal(0, 0.3, (70, 3)), axis=0)
    walk = np.clip(walk, -0.5, np.array(mask.shape) - 0.5)
    between = np.argwhere(mask)[::7] + rng.integers(-1, 2, (len(voxels[::7]), 3)) / 2
    return np.concatenate([points_in(mask, rng, 40), walk, between])


@pytest.mark.parametrize("spacing", SPACINGS)
def test_radii_are_distances_to_the_nearest_voxel_outside(spacing):
    rng = np.random.default_rng(3)
    for mask in solids(8, seed=3):
        points = points_in_array(mask, rng)
        outside = np.argwhere(np.pad(mask, 1) == 0) - 1
        tree = cKDTree(outside * np.array(spacing))
        expected, _ = tree.query(points * np.array(spacing))
        np.testing.assert_allclose(
            radii.radius_at(points, mask, spacing, Progress()), expected, rtol=1e-12
        )


@pytest.mark.parametrize("spacing", SPACINGS)
def test_radii_on_the_device_are_the_same(cpu_cuda, spacing):
    rng = np.random.default_rng(4)
    for mask in solids(6, seed=4):
        points = points_in_array(mask, rng)
        on_device = cuda_radii.radius_at(points, cpu_cuda.put(mask), spacing, cpu_cuda, Progress())
        assert_same_bits(on_device, radii.radius_at(points, mask, spacing, Progress()))


def test_radii_of_many_points_are_found_in_parts_between_which_a_run_is_cancelled(
    cpu_cuda, monkeypatch
):
    monkeypatch.setattr(cuda_radii, "MAX_POINTS_PER_LAUNCH", 10)
    mask, looks = solids(1, seed=4)[0], []
    points = points_in(mask, np.random.default_rng(4), 35)
    device = points, cpu_cuda.put(mask), SPACINGS[1], cpu_cuda
    on_device = cuda_radii.radius_at(*device, Progress(looks.append))
    assert len(looks) == 4
    assert_same_bits(on_device, radii.radius_at(points, mask, SPACINGS[1], Progress()))

    cancelled = Progress(lambda share: False)
    with pytest.raises(Cancelled):
        cuda_radii.radius_at(*device, cancelled)
    with pytest.raises(Cancelled):
        radii.radius_at(points, mask, SPACINGS[1], cancelled)


def test_a_launch_has_fewer_points_where_an_object_may_be_thicker(cpu_cuda, monkeypatch):
    monkeypatch.setattr(cuda_radii, "MAX_ROWS_PER_LAUNCH", 2000)

    def launches(side):
        mask, looks = cpu_cuda.put(np.ones((side, side, side), np.uint8)), []
        points = np.full((60, 3), 2.0)
        cuda_radii.radius_at(points, mask, (1, 1, 1), cpu_cuda, Progress(looks.append))
        return len(looks)

    assert launches(5) < launches(10) < launches(100) == 60


def test_there_may_be_no_points(cpu_cuda):
    mask = np.ones((3, 4, 5), np.uint8)
    assert radii.radius_at(np.zeros((0, 3)), mask, SPACINGS[1], Progress()).shape == (0,)
    empty = np.zeros((0, 3)), cpu_cuda.put(mask), SPACINGS[1], cpu_cuda
    on_device = cuda_radii.radius_at(*empty, Progress())
    assert on_device.shape == (0,)


@pytest.mark.gpu
@pytest.mark.parametrize("spacing", SPACINGS[1:3])
def test_a_real_device_gives_the_same(gpu, spacing):
    mask = np.pad(np.kron(tapered_y()[0], np.ones((2, 2, 2), bool)), 1)
    points = points_in(mask, np.random.default_rng(4), 3000)
    ours = cuda_radii.radius_at(points, gpu.put(mask), spacing, gpu, Progress())
    assert_same_bits(ours, radii.radius_at(points, mask, spacing, Progress()))
