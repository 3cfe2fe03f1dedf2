"""The CUDA solvers: their kernels on the CPU in both thread orders, and on a real card."""

import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.ndimage import gaussian_filter

from emulators.cuda import EmulatedDevice, arrays
from FuzzyConnectedGPULib import GaussianAffinity, connectedness, error_voxels, fuzzy_connectedness
from FuzzyConnectedGPULib.affinity import level_values
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers.cpu import dial
from FuzzyConnectedGPULib.solvers.cuda import active_tiles, exact
from FuzzyConnectedGPULib.solvers.cuda import kfoe as cuda_kfoe
from FuzzyConnectedGPULib.solvers.cuda import kfoe_corrected as cuda_kfoe_corrected
from FuzzyConnectedGPULib.solvers.cuda.contraction import (
    affinity_tables,
    contracted_tiles,
    contraction,
    node_rounds,
)
from FuzzyVesselCoreLib.errors import Cancelled, DeviceError, DeviceMemoryError, InputError
from FuzzyVesselCoreLib.progress import Progress
from support.card_memory import lost_memory
from support.problems import problems


def levels(solver, problem, gpu, **options):
    return gpu.get(solver.solve(problem, Progress(), gpu, **options)[0])


def reference(problem):
    return dial.solve(problem, Progress())[0]


EXACT = pytest.mark.parametrize("solver", [active_tiles, contraction])
ON_THE_CPU = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@EXACT
@ON_THE_CPU
@given(problem=problems(largest_side=19))
def test_exact_solvers_equal_the_reference(cpu_cuda, solver, problem):
    stated = state_problem(problem[0], problem[1], problem[2], cut=problem[3], mask=problem[4])
    np.testing.assert_array_equal(levels(solver, stated, cpu_cuda), reference(stated))


def serpentine(side):
    """A path one voxel wide that winds through a volume of odd side: the longest way there is."""
    volume = np.zeros((side, side, side), np.int16)
    rows, end = list(range(0, side, 2)), side - 1
    for k in range(0, side, 2):
        for j in rows:
            volume[k, j] = 100
            volume[k, (j + rows[min(rows.index(j) + 1, len(rows) - 1)]) // 2, end] = 100
            end = side - 1 - end
        volume[min(k + 1, side - 1), rows[-1], side - 1 - end] = 100
        rows.reverse()
    return volume


@EXACT
def test_a_path_through_every_tile_is_followed_to_its_end(cpu_cuda, solver):
    problem = state_problem(serpentine(21), [[0, 0, 0]], GaussianAffinity(100, 10, 10))
    wanted = reference(problem)
    assert ((wanted == 65535) == (problem.voxels == 100)).all()  # the path is one piece
    np.testing.assert_array_equal(levels(solver, problem, cpu_cuda), wanted)


@pytest.mark.parametrize("seed", range(6))
def test_blocks_that_do_the_rounds_together_equal_the_reference(cooperative_cuda, seed):
    random = np.random.default_rng(seed)
    volume = gaussian_filter(random.normal(0, 1, (30, 26, 33)), seed % 3)
    volume = (100 + 30 * volume / volume.std()).astype([np.int16, np.float32][seed % 2])
    seeds = [[15, 13, 16], *np.argwhere(random.random(volume.shape) < 0.001 * (seed % 2))]
    problem = state_problem(volume, seeds, GaussianAffinity(100, 20, 20), [0.0, 0.3][seed // 4])
    found, rounds, _ = contraction.solve(problem, Progress(), cooperative_cuda)
    np.testing.assert_array_equal(found, reference(problem))
    assert rounds > 2


@EXACT
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 8, 8), (8, 8, 8), (9, 16, 7), (17, 1, 33)])
def test_sizes_around_the_tile(cpu_cuda, solver, shape):
    volume = np.random.default_rng(1).normal(100, 20, shape).astype(np.float32)
    problem = state_problem(volume, [[n - 1 for n in shape]], GaussianAffinity(100, 20, 20))
    np.testing.assert_array_equal(levels(solver, problem, cpu_cuda), reference(problem))


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_block_visits_several_tiles_in_turn(interleaved_cuda, monkeypatch, blocks):
    # As on a card where more tiles are active than blocks are launched.
    monkeypatch.setattr(active_tiles, "MAX_BLOCKS", blocks)
    volume = np.random.default_rng(11).normal(100, 20, (17, 20, 23)).astype(np.int16)
    problem = state_problem(volume, [[8, 9, 10]], GaussianAffinity(100, 20, 20))
    np.testing.assert_array_equal(
        levels(active_tiles, problem, interleaved_cuda), reference(problem)
    )


