"""Relative connectedness on CUDA: the kernels on the CPU and on a real card, bit for bit."""

import numpy as np
import pytest
from test_relative_connectedness import AFFINITY, crossing_vessels

from FuzzyConnectedGPULib import GaussianAffinity, relative_connectedness
from FuzzyConnectedGPULib.relative import contrast_division, stages
from FuzzyConnectedGPULib.relative.cuda import by_groups, owners
from FuzzyVesselCoreLib.errors import Cancelled
from support.relative_cases import WAYS, assert_as_defined, random_groups, random_volume

TYPES = (np.uint8, np.int16, np.uint16, np.float32)


def play(monkeypatch, device):
    monkeypatch.setattr(stages, "choose_device", lambda word: "cpu" if word == "cpu" else device)


def random_case(seed, largest=(24, 24, 40)):
    """Volume, groups, cut, mask: many ties, several tiles, of any type."""
    random = np.random.default_rng(seed)
    shape = tuple(int(random.integers(1, n)) for n in largest)
    volume = random.choice([80, 90, 100, 100, 101, 120], shape).astype(TYPES[seed % 4])
    groups = random_groups(random, shape, random.integers(1, 9), 3)
    mask = None
    if seed % 3 == 0:
        mask = (random.random(shape) < 0.85).astype(np.uint8)
        mask[tuple(np.concatenate(groups).T)] = 1
    return volume, groups, float(random.choice([0, 0, 0.5])), mask


def assert_same(volume, groups, affinity, cut=0.0, mask=None):
    for iterative, ties in WAYS:
        options = dict(cut=cut, mask=mask, iterative=iterative, ties=ties)
        ours = relative_connectedness(volume, groups, affinity, device="cuda", **options)
        theirs = relative_connectedness(volume, groups, affinity, device="cpu", **options)
        assert ours.device != theirs.device
        for name in ("labels", "strength", "disputed"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_cpu(cooperative_cuda, monkeypatch, seed):
    play(monkeypatch, cooperative_cuda)
    volume, groups, cut, mask = random_case(seed)
    side = ["both", "bright", "dark"][seed % 3]
    assert_same(volume, groups, GaussianAffinity(100, 20, 20, side=side), cut, mask)


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_definition(cpu_cuda, monkeypatch, seed):
    play(monkeypatch, cpu_cuda)
    random = np.random.default_rng(seed)
    for _ in range(20):
        volume = random_volume(random)
        groups = random_groups(random, volume.shape, random.integers(1, 6), 3)
        assert_as_defined(volume, groups, AFFINITY, device="cuda")


@pytest.mark.parametrize("seed", range(3))
def test_no_thread_depends_on_when_another_comes(interleaved_cuda, monkeypatch, seed):
    play(monkeypatch, interleaved_cuda)
    volume, groups, cut, mask = random_case(seed, (10, 10, 18))
    assert_same(volume, groups, AFFINITY, cut, mask)


@pytest.mark.parametrize("seed", range(3))
def test_group_by_group_is_the_same(cpu_cuda, monkeypatch, seed):
    play(monkeypatch, cpu_cuda)
    runs = []
    monkeypatch.setattr(owners.exact, "suits", lambda *_: bool(runs.append(1)))
    volume, groups, cut, mask = random_case(seed)
    assert_same(volume, groups, AFFINITY, cut, mask)
    assert len(runs) == len(WAYS)


def test_group_by_group_when_the_room_does_not_suffice(cpu_cuda, monkeypatch):
    play(monkeypatch, cpu_cuda)
    monkeypatch.setattr("FuzzyConnectedGPULib.solvers.cuda.contraction.node_rounds.MAX_NODES", 0)
    called = []
    kept = by_groups.propagate
    monkeypatch.setattr(by_groups, "propagate", lambda *volume: called.append(1) or kept(*volume))
    assert_same(*random_case(1)[:2], AFFINITY)
    assert called


def test_cancelled_between_rounds(cpu_cuda, monkeypatch):
    play(monkeypatch, cpu_cuda)
    volume = np.full((20, 20, 20), 100, np.int16)
    points = [[(0, 0, 0)], [(19, 19, 19)]]
    for last in (0.5, 0.8):
        with pytest.raises(Cancelled):
            relative_connectedness(
                volume, points, AFFINITY, device="cuda", iterative=True,
                progress=lambda share, last=last: share < last,
            )  # fmt: skip


def test_evidence_is_found_on_the_device(cpu_cuda, monkeypatch):
    monkeypatch.setattr(contrast_division, "choose_device", lambda word: cpu_cuda)
    volume, points = crossing_vessels()
    options = dict(model="contrast", iterative=True, ties="nearest")
    ours = relative_connectedness(volume, points, device="cuda", **options)
    monkeypatch.undo()
    theirs = relative_connectedness(volume, points, device="cpu", **options)
    assert ours.device == cpu_cuda.name
    np.testing.assert_array_equal(ours.labels, theirs.labels)
    np.testing.assert_array_equal(ours.strength, theirs.strength)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(12))
def test_equals_the_cpu_on_a_card(seed):
    volume, groups, cut, mask = random_case(seed, (70, 90, 110))
    assert_same(volume, groups, AFFINITY, cut, mask)
