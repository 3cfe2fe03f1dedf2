"""Connectedness over blocks is that of the bucket queue on the whole, for every partition."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib import connectedness as on_the_whole
from FuzzyConnectedGPULib.distributed import connectedness
from FuzzyConnectedGPULib.distributed.forest import levels_from, spanning_forest
from FuzzyConnectedGPULib.distributed.needs import run_need
from FuzzyConnectedGPULib.distributed.partition import Partition
from FuzzyConnectedGPULib.papers import kfoe
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers import blocks as block_solver
from FuzzyConnectedGPULib.solvers import dial
from FuzzyConnectedGPULib.solvers.blocks import sorted_by_level
from FuzzyVesselCoreLib.progress import Progress
from support.executors import ShuffledExecutor
from support.problems import problems

AFFINITY = GaussianAffinity(100, 30, 15)


def noise(shape, kind=np.int16, number=0):
    return np.random.default_rng(number).normal(100, 25, shape).clip(0, 255).astype(kind)


def values_by_blocks(volume, seeds, affinity, **options):
    values = np.full(np.shape(volume), -1, np.float32)
    connectedness(volume, seeds, affinity, values, **options)
    return values


@settings(max_examples=25)
@given(problems(largest_side=7), st.tuples(*3 * [st.integers(1, 8)]))
def test_small_volumes_of_every_kind(problem, block):
    volume, seeds, affinity, cut, mask = problem
    whole = on_the_whole(volume, seeds, affinity, cut=cut, mask=mask, solver="dial").values
    split = values_by_blocks(volume, seeds, affinity, block=block, cut=cut, mask=mask)
    np.testing.assert_array_equal(split, whole)


@pytest.mark.parametrize(
    ("kind", "cut", "has_mask"),
    [(np.uint8, 0.0, False), (np.int32, 0.3, True), (np.float32, 0.0, True)],
)
def test_thousands_of_voxels_in_several_partitions(kind, cut, has_mask):
    random = np.random.default_rng(4)
    volume, seeds = noise((20, 33, 35), kind), random.integers(0, 20, (5, 3))
    mask = None
    if has_mask:
        mask = random.random(volume.shape) < 0.75
        mask[tuple(seeds[0])] = True
    whole = on_the_whole(volume, seeds, AFFINITY, cut=cut, mask=mask, solver="dial").values
    for block in (9, (20, 33, 5), (3, 17, 40), (7, 16, 32), 64):
        split = values_by_blocks(volume, seeds, AFFINITY, block=block, cut=cut, mask=mask)
        np.testing.assert_array_equal(split, whole)


def test_a_path_through_all_blocks():
    """A serpentine of one voxel's width enters and leaves every block many times."""
    volume = np.zeros((3, 31, 12), np.int16)
    volume[1, ::2] = 100
    volume[1, 1::4, -1] = volume[1, 3::4, 0] = 100
    weak = tuple(np.array([1, 16, 7]))
    volume[weak] = 90
    whole = on_the_whole(volume, [[1, 0, 0]], AFFINITY, solver="dial").values
    assert 0 < whole[1, 30, 0] < whole[1, 14, 0] == 1  # the weak voxel is on the path
    for block in (4, (1, 7, 3), (3, 5, 1)):
        split = values_by_blocks(volume, [[1, 0, 0]], AFFINITY, block=block)
        np.testing.assert_array_equal(split, whole)


@pytest.mark.parametrize("number", range(3))
def test_the_order_of_completion_does_not_matter(number):
    volume = noise((16, 15, 14))
    whole = on_the_whole(volume, [[3, 3, 3]], AFFINITY, solver="dial").values
    split = values_by_blocks(
        volume, [[3, 3, 3]], AFFINITY, block=5, client=ShuffledExecutor(number)
    )
    np.testing.assert_array_equal(split, whole)


def test_several_workers():
    volume = noise((24, 25, 26))
    whole = on_the_whole(volume, [[3, 3, 3]], AFFINITY, solver="dial").values
    with ThreadPoolExecutor(4) as pool:
        split = values_by_blocks(volume, [[3, 3, 3]], AFFINITY, block=8, client=pool)
    np.testing.assert_array_equal(split, whole)