@pytest.mark.parametrize("sigma", [20, 2000])
def test_affinities_by_tables_and_by_arithmetic_are_the_same(cpu_cuda, sigma):
    # A wide Gaussian's tables do not fit beside a tile.
    volume = np.random.default_rng(4).normal(100, 0.7 * sigma, (9, 10, 40)).astype(np.int16)
    problem = state_problem(volume, [[4, 5, 6]], GaussianAffinity(100, sigma, sigma, side="bright"))
    assert (affinity_tables.table_extent(problem) is None) == (sigma == 2000)
    np.testing.assert_array_equal(levels(contraction, problem, cpu_cuda), reference(problem))


def test_seeds_everywhere_and_tiles_with_more_nodes_than_guessed(cpu_cuda, monkeypatch):
    random = np.random.default_rng(5)
    volume = random.integers(0, 2, (9, 17, 20)).astype(np.uint8)
    seeds = np.argwhere(random.random(volume.shape) < 0.5)
    problem = state_problem(volume, seeds, GaussianAffinity(1, 1, 1))
    monkeypatch.setattr(contracted_tiles, "NODES_PER_VOXEL", 0.0)
    monkeypatch.setattr(contracted_tiles, "CROSS_EDGES_PER_VOXEL", 0.0)
    np.testing.assert_array_equal(levels(contraction, problem, cpu_cuda), reference(problem))


