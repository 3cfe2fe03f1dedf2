"""Cells and seeds found on CUDA are those of the CPU, bit for bit."""

from types import SimpleNamespace

import numpy as np
import pytest

from PotentialSkeletonLib import critical_points, force_field
from PotentialSkeletonLib.critical_points import cuda_divergence_seeds as on_cuda
from PotentialSkeletonLib.critical_points import cuda_voxel_list
from PotentialSkeletonLib.critical_points.critical_points import critical_points_in
from PotentialSkeletonLib.critical_points.cuda_sign_changes import cells_with_sign_changes
from PotentialSkeletonLib.critical_points.divergence_seeds import divergence_seeds
from PotentialSkeletonLib.critical_points.sign_changes import cells_of_planes
from PotentialSkeletonLib.object.voxel_classes import BOUNDARY, SURFACE
from support.solid_shapes import ball, box_corner, wavy_tube
from support.solids import ring

SHAPES = {"tube": wavy_tube((40, 22, 24)), "ring": ring()[0], "corner": box_corner()}


def field_of(mask):
    field = force_field(mask, device="cpu")
    return field.vectors, field.classes


def random_field(seed, shape=(9, 11, 70)):
    """Forces without any order, with voxels that have none and with numbers of all sizes."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(*shape, 3)).astype(np.float32)
    vectors *= (10.0 ** random.integers(-22, 19, (*shape, 1))).astype(np.float32)
    vectors[random.random(shape) < 0.02] = 0
    vectors[random.random((*shape, 3)) < 0.05] = 0
    classes = np.where(random.random(shape) < 0.95, random.integers(2, 4, shape), 1)
    return vectors, classes.astype(np.uint8)


def assert_same_cells(vectors, classes, lowest_class, gpu):
    cells, corners = cells_of_planes(vectors, classes, lowest_class, 0, len(vectors) - 1)
    found = cells_with_sign_changes(gpu.put(vectors), gpu.put(classes), lowest_class, gpu)
    np.testing.assert_array_equal(found[0], cells)
    np.testing.assert_array_equal(found[1].view(np.int32), corners.view(np.int32))
    assert [part.dtype for part in found] == [np.int64, np.float32]
    return found


def assert_same_seeds(vectors, share, gpu):
    seeds = divergence_seeds(vectors, share)
    np.testing.assert_array_equal(on_cuda.divergence_seeds(gpu.put(vectors), share, gpu), seeds)
    return seeds


@pytest.mark.parametrize("shape", SHAPES)
def test_cells_and_seeds_in_a_solid_are_the_same(cpu_cuda, shape):
    vectors, classes = field_of(SHAPES[shape])
    for lowest_class in (SURFACE, BOUNDARY):
        assert_same_cells(vectors, classes, lowest_class, cpu_cuda)
    for share in (5, 20.5, 100):
        assert len(assert_same_seeds(vectors, share, cpu_cuda)) > 0
    assert len(assert_same_seeds(vectors, 0, cpu_cuda)) == 0


@pytest.mark.parametrize("seed", range(4))
def test_cells_and_seeds_in_noise_are_the_same_in_a_list_of_any_capacity(
    cpu_cuda, seed, monkeypatch
):
    vectors, classes = random_field(seed)
    for capacity in (1, 4096):
        monkeypatch.setattr(cuda_voxel_list, "FIRST_CAPACITY", capacity)
        assert len(assert_same_cells(vectors, classes, BOUNDARY, cpu_cuda)[0]) > 1
        assert len(assert_same_seeds(vectors, 60, cpu_cuda)) > 1


def test_the_first_of_equal_minima_is_the_seed_and_all_of_equal_ranges_are_in_order(cpu_cuda):
    k, j, i = np.indices((12, 13, 14))
    wave = np.stack([np.sin(np.pi * n / 3) + 0.1 for n in (k, j, i)], axis=-1).astype(np.float32)
    assert len(assert_same_seeds(wave, 50, cpu_cuda)) > 1
    assert_same_seeds(np.ones((6, 6, 6, 3), np.float32), 10, cpu_cuda)


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 5, 5), (5, 1, 7), (3, 3, 3)])
def test_volumes_of_few_voxels_are_the_same(cpu_cuda, shape):
    vectors, classes = random_field(0, shape)
    assert_same_cells(vectors, classes, BOUNDARY, cpu_cuda)
    assert_same_seeds(np.abs(vectors) + 1, 50, cpu_cuda)
    assert_same_seeds(np.zeros_like(vectors), 50, cpu_cuda)


@pytest.mark.parametrize("everywhere", [False, True])
def test_critical_points_of_cells_are_those_of_the_field(cpu_cuda, everywhere):
    field = force_field(SHAPES["ring"], device="cpu", charge_distance=1)
    cells = assert_same_cells(field.vectors, field.classes, BOUNDARY, cpu_cuda)
    points = critical_points_in(*cells, None if everywhere else field.object)
    expected = critical_points(field, everywhere)
    assert len(points) == len(expected) > 1
    for point, other in zip(points, expected):
        assert point.kind == other.kind
        np.testing.assert_array_equal(point.position, other.position)
        np.testing.assert_array_equal(point.eigenvectors, other.eigenvectors)


def test_a_solid_without_a_change_of_sign_has_no_critical_points(cpu_cuda):
    field = SimpleNamespace(
        vectors=np.ones((4, 5, 6, 3), np.float32), classes=np.full((4, 5, 6), 3, np.uint8)
    )
    cells = assert_same_cells(field.vectors, field.classes, BOUNDARY, cpu_cuda)
    assert critical_points_in(*cells) == critical_points(field, everywhere=True) == []


# On a real card ----------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("mask", [ball(40), wavy_tube((120, 90, 94))], ids=["ball", "tube"])
def test_a_gpu_finds_the_same(gpu, mask):
    vectors, classes = field_of(mask)
    assert_same_cells(vectors, classes, BOUNDARY, gpu)
    for share in (5, 20, 100):
        assert_same_seeds(vectors, share, gpu)


@pytest.mark.gpu
def test_a_gpu_finds_the_same_in_noise(gpu):
    vectors, classes = random_field(5, (60, 70, 80))
    assert_same_cells(vectors, classes, BOUNDARY, gpu)
    assert_same_seeds(vectors, 60, gpu)
