"""Distances to the outside, and radii: those of the card are those of the CPU, bit for bit."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import cKDTree

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance import cuda_euclidean, cuda_ridge, euclidean, ridge
from PotentialSkeletonLib.field import charge_distance
from PotentialSkeletonLib.field.charge_distance import automatic_charge_distance
from PotentialSkeletonLib.graph import cuda_radii as radii_on_cuda
from PotentialSkeletonLib.graph import radii
from support.solid_shapes import ball, wavy_tube
from support.solids import tapered_y
from trust.random_solids import random_solid

SPACINGS = [(1.0, 1.0, 1.0), (0.7, 0.7, 0.7), (2.5, 0.683594, 0.683594), (0.4, 3.0, 1.1)]


@pytest.fixture
def all_by_passes(monkeypatch):
    """Small volumes too are worked on by the CPU's own passes, and not by SciPy."""
    monkeypatch.setattr(euclidean, "SCIPY_THRESHOLD", 0)


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


@pytest.mark.parametrize("spacing", SPACINGS)
def test_distances_on_the_card_are_the_same(cpu_cuda, all_by_passes, spacing):
    for mask in solids(12):
        on_card = cuda_euclidean.distance_to_outside(cpu_cuda.put(mask), spacing, cpu_cuda)
        assert_same_bits(cpu_cuda.get(on_card), euclidean.distance_to_outside(mask, spacing))


def test_distances_are_the_same_in_many_launches(cpu_cuda, all_by_passes, monkeypatch):
    monkeypatch.setattr(cuda_euclidean, "VOXELS_PER_LAUNCH", 1000)
    mask = np.pad(wavy_tube((24, 18, 40)), 1).view(np.uint8)
    calls = []
    on_card = cuda_euclidean.distance_to_outside(
        cpu_cuda.put(mask), SPACINGS[2], cpu_cuda, Progress(calls.append)
    )
    assert len(calls) > 20
    assert_same_bits(cpu_cuda.get(on_card), euclidean.distance_to_outside(mask, SPACINGS[2]))


def test_threads_of_the_distances_do_not_race(interleaved_cuda, all_by_passes):
    mask = np.pad(wavy_tube((9, 8, 40)), 1).view(np.uint8)
    on_card = cuda_euclidean.distance_to_outside(
        interleaved_cuda.put(mask), SPACINGS[2], interleaved_cuda
    )
    assert_same_bits(
        interleaved_cuda.get(on_card), euclidean.distance_to_outside(mask, SPACINGS[2])
    )
    depths = cuda_ridge.ridge_depths(on_card, interleaved_cuda)
    assert_same_bits(np.sort(depths), np.sort(ridge.ridge_depths(on_card)))


def test_the_removal_order_is_the_same(cpu_cuda):
    for mask in solids(6, seed=2):
        depth = euclidean.distance_to_outside(mask, SPACINGS[2])
        for voxels in (np.flatnonzero(mask), np.arange(mask.size), np.empty(0, int)):
            on_card = cuda_ridge.removal_order(cpu_cuda.put(depth), voxels, cpu_cuda)
            assert_same_bits(on_card, ridge.removal_order(depth, voxels))


def test_small_volumes_are_left_to_the_cpu(cpu_cuda):
    small = [mask for mask in solids(12, seed=1) if mask.size < euclidean.SCIPY_THRESHOLD]
    assert small
    for mask in small:
        on_card = cuda_euclidean.distance_to_outside(cpu_cuda.put(mask), SPACINGS[1], cpu_cuda)
        assert_same_bits(cpu_cuda.get(on_card), euclidean.distance_to_outside(mask, SPACINGS[1]))


@pytest.mark.parametrize("room", [1, 1 << 16])
def test_ridges_and_charge_distances_are_the_same(cpu_cuda, all_by_passes, monkeypatch, room):
    monkeypatch.setattr(cuda_ridge, "FIRST_CAPACITY", room)
    found = set()
    balls = [ball(radius).view(np.uint8) for radius in (4, 5, 6)]
    for mask in [*balls, *solids(5, seed=2)[:-1]]:
        for spacing in SPACINGS[1:3]:
            depth = euclidean.distance_to_outside(mask, spacing)
            on_card = cpu_cuda.put(depth)
            depths = cuda_ridge.ridge_depths(on_card, cpu_cuda)
            assert_same_bits(np.sort(depths), np.sort(ridge.ridge_depths(depth)))
            if len(depths):
                charges = automatic_charge_distance(
                    cpu_cuda.put(mask), on_card, spacing, gpu=cpu_cuda
                )
                assert charges == automatic_charge_distance(mask, depth, spacing)
                found.add(charges)
    assert found == {0, 1, 2}