@pytest.mark.parametrize("values", [[100], [100, 101], [100, 103, 140]])
@pytest.mark.parametrize("shape", [(1, 1, 70), (2, 33, 9), (24, 3, 17), (17, 9, 16)])
def test_hooks_lead_in_no_circle_where_most_edges_are_equal(cpu_cuda, values, shape):
    # A circle of more than two would never be left.
    random = np.random.default_rng(12)
    volume = random.choice(values, shape).astype(np.uint8)
    seeds = np.argwhere(random.random(shape) < 0.02)
    for cut, mask in ((0.0, None), (1.0, random.random(shape) < 0.7)):
        first = [tuple(n // 2 for n in shape)]
        if mask is not None:
            mask[first[0]] = True
        problem = state_problem(volume, [*first, *seeds], GaussianAffinity(100, 2, 2), cut, mask)
        np.testing.assert_array_equal(levels(contraction, problem, cpu_cuda), reference(problem))


def test_a_long_chain_of_hooks_is_followed_to_its_end(cpu_cuda):
    # Along the path every edge is weaker than the one before: all hook towards the seed.
    left = {tuple(voxel) for voxel in np.argwhere(serpentine(17))}
    volume, ways = np.zeros((17, 17, 17), np.float32), np.vstack([np.eye(3, dtype=int)] * 2)
    ways[3:] *= -1
    at = 0, 0, 0
    for step in range(len(left)):
        volume[at] = 110 + step / 40
        left.remove(at)
        at = next((to for to in map(tuple, at + ways) if to in left), None)
    assert not left
    problem = state_problem(volume, [[0, 0, 0]], GaussianAffinity(100, 20, 20))
    wanted = reference(problem)
    assert len(np.unique(wanted[volume > 0])) > step
    np.testing.assert_array_equal(levels(contraction, problem, cpu_cuda), wanted)


def test_seeds_without_any_edge_keep_their_level(cpu_cuda):
    # One in a tile without edges, one beside a piece that it does not belong to.
    volume = np.arange(16 * 3 * 40).reshape(16, 3, 40) % 2 * 90.0
    volume[9:, :, 20:] = 0
    problem = state_problem(volume, [[3, 1, 4], [9, 1, 21], [8, 1, 21]], GaussianAffinity(0, 1, 1))
    found = levels(contraction, problem, cpu_cuda)
    assert [found[3, 1, 4], found[9, 1, 39], found[8, 1, 21]] == [65535] * 3
    np.testing.assert_array_equal(found, reference(problem))


@pytest.mark.parametrize("mean", [-1e30, -32768, 0, 32767, 65535, 1e30])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16])
def test_tables_hold_at_the_ends_of_the_voxel_types(kind, mean):
    ends = np.iinfo(kind)
    sums = np.arange(2 * ends.min, 2 * ends.max + 1, dtype=np.float32)
    differences = np.arange(ends.max - ends.min + 1, dtype=np.float32)
    for sigma in (1e-30, 0.3, 40.0, 1e30):
        for side in ("both", "bright", "dark"):
            affinity = GaussianAffinity(mean, sigma, 0.7, "weighted", side=side)
            problem = state_problem(np.zeros((1, 1, 2), kind), [[0, 0, 0]], affinity)
            extent = affinity_tables.table_extent(problem)
            if extent is None:
                assert sigma == 1e30
                assert kind is not np.uint8
                continue
            lowest, sum_count, difference_count = extent
            with np.errstate(over="ignore"):
                table = affinity.sum_term(lowest + np.arange(sum_count, dtype=np.float32))
                wanted = affinity.sum_term(sums)
            entry = np.clip(sums.astype(int) - lowest, 0, sum_count - 1)
            np.testing.assert_array_equal(table[entry], wanted)
            table = affinity.difference_term(differences[:difference_count])
            entry = np.minimum(differences.astype(int), difference_count - 1)
            np.testing.assert_array_equal(table[entry], affinity.difference_term(differences))


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [(contracted_tiles, "MAX_VOXELS", "7,200 voxels"), (node_rounds, "MAX_NODES", "nodes only")],
)
def test_more_than_can_be_numbered_is_left_to_active_tiles(
    cpu_cuda, monkeypatch, module, name, words
):
    volume = np.random.default_rng(13).normal(100, 20, (9, 20, 40)).astype(np.int16)
    problem = state_problem(volume, [[4, 5, 6]], GaussianAffinity(100, 20, 20))
    monkeypatch.setattr(module, name, 5)
    with pytest.raises(DeviceMemoryError, match=words):
        levels(contraction, problem, cpu_cuda)
    np.testing.assert_array_equal(levels(exact, problem, cpu_cuda), reference(problem))


@pytest.fixture
def device_memory(monkeypatch):
    """The arrays of the emulated device: how many are alive, and after how many memory runs out."""
    memory = SimpleNamespace(alive=0, made=0, room=10**9)
    make = arrays.guarded_empty

    def forget():
        memory.alive -= 1

    def guarded_empty(shape, dtype=float):
        memory.made += 1
        if memory.made > memory.room:
            memory.room = 10**9
            raise DeviceMemoryError("too little memory")
        array = make(shape, dtype)
        memory.alive += 1
        weakref.finalize(arrays.guarded_block(array), forget)
        return array

    monkeypatch.setattr(arrays, "guarded_empty", guarded_empty)
    return memory


def test_memory_is_back_before_active_tiles_begin(device_memory, monkeypatch):
    # Whichever array of contraction finds no room.
    monkeypatch.setattr(contracted_tiles, "CROSS_EDGES_PER_VOXEL", 0.0)
    volume = np.random.default_rng(14).normal(100, 20, (9, 10, 40)).astype(np.int16)
    problem = state_problem(volume, [[4, 5, 6]], GaussianAffinity(100, 20, 20), 0.0, volume > 80)
    gpu, alive = EmulatedDevice(), []
    solve = active_tiles.solve
    monkeypatch.setattr(
        active_tiles, "solve", lambda *a: [alive.append(device_memory.alive), solve(*a)][1]
    )
    wanted = levels(contraction, problem, gpu)
    needed, device_memory.made = device_memory.made, 0
    assert needed > 15
    for room in range(needed):
        device_memory.made, device_memory.room = 0, room
        np.testing.assert_array_equal(levels(exact, problem, gpu), wanted)
    assert alive == [0] * needed


