"""A volume larger than the card: solved on it, block by block, with the same bits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from emulators.cuda import EmulatedDevice
from FuzzyConnectedGPULib import GaussianAffinity, SolverOptions, connectedness, fuzzy_connectedness
from FuzzyConnectedGPULib.distributed.cuda import joining, streaming
from FuzzyConnectedGPULib.distributed.partition import Partition
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers.cpu import dial
from FuzzyConnectedGPULib.solvers.cuda import active_tiles, exact
from FuzzyConnectedGPULib.solvers.cuda.contraction import contraction, node_rounds
from FuzzyVesselCoreLib.errors import Cancelled, DeviceMemoryError, InputError
from FuzzyVesselCoreLib.progress import Progress
from support.problems import problems

AFFINITY = GaussianAffinity(100, 30, 15)


def noise(shape, kind=np.int16):
    return np.random.default_rng(1).normal(100, 25, shape).clip(0, 255).astype(kind)


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(problem=problems(largest_side=14), limit=st.integers(30, 900))
def test_small_volumes_of_every_kind(monkeypatch, problem, limit):
    assume(problem[0].size > 1)
    monkeypatch.setattr(streaming, "MIN_BLOCK", 1)
    stated = state_problem(problem[0], problem[1], problem[2], cut=problem[3], mask=problem[4])
    gpu = EmulatedDevice(memory=limit * 26)  # no type of voxel takes more
    found = streaming.solve(stated, Progress(), gpu)
    np.testing.assert_array_equal(found.levels, dial.solve(stated, Progress()).levels)


@pytest.mark.parametrize("cut", [0.0, 0.4])
def test_the_default_solver_with_a_quarter_of_the_memory(monkeypatch, cut):
    """Slabs, and the option that caps the memory."""
    volume, seeds = noise((40, 30, 35)), [[20, 11, 12], [0, 0, 0]]
    whole = connectedness(volume, seeds, AFFINITY, cut=cut, solver="dial")
    monkeypatch.setattr(fuzzy_connectedness, "choose_device", lambda word: EmulatedDevice())
    memory = exact.BYTES_PER_VOXEL * volume.size // 4
    capped = connectedness(volume, seeds, AFFINITY, cut=cut, device="cuda", device_memory=memory)
    np.testing.assert_array_equal(capped.values, whole.values)
    assert capped.rounds > 4  # blocks
    with pytest.raises(InputError, match="device_memory is 0"):
        SolverOptions(device_memory=0)


@pytest.mark.parametrize("masked", [False, True])
def test_more_face_voxels_than_one_graph_can_have(monkeypatch, masked):
    volume = noise((40, 30, 35))
    mask = np.random.default_rng(2).random(volume.shape) < 0.8 if masked else None
    problem = state_problem(volume, np.argwhere(volume > 180)[:2], AFFINITY, 0.1, None)
    if masked:
        mask.ravel()[problem.seeds] = True
        problem = replace(problem, mask=mask.astype(np.uint8))
    expected = dial.solve(problem, Progress()).levels
    joined = []
    inner = joining.face_levels
    monkeypatch.setattr(
        joining, "face_levels", lambda graph, gpu: joined.append(graph.source) or inner(graph, gpu)
    )
    with streaming.TwoPasses(problem, Partition(volume.shape, (9, 8, 9)), EmulatedDevice()) as run:
        found = run.solve(Progress())
        np.testing.assert_array_equal(found.levels, expected)
        assert len(joined) == 1
        monkeypatch.setattr(joining, "fits", lambda vertices, gpu: vertices < 15_000)
        np.testing.assert_array_equal(run.solve(Progress()).levels, expected)
    assert len(joined) == 1 + 1 + 2 + 12  # at once; the groups of three levels
    assert max(joined[1:]) < joined[0]


def test_slabs_or_cubes():
    problem = state_problem(np.zeros((64, 32, 32), np.uint8), [[0, 0, 0]], AFFINITY)
    assert streaming.block_shape(problem, 20 * 32 * 32) == (16, 32, 32)
    assert streaming.block_shape(problem, 2 * 32 * 32) == (11, 11, 11)  # slabs: too many faces
    assert streaming.block_shape(problem, 1000) == (10, 8, 8)


def test_too_many_nodes_for_a_block_make_smaller_ones(monkeypatch):
    monkeypatch.setattr(node_rounds, "MAX_NODES", 900)
    monkeypatch.setattr(streaming, "MIN_BLOCK", 1)
    problem = state_problem(noise((40, 30, 35)), [[20, 11, 12]], AFFINITY)
    gpu = EmulatedDevice()
    with pytest.raises(DeviceMemoryError):
        contraction.solve(problem, Progress(), gpu)
    monkeypatch.setattr(active_tiles, "solve", None)
    found = exact.solve(problem, Progress(), gpu)
    np.testing.assert_array_equal(found.levels, dial.solve(problem, Progress()).levels)


def test_a_card_with_hardly_any_memory():
    problem = state_problem(noise((40, 30, 35)), [[20, 11, 12]], AFFINITY)
    gpu = EmulatedDevice(memory=10_000)
    with pytest.raises(DeviceMemoryError, match="Close other programs"):
        streaming.solve(problem, Progress(), gpu)
    found = exact.solve(problem, Progress(), gpu)  # by active tiles
    np.testing.assert_array_equal(found.levels, dial.solve(problem, Progress()).levels)


def test_cancelling():
    shares = []

    def until_half(share):
        shares.append(share)
        return share < 0.5

    problem = state_problem(noise((40, 30, 35)), [[20, 11, 12]], AFFINITY)
    with pytest.raises(Cancelled):
        exact.solve(problem, Progress(until_half), EmulatedDevice(memory=100_000))
    assert shares == sorted(shares)
    assert shares[-1] < 0.6


@pytest.mark.gpu
def test_a_quarter_of_the_memory_on_a_real_card():
    volume = noise((128, 256, 256))
    whole = connectedness(volume, [[20, 11, 12]], AFFINITY, device="cuda")
    memory = 12 * volume.size // 4
    capped = connectedness(volume, [[20, 11, 12]], AFFINITY, device="cuda", device_memory=memory)
    np.testing.assert_array_equal(capped.values, whole.values)
    assert capped.peak_bytes <= memory