@settings(max_examples=30)
@given(problems(largest_side=8), st.integers(0, 2**32 - 1))
def test_seeds_with_levels(problem, number):
    """A seed of level L is a voxel that a path of level L reaches: the same for every solver."""
    volume, seeds, affinity, cut, mask = problem
    plain = state_problem(volume, seeds, affinity, cut, mask)
    random = np.random.default_rng(number)
    floor = max(plain.cut_level, 1)
    levels = random.integers(floor, 65536, plain.seeds.size).astype(np.uint16)
    leveled = replace(plain, seed_levels=levels)
    expected = np.zeros(volume.size, np.uint16)
    for seed, level in zip(plain.seeds, levels):
        one = replace(plain, seeds=np.array([seed]))
        reached = dial.solve(one, Progress()).levels.ravel()
        expected = np.maximum(expected, np.minimum(reached, level))
    for solver in (dial, block_solver, kfoe):
        found = solver.solve(leveled, Progress()).levels.ravel()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("cut", [0.0, 0.3])
def test_many_seeds_with_levels_in_several_blocks_of_the_solver(cut):
    volume, random = noise((20, 40, 70)), np.random.default_rng(8)
    plain = state_problem(volume, np.argwhere(random.random(volume.shape) < 0.02), AFFINITY, cut)
    levels = random.integers(max(plain.cut_level, 1), 65536, plain.seeds.size).astype(np.uint16)
    leveled = replace(plain, seed_levels=levels)
    expected = dial.solve(leveled, Progress()).levels
    np.testing.assert_array_equal(block_solver.solve(leveled, Progress()).levels, expected)
    assert (expected.ravel()[plain.seeds] >= levels).all()


@settings(max_examples=40)
@given(st.integers(2, 12), st.integers(0, 30), st.integers(0, 2**32 - 1))
def test_a_forest_keeps_the_widest_paths_of_the_kept_vertices(count, edge_count, number):
    random = np.random.default_rng(number)
    ends = random.integers(0, count, (2, edge_count)).astype(np.int32)
    edges = sorted_by_level([(*ends, random.integers(1, 9, edge_count).astype(np.uint16))])
    chosen = np.flatnonzero(random.random(count) < 0.6)
    kept = np.full(count, -1, np.int32)
    kept[chosen] = np.arange(chosen.size)
    forest = spanning_forest(edges, kept)
    assert forest[0].size < max(chosen.size, 1)
    for new, old in enumerate(chosen):
        expected = levels_from(old, edges, count)[chosen]
        np.testing.assert_array_equal(levels_from(new, forest, chosen.size), expected)


@pytest.mark.parametrize("block", [(4, 5, 3), (1, 9, 2), (9, 9, 9), (2, 2, 2)])
def test_partition_and_its_face_voxels(block):
    partition = Partition((9, 7, 8), block)
    assert len(partition.groups(partition.levels)) == 1
    flat = np.arange(9 * 7 * 8).reshape(9, 7, 8)
    for level in range(partition.levels + 1):
        owner = np.full(flat.shape, -1)
        groups = partition.groups(level)
        for number, group in enumerate(groups):
            assert (owner[partition.box(group).slices] == -1).all()
            owner[partition.box(group).slices] = number
        assert (owner >= 0).all()
        outside = np.pad(owner, 1, mode="edge")
        for number, group in enumerate(groups):
            at_face = np.zeros(flat.shape, bool)
            for axis in range(3):
                for step in (-1, 1):
                    other = np.roll(outside, step, axis)[1:-1, 1:-1, 1:-1]
                    at_face |= (owner == number) & (other != number)
            box = partition.box(group)
            np.testing.assert_array_equal(partition.face_voxels(box), flat[at_face])
            assert partition.face_count(box) == np.count_nonzero(at_face)


def test_the_estimate_for_a_million_million_voxels():
    """By the estimate, no task of 1e12 voxels of 2 bytes needs more than 64 GB."""
    need = run_need(Partition((10000, 10000, 10000), (640, 640, 640)), 2)
    assert 1e9 < need.task_memory < 64e9