@pytest.mark.parametrize("tiles", [1, 2])
def test_tiles_are_launched_in_parts(cpu_cuda, monkeypatch, tiles):
    monkeypatch.setattr(contracted_tiles, "TILES_PER_LAUNCH", tiles)
    volume = np.random.default_rng(6).normal(100, 20, (9, 10, 40)).astype(np.float32)
    problem = state_problem(volume, [[4, 5, 6]], GaussianAffinity(100, 20, 20))
    np.testing.assert_array_equal(levels(contraction, problem, cpu_cuda), reference(problem))


@pytest.mark.parametrize("slab", [1, 2 * 8 * 26 * 33 * 2])
def test_slabs_that_come_one_after_the_other_equal_the_whole_volume(cpu_cuda, monkeypatch, slab):
    monkeypatch.setattr(contracted_tiles, "SLAB_BYTES", slab)
    volume = np.random.default_rng(15).normal(100, 20, (43, 26, 33)).astype(np.int16)
    problem = state_problem(volume, [[20, 13, 16]], GaussianAffinity(100, 20, 20))
    assert contracted_tiles.come_in_slabs(problem)
    wanted = reference(problem)
    np.testing.assert_array_equal(levels(contraction, problem, cpu_cuda), wanted)
    monkeypatch.setattr(contracted_tiles, "NODES_PER_VOXEL", 0.0)  # and once more
    np.testing.assert_array_equal(levels(contraction, problem, cpu_cuda), wanted)


def test_all_voxels_come_at_once_where_the_search_needs_them(monkeypatch):
    monkeypatch.setattr(contracted_tiles, "SLAB_BYTES", 100)
    volume, affinity = np.full((8, 8, 8), 100, np.int16), GaussianAffinity(100, 20, 20)
    for cut, mask, wanted in ((0, None, True), (0.5, None, False), (0, volume > 0, False)):
        problem = state_problem(volume, [[1, 1, 1]], affinity, cut, mask)
        assert contracted_tiles.come_in_slabs(problem) is wanted


@EXACT
def test_cells_outside_the_volume_carry_no_path(cpu_cuda, solver):
    # Two halves, closed off by a wall; 12 is no multiple of the tile, so a tile reaches outside.
    volume = np.full((12, 12, 12), 100, np.uint8)
    volume[:, :, 5] = 0
    problem = state_problem(volume, [[3, 3, 11]], GaussianAffinity(100, 2, 2))
    found = levels(solver, problem, cpu_cuda)
    assert found[:, :, 6:].min() == 65535
    assert found[:, :, :6].max() == 0


@pytest.mark.parametrize("solver", [cuda_kfoe, cuda_kfoe_corrected])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.float32])
def test_the_papers_solvers_equal_the_reference_where_nothing_races(cpu_cuda, solver, kind):
    # Along a single row no two threads raise one voxel with different values at the same time.
    volume = np.random.default_rng(2).integers(80, 120, (1, 1, 40)).astype(kind)
    mask = np.ones(volume.shape, np.uint8)
    mask[0, 0, 35:] = 0
    problem = state_problem(volume, [[0, 0, 7]], GaussianAffinity(100, 20, 20), 0.1, mask)
    np.testing.assert_array_equal(levels(solver, problem, cpu_cuda), reference(problem))


@pytest.mark.parametrize("solver", [cuda_kfoe, cuda_kfoe_corrected])
def test_the_papers_solvers_never_exceed_the_reference(cpu_cuda, solver):
    volume = np.random.default_rng(3).normal(100, 15, (6, 20, 35)).astype(np.int16)
    problem = state_problem(volume, [[3, 10, 20]], GaussianAffinity(100, 20, 20))
    found, wanted = levels(solver, problem, cpu_cuda), reference(problem)
    assert (found <= wanted).all()
    assert (found == wanted).mean() > 0.9


