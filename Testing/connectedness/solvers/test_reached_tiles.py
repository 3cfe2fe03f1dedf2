"""Tiles that a seed may reach above the cut: their kernels on the CPU, and what they are for."""

import dataclasses

import numpy as np
import pytest
from scipy import ndimage

from emulators.cuda import EmulatedDevice
from FuzzyConnectedGPULib import GaussianAffinity, connectedness, error_voxels
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers.cpu import dial
from FuzzyConnectedGPULib.solvers.cuda.contraction import contraction
from FuzzyConnectedGPULib.solvers.cuda.contraction import reached_tiles as module
from FuzzyConnectedGPULib.solvers.cuda.contraction.contracted_tiles import TILE, tile_count
from FuzzyConnectedGPULib.solvers.cuda.contraction.reached_tiles import (
    bounds_of_edges,
    found_tiles,
    search_tiles,
)
from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.progress import Progress

ORDERS = ["ascending", "descending", 1]


@pytest.fixture(autouse=True)
def however_dense(request, monkeypatch):
    """All volumes, so small here, are searched, but where density itself is tested."""
    if "dense" not in request.node.name:
        monkeypatch.setattr(module, "DENSE", 2.0)


def levels(problem, gpu):
    return gpu.get(contraction.solve(problem, Progress(), gpu)[0])


def reference(problem):
    return dial.solve(problem, Progress())[0]


def listed_by_kernels(problem, gpu):
    mask = np.uintp(0) if problem.mask is None else gpu.put(problem.mask)
    count = tile_count(problem.voxels.shape)
    arrays = gpu.put(problem.voxels), mask, gpu.put(problem.seeds)
    return found_tiles(search_tiles(problem, *arrays, count, gpu), gpu)


def check_listed(problem, listed):
    """All tiles in which a level is above 0, and no more than with a cut that is a bit lower."""
    lower = dataclasses.replace(problem, cut_level=max(int(0.98 * problem.cut_level), 1))
    needed, allowed = reference(problem) > 0, reference(lower) > 0
    needed.ravel()[problem.seeds] = False  # a seed without any edge needs no contraction
    assert np.isin(tiles_of(needed), listed).all()
    assert np.isin(listed, tiles_of(allowed)).all()
    assert np.unique(listed).size == listed.size


def tiles_of(voxels):
    """Numbers of the tiles that hold one of these voxels (bool)."""
    voxels = np.pad(voxels, [(0, -n % side) for n, side in zip(voxels.shape, TILE)])
    k, j, i = (n // side for n, side in zip(voxels.shape, TILE))
    return np.flatnonzero(voxels.reshape(k, 8, j, 8, i, 16).any((1, 3, 5)))


def smooth_noise(seed, shape):
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=shape), 0.6)
    return (100 + 25 * noise / noise.std()).clip(0, 255)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.float32])
@pytest.mark.parametrize(("side", "cut"), [("both", 0.8), ("bright", 0.9), ("dark", 0.85)])
def test_they_are_those_of_the_seeds_components(order, kind, side, cut):
    for seed, shape in enumerate([(30, 25, 40), (9, 17, 33), (1, 1, 50), (16, 8, 16)]):
        volume = smooth_noise(seed, shape).astype(kind)
        random = np.random.default_rng(seed)
        seeds = np.stack([random.integers(0, n, 3) for n in shape], axis=1)
        mask = random.random(shape) < 0.8 if seed % 2 else None
        if mask is not None:
            mask[tuple(seeds[0])] = True
        affinity = GaussianAffinity(130, 25, 12, side=side)
        problem = state_problem(volume, seeds, affinity, cut, mask)
        found = listed_by_kernels(problem, EmulatedDevice(order))
        check_listed(problem, found)


def test_threads_that_join_at_once_lose_nothing(interleaved_cuda):
    volume = smooth_noise(5, (17, 17, 40)).astype(np.int16)
    problem = state_problem(volume, [[8, 8, 20]], GaussianAffinity(130, 40, 20), 0.7)
    found = listed_by_kernels(problem, interleaved_cuda)
    check_listed(problem, found)


@pytest.mark.parametrize("axis", range(3))
def test_every_row_and_voxel_of_a_border_is_crossed(cpu_cuda, axis):
    # A line of voxels through two tiles, wherever it may lie in them.
    shape = [side * (1 + (n == axis)) for n, side in enumerate(TILE)]
    lines = np.delete(shape, axis)
    for place in np.ndindex(*lines):
        volume = np.zeros(shape, np.uint8)
        np.moveaxis(volume, axis, 0)[:, place[0], place[1]] = 100
        seed = np.argwhere(volume)[:1]
        problem = state_problem(volume, seed, GaussianAffinity(100, 5, 5), 0.5)
        assert listed_by_kernels(problem, cpu_cuda).size == 2


