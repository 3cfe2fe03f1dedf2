"""Both passes over blocks on CUDA give the CPU's bits; each card has one task at a time."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulators.cuda import EmulatedDevice
from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib import connectedness as on_the_whole
from FuzzyConnectedGPULib.distributed import BlockOptions, connectedness
from FuzzyConnectedGPULib.distributed import blocks as cpu_blocks
from FuzzyConnectedGPULib.distributed.cuda import blocks as cuda_blocks
from FuzzyConnectedGPULib.distributed.cuda import cards
from FuzzyConnectedGPULib.distributed.forest import levels_from
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers.cpu import dial
from FuzzyConnectedGPULib.solvers.cpu.blocks.nodes import sorted_by_level
from FuzzyConnectedGPULib.solvers.cuda import active_tiles
from FuzzyConnectedGPULib.solvers.cuda.contraction import contraction, node_rounds
from FuzzyVesselCoreLib.errors import DeviceError, DeviceMemoryError, InputError
from FuzzyVesselCoreLib.progress import Progress
from support.problems import problems

AFFINITY = GaussianAffinity(100, 30, 15)
ON_THE_CPU = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def noise(shape, kind=np.int16, number=0):
    return np.random.default_rng(number).normal(100, 25, shape).clip(0, 255).astype(kind)


@pytest.fixture
def two_cards(monkeypatch):
    """Two emulated cards; what was entered, and how many tasks each had at the same time."""
    made, most, lock = {}, {}, threading.Lock()

    class Card(EmulatedDevice):
        def __enter__(self):
            with lock:
                made[self.name] = made.get(self.name, 0) + 1
                most[self.name] = max(most.get(self.name, 0), made[self.name])
            return self

        def __exit__(self, *error):
            with lock:
                made[self.name] -= 1

    def choose(word):
        if word == "cpu":
            return "cpu"
        card = Card()
        card.name = "cuda:0" if word in ("auto", "cuda") else word
        return card

    monkeypatch.setattr(cards, "choose_device", choose)
    monkeypatch.setattr(cards, "cuda_status", lambda number: None)
    monkeypatch.setattr(cards, "_card_count", lambda: 2)
    return most


@pytest.mark.parametrize("solver", [contraction, active_tiles])
@ON_THE_CPU
@given(problem=problems(largest_side=19), number=st.integers(0, 2**32 - 1))
def test_seeds_with_levels(cpu_cuda, solver, problem, number):
    volume, seeds, affinity, cut, mask = problem
    plain, random = state_problem(volume, seeds, affinity, cut, mask), np.random.default_rng(number)
    floor = max(plain.cut_level, 1)
    levels = random.integers(floor, 65536, plain.seeds.size).astype(np.uint16)
    leveled = replace(plain, seed_levels=levels)
    expected = dial.solve(leveled, Progress()).levels
    np.testing.assert_array_equal(solver.solve(leveled, Progress(), cpu_cuda).levels, expected)


@pytest.mark.parametrize("share", [0.02, 0.6])
def test_many_seeds_with_levels_where_the_first_lists_of_edges_are_too_short(
    interleaved_cuda, share
):
    volume, random = noise((17, 18, 33)), np.random.default_rng(8)
    plain = state_problem(volume, np.argwhere(random.random(volume.shape) < share), AFFINITY)
    levels = random.integers(1, 65536, plain.seeds.size).astype(np.uint16)
    leveled = replace(plain, seed_levels=levels)
    expected = dial.solve(leveled, Progress()).levels
    found = contraction.solve(leveled, Progress(), interleaved_cuda).levels
    np.testing.assert_array_equal(found, expected)


def assert_forests_agree(problem, faces, gpu, number=0):
    """Both join any two face voxels, and the source, at the same levels."""
    ends = np.union1d(faces, problem.seeds)
    on_cpu = cpu_blocks.face_forest(problem, faces, Progress())
    on_cuda = cuda_blocks.face_forest(problem, faces, ends, Progress(), gpu)
    assert on_cuda[0].size == on_cpu[0].size
    starts = np.random.default_rng(number).integers(0, faces.size + 1, 12)
    for start in {*starts.tolist(), faces.size}:
        expected, found = (
            levels_from(start, sorted_by_level([forest]), faces.size + 1)
            for forest in (on_cpu, on_cuda)
        )
        np.testing.assert_array_equal(found, expected)


@ON_THE_CPU
@given(
    problem=problems(largest_side=18),
    sides=st.lists(st.booleans(), min_size=6, max_size=6).filter(any),
    with_seeds=st.booleans(),
)
def test_the_forest_of_a_block(cpu_cuda, problem, sides, with_seeds):
    volume, seeds, affinity, cut, mask = problem
    block = state_problem(volume, seeds, affinity, cut, mask)
    flat, planes = np.arange(volume.size).reshape(volume.shape), []
    for axis in range(3):
        planes += [flat.take(at, axis).ravel() for at, on in ((0, 2), (-1, 3)) if sides[axis + on]]
    faces = np.unique(np.concatenate([flat[:0].ravel(), *planes]))
    if block.mask is not None:
        faces = faces[block.mask.ravel()[faces] > 0]
    if not with_seeds:
        block = replace(block, seeds=block.seeds[:0])
    if np.union1d(faces, block.seeds).size:
        assert_forests_agree(block, faces, cpu_cuda)


def test_the_forest_has_no_race(interleaved_cuda):
    volume = noise((19, 20, 35))
    block = state_problem(volume, [[5, 5, 5], [0, 3, 3]], AFFINITY)
    flat = np.arange(volume.size).reshape(volume.shape)
    faces = np.unique(np.concatenate([flat[0].ravel(), flat[:, -1].ravel(), flat[..., 0].ravel()]))
    assert_forests_agree(block, faces, interleaved_cuda)


def test_a_block_with_more_nodes_than_can_be_numbered(monkeypatch, cpu_cuda):
    monkeypatch.setattr(node_rounds, "MAX_NODES", 100)
    block = state_problem(noise((19, 20, 35)), [[5, 5, 5]], AFFINITY)
    with pytest.raises(DeviceMemoryError, match="can be numbered"):
        cuda_blocks.face_forest(block, np.arange(400), np.arange(400), Progress(), cpu_cuda)


@settings(ON_THE_CPU, max_examples=12)
@given(problem=problems(largest_side=9), block=st.tuples(*3 * [st.integers(2, 9)]))
def test_small_volumes_of_every_kind(two_cards, problem, block):
    volume, seeds, affinity, cut, mask = problem
    whole = on_the_whole(volume, seeds, affinity, cut=cut, mask=mask, solver="dial").values
    values = np.full(np.shape(volume), -1, np.float32)
    options = BlockOptions(block=block, cut=cut, device="cuda")
    connectedness(volume, seeds, affinity, values, mask=mask, options=options)
    np.testing.assert_array_equal(values, whole)


@pytest.mark.parametrize("block", [(20, 33, 12), (11, 17, 18), 9])
@pytest.mark.parametrize(("kind", "cut"), [(np.int16, 0.0), (np.float32, 0.3)])
def test_partitions_on_two_cards(two_cards, block, kind, cut):
    volume, seeds = noise((20, 33, 35), kind), [[3, 30, 8], [10, 2, 33]]
    whole = on_the_whole(volume, seeds, AFFINITY, cut=cut, solver="dial").values
    values = np.full(volume.shape, -1, np.float32)
    connectedness(volume, seeds, AFFINITY, values, block=block, cut=cut, device="cuda")
    np.testing.assert_array_equal(values, whole)
    assert two_cards == {"cuda:0": 1, "cuda:1": 1}  # both worked, one task at a time each


def test_one_of_two_cards(two_cards):
    values = np.empty((8, 9, 10), np.float32)
    connectedness(noise(values.shape), [[3, 3, 3]], AFFINITY, values, block=5, device="cuda:1")
    assert two_cards == {"cuda:1": 1}


def test_cards_by_name(two_cards):
    values = np.empty((8, 9, 10), np.float32)
    words = "cuda:0,cuda:1"
    connectedness(noise(values.shape), [[3, 3, 3]], AFFINITY, values, block=5, device=words)
    assert two_cards == {"cuda:0": 1, "cuda:1": 1}
    assert cards.card_words("cuda:1") == ["cuda:1"]


@pytest.mark.parametrize("words", ["cuda:0,cpu", "cuda:0,auto", "cuda:0,", "cuda,cuda:1"])
def test_a_list_that_names_no_cards(words):
    with pytest.raises(InputError, match="unknown device"):
        cards.card_words(words)


def test_a_card_that_fails(monkeypatch, two_cards):
    def fail(*arguments):
        raise DeviceError("the card fell off the bus")

    monkeypatch.setattr(cuda_blocks, "levels", fail)
    volume, values = noise((8, 9, 10)), np.empty((8, 9, 10), np.float32)
    with pytest.raises(DeviceError, match="fell off"):
        connectedness(volume, [[3, 3, 3]], AFFINITY, values, block=5, device="cuda")
    with pytest.warns(UserWarning, match="The CPU was used: the card fell off"):
        connectedness(volume, [[3, 3, 3]], AFFINITY, values, block=5, device="auto")
    whole = on_the_whole(volume, [[3, 3, 3]], AFFINITY, solver="dial").values
    np.testing.assert_array_equal(values, whole)


@pytest.mark.gpu
@pytest.mark.parametrize("block", [64, (33, 80, 70), 100])
def test_blocks_on_a_real_card(block):
    volume = noise((90, 100, 110))
    whole = on_the_whole(volume, [[3, 3, 3]], AFFINITY, solver="dial").values
    values = np.full(volume.shape, -1, np.float32)
    connectedness(volume, [[3, 3, 3]], AFFINITY, values, block=block, device="cuda")
    np.testing.assert_array_equal(values, whole)