def test_the_order_of_ridge_depths_does_not_matter():
    rng = np.random.default_rng(0)
    for count in (1, 2, 7, 100, 1001):
        depths = np.sqrt(rng.integers(1, 60, count)).astype(np.float32)
        wanted = np.percentile(depths, charge_distance.THIN_PERCENTAGE)
        for _ in range(5):
            assert np.percentile(rng.permutation(depths), charge_distance.THIN_PERCENTAGE) == wanted


@pytest.mark.parametrize("many", [0, 1 << 30])
def test_the_removal_order_is_half_depth_and_half_mean(monkeypatch, many):
    monkeypatch.setattr(ridge, "PARALLEL_THRESHOLD", many)
    rng = np.random.default_rng(0)
    for mask in solids(3):
        depth = euclidean.distance_to_outside(mask, SPACINGS[2])
        expected = (depth + ndimage.uniform_filter(depth, 3, mode="constant")) / 2
        at_border = np.pad(np.zeros(np.subtract(depth.shape, 2), bool), 1, constant_values=True)
        expected[(depth == 0) | at_border] = 0
        voxels = rng.permutation(depth.size)[: depth.size // 2]
        found = ridge.removal_order(depth, voxels)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected.reshape(-1)[voxels], rtol=1e-5)


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
        np.testing.assert_allclose(radii.radius_at(points, mask, spacing), expected, rtol=1e-12)


@pytest.mark.parametrize("spacing", SPACINGS)
def test_radii_on_the_card_are_the_same(cpu_cuda, spacing):
    rng = np.random.default_rng(4)
    for mask in solids(6, seed=4):
        points = points_in_array(mask, rng)
        on_card = radii_on_cuda.radius_at(points, cpu_cuda.put(mask), spacing, cpu_cuda)
        assert_same_bits(on_card, radii.radius_at(points, mask, spacing))


def test_radii_of_many_points_are_found_in_parts_between_which_a_run_is_cancelled(
    cpu_cuda, monkeypatch
):
    monkeypatch.setattr(radii_on_cuda, "POINTS_A_LAUNCH", 10)
    mask, looks = solids(1, seed=4)[0], []
    points = points_in(mask, np.random.default_rng(4), 35)
    there = points, cpu_cuda.put(mask), SPACINGS[1], cpu_cuda
    on_card = radii_on_cuda.radius_at(*there, report=lambda: looks.append(1))
    assert len(looks) == 4
    assert_same_bits(on_card, radii.radius_at(points, mask, SPACINGS[1]))

    def cancel():
        raise Cancelled

    with pytest.raises(Cancelled):
        radii_on_cuda.radius_at(*there, report=cancel)
    with pytest.raises(Cancelled):
        radii.radius_at(points, mask, SPACINGS[1], cancel)


def test_a_launch_has_fewer_points_where_an_object_may_be_thicker(cpu_cuda, monkeypatch):
    monkeypatch.setattr(radii_on_cuda, "ROWS_A_LAUNCH", 2000)

    def launches(side):
        mask, looks = cpu_cuda.put(np.ones((side, side, side), np.uint8)), []
        points = np.full((60, 3), 2.0)
        radii_on_cuda.radius_at(points, mask, (1, 1, 1), cpu_cuda, lambda: looks.append(1))
        return len(looks)

    assert launches(5) < launches(10) < launches(100) == 60


def test_there_may_be_no_points(cpu_cuda):
    mask = np.ones((3, 4, 5), np.uint8)
    assert radii.radius_at(np.zeros((0, 3)), mask, SPACINGS[1]).shape == (0,)
    on_card = radii_on_cuda.radius_at(np.zeros((0, 3)), cpu_cuda.put(mask), SPACINGS[1], cpu_cuda)
    assert on_card.shape == (0,)


@pytest.mark.gpu
@pytest.mark.parametrize("spacing", SPACINGS[1:3])
def test_a_real_card_gives_the_same(gpu, spacing):
    mask = np.pad(np.kron(tapered_y()[0], np.ones((2, 2, 2), bool)), 1)
    on_card = gpu.put(mask)
    depth = cuda_euclidean.distance_to_outside(on_card, spacing, gpu)
    expected = euclidean.distance_to_outside(mask.view(np.uint8), spacing)
    assert_same_bits(gpu.get(depth), expected)
    depths = cuda_ridge.ridge_depths(depth, gpu)
    assert_same_bits(np.sort(depths), np.sort(ridge.ridge_depths(expected)))
    assert automatic_charge_distance(on_card, depth, spacing, gpu=gpu) == automatic_charge_distance(
        mask.view(np.uint8), expected, spacing
    )
    points = points_in(mask, np.random.default_rng(4), 3000)
    ours = radii_on_cuda.radius_at(points, on_card, spacing, gpu)
    assert_same_bits(ours, radii.radius_at(points, mask, spacing))