def two_tiles(axis):
    """Closed voxels, and the sides of the border between the tiles: (2, J or K, K or I)."""
    volume = np.zeros([n * (1 + (a == axis)) for a, n in enumerate(TILE)], np.int16)
    border = TILE[axis]
    return volume, np.moveaxis(volume, axis, 0)[border - 1 : border + 1], border


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("whole", [0, 1])
def test_a_row_is_joined_with_each_of_two_runs(cpu_cuda, axis, whole):
    for gap in range(1, 15):
        volume, sides, border = two_tiles(axis)
        sides[:, 3] = 100
        sides[1 - whole, 3, gap] = 0
        seed = np.full(3, 3)
        seed[axis], seed[2] = border - whole, gap + 1
        problem = state_problem(volume, [seed], GaussianAffinity(100, 50, 0.4), 0.5)
        assert listed_by_kernels(problem, cpu_cuda).size == 2


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("one", [0, 1])
@pytest.mark.parametrize("apart", [1, 4])  # rows of two lanes, or of one
def test_a_tree_is_joined_with_each_of_two_others(cpu_cuda, axis, one, apart):
    for row in range(TILE[1] - apart):
        volume, sides, border = two_tiles(axis)
        rows = sides[..., 5] if axis == 0 else sides[:, 5]
        rows[one, row : row + apart + 1] = 101
        rows[1 - one, [row, row + apart]] = 100, 102  # too far from each other
        seed = np.array([5, row + apart, 5])
        seed[axis] = border - one
        problem = state_problem(volume, [seed], GaussianAffinity(100, 50, 0.4), 0.5)
        assert listed_by_kernels(problem, cpu_cuda).size == 2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("axis", range(3))
def test_each_of_many_trees_at_a_border_is_joined(order, axis):
    # Along rows values change slowly, so that few pairs of rows are near each other.
    device, random = EmulatedDevice(order), np.random.default_rng(6)
    crossings = 0
    for _ in range(20):
        volume, _, border = two_tiles(axis)
        steps = random.integers(-1, 2, volume.shape)
        steps += (random.random(volume.shape) < 0.1) * random.integers(-40, 41, volume.shape)
        volume[...] = 1000 + random.integers(-30, 31, (*volume.shape[:2], 1)) + steps.cumsum(axis=2)
        seed = random.integers(0, volume.shape)
        seed[axis] = border - random.integers(0, 2)
        problem = state_problem(volume, [seed], GaussianAffinity(1000, 1000, 0.4), 0.5)
        found = listed_by_kernels(problem, device)
        check_listed(problem, found)
        crossings += found.size == 2
    assert 0 < crossings < 20


@pytest.mark.parametrize("axis", range(3))
def test_no_gap_is_crossed(cpu_cuda, axis):
    for gap in range(1, TILE[axis] + 1):
        shape = [side * (1 + (n == axis)) for n, side in enumerate(TILE)]
        volume = np.full(shape, 100, np.int16)
        np.moveaxis(volume, axis, 0)[gap] = 0
        problem = state_problem(volume, [[0, 0, 0]], GaussianAffinity(100, 5, 5), 0.5)
        assert listed_by_kernels(problem, cpu_cuda).tolist() == [0]


def gradient_reach(affinity, cut_level):
    """The difference at which the affinity falls to the cut."""
    return 4 * affinity.gradient_sigma * np.sqrt(np.log(65535 / (cut_level - 0.5)))


@pytest.mark.parametrize("sigma", [1e-30, 0.5, 15.0, 1e4])
@pytest.mark.parametrize("mean", [-1e30, 0.0, 1.7e5, 1e30])
@pytest.mark.parametrize("side", ["both", "bright", "dark"])
def test_no_edge_above_the_cut_is_outside_of_the_bounds(mean, sigma, side):
    for ratio in (0.2, 1.0, 8.0):
        affinity = GaussianAffinity(mean, sigma, max(ratio * sigma, 1e-30), side=side)
        for cut in (1e-4, 0.3, 0.9, 0.9999, 1.0):
            problem = state_problem(np.zeros((1, 1, 2), np.float32), [[0, 0, 0]], affinity, cut)
            bounds = bounds_of_edges(problem)
            if bounds is None:
                assert abs(mean) > 10 * sigma  # float32 cannot tell
                continue
            lowest, highest, ratio, offset, limit, least, most = bounds.values()
            reach = (0.5 / ratio + 0.5) * gradient_reach(affinity, problem.cut_level)
            one = np.float32(mean + reach * np.linspace(-2, 2, 401))[:, None]
            above = affinity.levels(one, one.T) >= problem.cut_level
            share = one * ratio + offset
            with np.errstate(over="ignore"):
                total = np.clip(share + share.T, least, most)
                assert (total**2 + (one - one.T) ** 2 <= limit)[above].all()
            assert ((one >= lowest) & (one <= highest))[above.any(axis=1)].all()


