"""Distances to the outside: those of the device are those of the CPU, bit for bit."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib import threads
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance import cuda_euclidean, cuda_ridge, euclidean, ridge
from PotentialSkeletonLib.field import charge_distance
from PotentialSkeletonLib.field.charge_distance import automatic_charge_distance
from support.random_solids import random_solid
from support.solid_shapes import ball, wavy_tube
from support.solids import tapered_y

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
    monkeypatch.setattr(threads, "SMALL_VOLUME", many)
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