def test_races_leave_error_voxels_in_cuda_kfoe_alone(interleaved_cuda):
    volume = np.random.default_rng(0).normal(100, 15, (20, 37, 45)).astype(np.int16)
    problem = state_problem(volume, [[9, 9, 9]], GaussianAffinity(100, 20, 20))
    wanted = reference(problem)
    as_published = levels(cuda_kfoe, problem, interleaved_cuda)
    assert 0 < error_voxels(as_published, wanted) < 0.1 * volume.size
    assert (as_published <= wanted).all()
    assert error_voxels(levels(active_tiles, problem, interleaved_cuda), wanted) == 0
    assert error_voxels(levels(contraction, problem, interleaved_cuda), wanted) == 0


def test_corrections_change_nothing_where_nothing_races(cpu_cuda):
    problem = state_problem(
        np.full((1, 1, 40), 100, np.int16), [[0, 0, 0]], GaussianAffinity(100, 20, 20)
    )
    for corrections, directions in ((0, 6), (2, 0), (3, 6)):
        found = levels(
            cuda_kfoe_corrected, problem, cpu_cuda, corrections=corrections, directions=directions
        )
        assert found.min() == 65535


@pytest.mark.parametrize("options", [{"corrections": -1}, {"directions": 7}])
def test_wrong_correction_options_are_named(cpu_cuda, options):
    problem = state_problem(np.eye(4)[None], [[0, 0, 0]], GaussianAffinity(1, 1, 1))
    with pytest.raises(InputError, match=next(iter(options))):
        levels(cuda_kfoe_corrected, problem, cpu_cuda, **options)


@pytest.mark.parametrize("solver", [active_tiles, contraction, cuda_kfoe, cuda_kfoe_corrected])
def test_cancelling_ends_the_run(cpu_cuda, solver):
    volume = np.full((4, 30, 90), 100, np.int16)
    problem = state_problem(volume, [[0, 0, 0]], GaussianAffinity(100, 20, 20))
    seen = []

    def report(fraction):
        seen.append(fraction)
        if len(seen) == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        solver.solve(problem, Progress(report), cpu_cuda)
    assert len(seen) == 2
    assert all(0 <= fraction < 1 for fraction in seen)


def test_the_default_takes_active_tiles_where_contraction_does_not_suit(monkeypatch):
    volume = np.random.default_rng(7).normal(100, 20, (9, 10, 40)).astype(np.int16)
    problem = state_problem(volume, [[4, 5, 6]], GaussianAffinity(100, 20, 20))
    taken = []

    def spend_memory(*arguments):
        taken.append("contraction")
        raise DeviceMemoryError("too little memory")

    for solver in (contraction, active_tiles):
        solve = solver.solve
        monkeypatch.setattr(
            solver, "solve", lambda *a, s=solver, f=solve: [taken.append(s), f(*a)][1]
        )
    for memory, wanted in ((8 << 30, contraction), (7 * volume.size, active_tiles)):
        found = levels(exact, problem, EmulatedDevice(memory=memory))
        assert taken.pop() is wanted
        np.testing.assert_array_equal(found, reference(problem))
    monkeypatch.setattr(EmulatedDevice, "has_cooperative_launch", False)
    for most, wanted in ((volume.size, contraction), (volume.size - 1, active_tiles)):
        monkeypatch.setattr(exact, "MAX_FOR_ONE_BLOCK", most)
        found = levels(exact, problem, EmulatedDevice())
        assert taken.pop() is wanted
        np.testing.assert_array_equal(found, reference(problem))
    monkeypatch.setattr(EmulatedDevice, "has_cooperative_launch", True)
    monkeypatch.setattr(contraction, "solve", spend_memory)
    np.testing.assert_array_equal(levels(exact, problem, EmulatedDevice()), reference(problem))
    assert taken == ["contraction", active_tiles]