def test_without_a_cut_or_a_bound_all_tiles_are_taken(cpu_cuda):
    volume = smooth_noise(1, (9, 9, 20)).astype(np.uint8)
    for affinity, cut in (
        (GaussianAffinity(100, 15, 10), 0.0),
        (GaussianAffinity(100, 15, 10, "weighted"), 0.9),
        (GaussianAffinity(100, 1500, 1000), 0.9),
    ):
        problem = state_problem(volume, [[4, 4, 4]], affinity, cut)
        assert listed_by_kernels(problem, cpu_cuda) is None


def two_tubes():
    """A tube along I, and two pieces beside it."""
    volume = np.full((20, 20, 100), 10, np.int16)
    volume[4, 4] = 100
    volume[12, 4, :60] = 100
    volume[6:15, 14, 70] = 100
    return volume


def test_tiles_of_other_components_are_left_out(cpu_cuda):
    volume = two_tubes()
    problem = state_problem(volume, [[4, 4, 0]], GaussianAffinity(100, 5, 5), 0.5)
    np.testing.assert_array_equal(np.sort(listed_by_kernels(problem, cpu_cuda)), np.arange(7))
    found = levels(problem, cpu_cuda)
    assert (found[4, 4] == 65535).all()
    assert np.count_nonzero(found) == 100
    np.testing.assert_array_equal(found, reference(problem))


def test_a_node_whose_best_edge_leads_to_a_tile_that_is_left_out(cpu_cuda):
    # Beside the seeds' tube a piece begins in the same tile and leaves it, weaker towards the end.
    volume = np.full((16, 8, 64), 10, np.float32)
    volume[2, 2] = 100
    volume[5, 5, 3:12] = 97
    volume[5:11, 5, 11] = 97 + np.arange(6) / 2
    volume[5, 5, 12:20] = 95
    problem = state_problem(volume, [[2, 2, 0]], GaussianAffinity(100, 5, 5), 0.5)
    assert listed_by_kernels(problem, cpu_cuda).size == 4
    found = levels(problem, cpu_cuda)
    np.testing.assert_array_equal(found, reference(problem))
    assert found[5].max() == 0


@pytest.mark.parametrize("order", ORDERS)
def test_seeds_that_no_piece_holds_keep_their_level(order):
    volume = two_tubes()
    seeds = [[4, 4, 50], [19, 19, 99], [4, 5, 50]]
    problem = state_problem(volume, seeds, GaussianAffinity(100, 5, 5), 0.5)
    found = levels(problem, EmulatedDevice(order))
    np.testing.assert_array_equal(found, reference(problem))
    alone = state_problem(volume, seeds[1:], GaussianAffinity(100, 5, 5), 0.5)
    np.testing.assert_array_equal(levels(alone, EmulatedDevice(order)), reference(alone))


def test_without_room_for_the_search_all_tiles_are_contracted(cpu_cuda, monkeypatch):
    make, refused = cpu_cuda.xp.empty, []

    def empty(shape, dtype=float):
        if np.prod(shape) > 1024 * tile_count(volume.shape):
            refused.append(shape)
            raise DeviceMemoryError("too little memory")
        return make(shape, dtype)

    volume = smooth_noise(4, (1, 40, 50)).astype(np.int16)
    monkeypatch.setattr(cpu_cuda.xp, "empty", empty, raising=False)
    problem = state_problem(volume, [[0, 20, 25]], GaussianAffinity(100, 20, 20), 0.9)
    np.testing.assert_array_equal(levels(problem, cpu_cuda), reference(problem))
    assert len(refused) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("cut", [0.6, 0.8, 0.95])
def test_card_equals_the_reference_with_a_cut(cut):
    volume = smooth_noise(2, (130, 150, 170)).astype(np.int16)
    run = dict(affinity=GaussianAffinity(130, 25, 12), cut=cut)
    seeds = np.argwhere(volume == 130)[::40_000]
    on_card = connectedness(volume, seeds, **run, solver="contraction", device="cuda")
    assert error_voxels(on_card, connectedness(volume, seeds, **run, solver="dial")) == 0


@pytest.mark.parametrize("cut", [0.3, 0.97])
def test_dense_pairs_need_no_search(cpu_cuda, cut):
    """Nearly all tiles would be reached; with a high cut few pairs are left."""
    volume = smooth_noise(3, (40, 33, 50)).astype(np.int16)
    problem = state_problem(volume, [[20, 16, 25]], GaussianAffinity(100, 20, 20), cut)
    assert (listed_by_kernels(problem, cpu_cuda) is None) == (cut < 0.5)
    np.testing.assert_array_equal(levels(problem, cpu_cuda), reference(problem))


def test_density_is_not_that_of_one_column_of_tiles(cpu_cuda):
    volume = np.zeros((16, 16, 256), np.int16)
    volume[:, :, :16] = 100
    problem = state_problem(volume, [[4, 4, 4]], GaussianAffinity(100, 5, 5), 0.5)
    assert np.sort(listed_by_kernels(problem, cpu_cuda)).tolist() == [0, 16, 32, 48]
