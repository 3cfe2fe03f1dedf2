"""The CUDA solvers: their kernels on the CPU in both thread orders, and on a real card."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from emulators.cuda import EmulatedDevice
from FuzzyConnectedGPULib import GaussianAffinity, connectedness, error_voxels, fuzzy_connectedness
from FuzzyConnectedGPULib.papers.kfoe import solve_corrected as cuda_kfoe_corrected
from FuzzyConnectedGPULib.papers.kfoe import solve_cuda as cuda_kfoe
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers import contraction, dial
from FuzzyVesselCoreLib.errors import Cancelled, DeviceMemoryError, InputError
from FuzzyVesselCoreLib.progress import Progress
from support.problems import problems


def levels(solver, problem, gpu, **options):
    found = solver(problem, Progress(), gpu, **options).levels
    return found if isinstance(found, np.ndarray) else gpu.get(found)


def reference(problem):
    return dial.solve(problem, Progress())[0]


ON_THE_CPU = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@ON_THE_CPU
@given(problem=problems(largest_side=19))
def test_exact_solvers_equal_the_reference(cpu_cuda, problem):
    stated = state_problem(problem[0], problem[1], problem[2], cut=problem[3], mask=problem[4])
    np.testing.assert_array_equal(levels(contraction.solve, stated, cpu_cuda), reference(stated))


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


def test_a_path_through_every_tile_is_followed_to_its_end(cpu_cuda):
    problem = state_problem(serpentine(21), [[0, 0, 0]], GaussianAffinity(100, 10, 10))
    wanted = reference(problem)
    assert ((wanted == 65535) == (problem.voxels == 100)).all()  # the path is one piece
    np.testing.assert_array_equal(levels(contraction.solve, problem, cpu_cuda), wanted)


def test_seeds_everywhere_and_tiles_with_more_nodes_than_guessed(cpu_cuda, monkeypatch):
    random = np.random.default_rng(5)
    volume = random.integers(0, 2, (9, 17, 20)).astype(np.uint8)
    seeds = np.argwhere(random.random(volume.shape) < 0.5)
    problem = state_problem(volume, seeds, GaussianAffinity(1, 1, 1))
    monkeypatch.setattr(contraction, "NODES_PER_VOXEL", 0.0)
    np.testing.assert_array_equal(levels(contraction.solve, problem, cpu_cuda), reference(problem))


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
        np.testing.assert_array_equal(
            levels(contraction.solve, problem, cpu_cuda), reference(problem)
        )


@pytest.mark.parametrize("solver", [cuda_kfoe, cuda_kfoe_corrected])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.float32])
def test_the_papers_solvers_equal_the_reference_where_nothing_races(cpu_cuda, solver, kind):
    # Along a single row no two threads raise one voxel with different values at the same time.
    volume = np.random.default_rng(2).integers(80, 120, (1, 1, 40)).astype(kind)
    mask = np.ones(volume.shape, np.uint8)
    mask[0, 0, 35:] = 0
    problem = state_problem(volume, [[0, 0, 7]], GaussianAffinity(100, 20, 20), 0.1, mask)
    np.testing.assert_array_equal(levels(solver, problem, cpu_cuda), reference(problem))


@pytest.mark.parametrize("options", [{"corrections": -1}, {"directions": 7}])
def test_wrong_correction_options_are_named(cpu_cuda, options):
    problem = state_problem(np.eye(4)[None], [[0, 0, 0]], GaussianAffinity(1, 1, 1))
    with pytest.raises(InputError, match=next(iter(options))):
        levels(cuda_kfoe_corrected, problem, cpu_cuda, **options)


def test_seeds_with_levels_equal_the_reference(cpu_cuda):
    """As of a block whose face voxels are seeds with the levels that its neighbours give."""
    random = np.random.default_rng(16)
    for _ in range(6):
        volume = random.choice([90, 95, 100, 100, 105], (10, 17, 21)).astype(np.int16)
        seeds = np.argwhere(random.random(volume.shape) < 0.03)
        problem = state_problem(volume, seeds, GaussianAffinity(100, 9, 9))
        some = random.choice([1, 300, 20000, 65535], problem.seeds.size).astype(np.uint16)
        problem = replace(problem, seed_levels=some)
        np.testing.assert_array_equal(
            levels(contraction.solve, problem, cpu_cuda), reference(problem)
        )


def test_memory_of_noise_is_below_seven_bytes_a_voxel():
    volume = np.random.default_rng(18).normal(100, 30, (32, 48, 64)).astype(np.int16)
    problem = state_problem(volume, [[8, 9, 10]], GaussianAffinity(100, 20, 20))
    with EmulatedDevice() as gpu:
        found = contraction.solve(problem, Progress(), gpu)
        assert found.peak_bytes < 7.1 * volume.size
        np.testing.assert_array_equal(gpu.get(found.levels), reference(problem))


def test_what_does_not_fit_on_the_card_is_solved_by_the_cpu(monkeypatch):
    volume = np.random.default_rng(7).normal(100, 20, (9, 10, 40)).astype(np.int16)
    run = dict(seeds=[[4, 5, 6]], affinity=GaussianAffinity(100, 20, 20))
    wanted = connectedness(volume, **run, device="cpu")
    monkeypatch.setattr(fuzzy_connectedness, "choose_device", lambda name: EmulatedDevice())

    def spend_memory(*arguments):
        raise DeviceMemoryError("too little memory")

    monkeypatch.setattr(contraction, "solve", spend_memory)
    for device in ("auto", "cuda"):
        with pytest.warns(UserWarning, match="too little memory"):
            scene = connectedness(volume, **run, device=device)
        assert scene.device == "cpu"
        assert error_voxels(scene, wanted) == 0
    with pytest.raises(DeviceMemoryError):
        connectedness(volume, **run, device="cuda", solver="contraction")


# On a real card -----------------------------------------------------------------------------------


@pytest.mark.gpu
@settings(max_examples=300)
@given(problem=problems(largest_side=40))
def test_card_equals_the_reference(problem):
    volume, seeds, affinity, cut, mask = problem
    options = dict(cut=cut, mask=mask)
    on_card = connectedness(volume, seeds, affinity, device="cuda", **options)
    assert on_card.device.startswith("cuda:0")
    assert (
        error_voxels(on_card, connectedness(volume, seeds, affinity, solver="dial", **options)) == 0
    )


@pytest.mark.gpu
def test_races_leave_error_voxels_that_corrections_remove_on_the_card():
    volume = np.random.default_rng(9).normal(100, 15, (64, 256, 256)).astype(np.int16)
    given = dict(seeds=[[30, 99, 99]], affinity=GaussianAffinity(100, 20, 20))
    wanted = connectedness(volume, **given, solver="dial")

    def errors(solver, **options):
        found = connectedness(volume, **given, device="cuda", solver=solver, **options)
        assert (found.values <= wanted.values).all()
        return error_voxels(found, wanted)

    assert errors("cuda-kfoe") > 0
    corrected = [errors("cuda-kfoe-corrected", directions=number) for number in (0, 6)]
    assert corrected[1] < corrected[0]


@pytest.mark.gpu
def test_card_repeats_itself_bit_for_bit():
    volume = np.random.default_rng(5).normal(100, 15, (70, 90, 110)).astype(np.float32)
    affinity = GaussianAffinity(100, 20, 10)
    run = dict(affinity=affinity, device="cuda")
    scenes = [connectedness(volume, [[30, 40, 50]], **run) for _ in range(20)]
    assert [error_voxels(scene, scenes[0]) for scene in scenes] == [0] * 20


@pytest.mark.gpu
@pytest.mark.parametrize("solver", ["contraction", "cuda-kfoe", "cuda-kfoe-corrected"])
def test_card_gives_its_memory_back_when_cancelled(solver):
    import cupy

    volume = np.random.default_rng(6).normal(100, 15, (64, 64, 64)).astype(np.float32)
    connectedness(volume, [[1, 1, 1]], solver=solver, device="cuda")

    def cancelled():
        with pytest.raises(Cancelled):
            connectedness(
                volume, [[1, 1, 1]], solver=solver, device="cuda", progress=lambda f: f < 0.001
            )

    lost = []  # the least of several: other processes take memory and give it back
    while len(lost) < 20 and (not lost or min(lost) > 0):
        before = cupy.cuda.Device(0).mem_info[0]
        cancelled()
        lost.append(before - cupy.cuda.Device(0).mem_info[0])
    assert min(lost) <= 0