def test_the_default_does_not_hide_a_kernel_that_fails(monkeypatch):
    def fail(*arguments):
        raise DeviceError("a CUDA kernel does not compile")

    monkeypatch.setattr(contraction, "solve", fail)
    problem = state_problem(np.eye(4)[None], [[0, 0, 0]], GaussianAffinity(1, 1, 1))
    with pytest.raises(DeviceError, match="does not compile"):
        levels(exact, problem, EmulatedDevice())


def test_auto_falls_back_to_the_cpu_and_says_so(monkeypatch):
    class FullCard:
        name, peak_bytes = "cuda:0 (full)", 0

        def __enter__(self):
            raise DeviceError("cuda:0 (full) has too little memory")

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(fuzzy_connectedness, "choose_device", lambda name: FullCard())
    volume = np.random.default_rng(4).normal(100, 10, (5, 6, 7)).astype(np.float32)
    with pytest.warns(UserWarning, match="too little memory"):
        scene = connectedness(volume, [[1, 1, 1]])
    assert scene.device == "cpu"
    assert "too little memory" in scene.notes[0]
    with pytest.raises(DeviceError, match="too little memory"):
        connectedness(volume, [[1, 1, 1]], device="cuda")


# On a real card -----------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("solver", ["contraction", "active-tiles"])
@settings(max_examples=300)
@given(problem=problems(largest_side=40))
def test_card_equals_the_reference(solver, problem):
    volume, seeds, affinity, cut, mask = problem
    options = dict(cut=cut, mask=mask)
    on_card = connectedness(volume, seeds, affinity, solver=solver, device="cuda", **options)
    assert on_card.device.startswith("cuda:0")
    assert (
        error_voxels(on_card, connectedness(volume, seeds, affinity, solver="dial", **options)) == 0
    )


@pytest.mark.gpu
def test_corrections_remove_error_voxels_on_the_card():
    volume = np.random.default_rng(9).normal(100, 15, (64, 256, 256)).astype(np.int16)
    given = dict(seeds=[[30, 99, 99]], affinity=GaussianAffinity(100, 20, 20))
    corrected = dict(solver="cuda-kfoe-corrected", device="cuda")
    wanted = connectedness(volume, **given, solver="dial")
    errors = [
        error_voxels(connectedness(volume, **given, **corrected, directions=number), wanted)
        for number in (0, 6)
    ]
    assert errors[1] < errors[0]


@pytest.mark.gpu
@pytest.mark.parametrize("solver", ["contraction", "active-tiles"])
def test_card_repeats_itself_bit_for_bit(solver):
    volume = np.random.default_rng(5).normal(100, 15, (70, 90, 110)).astype(np.float32)
    affinity = GaussianAffinity(100, 20, 10)
    run = dict(affinity=affinity, solver=solver, device="cuda")
    scenes = [connectedness(volume, [[30, 40, 50]], **run) for _ in range(20)]
    assert [error_voxels(scene, scenes[0]) for scene in scenes] == [0] * 20


@pytest.mark.gpu
@pytest.mark.parametrize(
    "solver", ["contraction", "active-tiles", "cuda-kfoe", "cuda-kfoe-corrected"]
)
def test_card_gives_its_memory_back_when_cancelled(solver):
    volume = np.random.default_rng(6).normal(100, 15, (64, 64, 64)).astype(np.float32)
    connectedness(volume, [[1, 1, 1]], solver=solver, device="cuda")

    def cancelled():
        with pytest.raises(Cancelled):
            connectedness(
                volume, [[1, 1, 1]], solver=solver, device="cuda", progress=lambda f: f < 0.001
            )

    assert lost_memory(cancelled) == 0


@pytest.mark.gpu
def test_card_values_are_the_levels_values():
    volume = np.random.default_rng(7).normal(100, 15, (9, 9, 9)).astype(np.float32)
    scene = connectedness(volume, [[1, 1, 1]], device="cuda")
    assert np.isin(scene.values, level_values(np.arange(65536))).all()
