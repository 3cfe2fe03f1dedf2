"""A run that was ended goes on where it stopped, and only with the same inputs."""

import os

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib import connectedness as on_the_whole
from FuzzyConnectedGPULib.distributed import connectedness, steps
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from support.ended_runs import KILLS, check_computed, fail_at, run_killed_after

AFFINITY, SEEDS = GaussianAffinity(100, 30, 15), [[3, 4, 5]]
TOP = np.float32(65535)


@pytest.fixture
def volume():
    return np.random.default_rng(1).normal(100, 25, (16, 18, 20)).astype(np.float32)


@pytest.fixture
def source(volume, tmp_path):
    np.save(tmp_path / "source.npy", volume)
    return tmp_path / "source.npy"


STEPS = [("contract_block", 5), ("merge_group", 1), ("solve_group", 2), ("finish_block", 10)]


@pytest.mark.parametrize(("name", "after"), STEPS)
def test_finished_steps_are_not_computed_again(name, after, monkeypatch, volume, source, tmp_path):
    target = tmp_path / "target.npy"
    repair = fail_at(monkeypatch, steps, name, after)
    options = {"block": (8, 9, 5), "device": "cpu"}
    with pytest.raises(KeyboardInterrupt):
        connectedness(source, SEEDS, AFFINITY, target, **options)
    assert not target.exists()
    repair()
    run = connectedness(source, SEEDS, AFFINITY, target, **options)
    all_steps = {"contract": 16, "merge": 2, "solve": 3, "finish": 16}
    check_computed(run, all_steps, name, after)
    whole = on_the_whole(volume, SEEDS, AFFINITY, solver="dial").values
    np.testing.assert_array_equal(np.load(target) / TOP, whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.npy", "target.npy"]


KILLED = """
from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import connectedness
affinity = GaussianAffinity(100, 30, 15)
connectedness(given[0], [[3, 4, 5]], affinity, given[1], block=8, device="cpu")
"""


@KILLS
def test_a_killed_process(volume, source, tmp_path):
    target = tmp_path / "target.npy"
    run_killed_after(steps, "finish_block", 10, KILLED, source, target)
    run = connectedness(source, SEEDS, AFFINITY, target, block=8)
    assert run.computed["contract"] == 0
    assert run.computed["finish"] == run.blocks - 10
    whole = on_the_whole(volume, SEEDS, AFFINITY, solver="dial").values
    np.testing.assert_array_equal(np.load(target) / TOP, whole)


def test_a_second_run_in_the_folder_is_refused(volume, source, tmp_path):
    """The first one goes on, and its result is whole."""
    target, told = tmp_path / "target.npy", []

    def while_it_runs(share):
        if share > 0.2 and not told:
            with pytest.raises(InputError, match="in use by another run: process") as error:
                connectedness(source, SEEDS, AFFINITY, target, block=10)
            told.append(error)

    connectedness(source, SEEDS, AFFINITY, target, block=10, progress=while_it_runs)
    assert told
    whole = on_the_whole(volume, SEEDS, AFFINITY, solver="dial").values
    np.testing.assert_array_equal(np.load(target) / TOP, whole)


def unfinished(monkeypatch, source, target, after=3, **options):
    repair = fail_at(monkeypatch, steps, "finish_block", after)
    with pytest.raises(KeyboardInterrupt):
        connectedness(source, SEEDS, AFFINITY, target, block=10, **options)
    repair()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (dict(block=9), "block"),
        (dict(cut=0.5), "cut"),
        (dict(seeds=[[0, 0, 0]]), "seeds"),
        (dict(affinity=GaussianAffinity(99, 30, 15)), "affinity"),
        (dict(mask=np.ones((16, 18, 20), np.uint8)), "mask"),
        (dict(target_type="float32"), "target"),
    ],
)
def test_other_parameters_are_refused(changed, named, monkeypatch, source, tmp_path):
    target = tmp_path / "target.npy"
    unfinished(monkeypatch, source, target)
    inputs = {"seeds": SEEDS, "affinity": AFFINITY, "block": 10, **changed}
    with pytest.raises(InputError, match=f"unfinished run whose {named} differed"):
        connectedness(source, target=target, **inputs)


def test_a_changed_file_is_refused(monkeypatch, volume, source, tmp_path):
    unfinished(monkeypatch, source, tmp_path / "target.npy")
    changed = volume.copy()
    changed[15, 15, 15] += 1
    np.save(source, changed)
    os.utime(source, (1, 1))
    with pytest.raises(InputError, match=r"changed during the run, in block \[10:16, 10:18, 10:20"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "target.npy", block=10)
    np.save(source, volume.astype(np.float64))
    with pytest.raises(InputError, match="whose source differed"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "target.npy", block=10)


def test_a_file_that_was_copied_again_is_the_same(monkeypatch, volume, source, tmp_path):
    unfinished(monkeypatch, source, tmp_path / "target.npy")
    np.save(source, volume)
    os.utime(source, (1, 1))
    run = connectedness(source, SEEDS, AFFINITY, tmp_path / "target.npy", block=10)
    assert run.computed["contract"] == 0
    assert run.computed["finish"] == run.blocks - 3


def test_a_changed_array_is_refused(monkeypatch, volume, tmp_path):
    target = np.empty(volume.shape, np.float32)
    unfinished(monkeypatch, volume, target, folder=tmp_path / "run")
    volume[15, 15, 15] += 1
    with pytest.raises(InputError, match=r"changed during the run, in block \[10:16, 10:18, 10:20"):
        connectedness(volume, SEEDS, AFFINITY, target, block=10, folder=tmp_path / "run")


def test_a_result_that_was_lost_is_computed_again(monkeypatch, volume, tmp_path):
    target = np.empty(volume.shape, np.float32)
    unfinished(monkeypatch, volume, target, folder=tmp_path / "run")
    target[:] = 0
    run = connectedness(volume, SEEDS, AFFINITY, target, block=10, folder=tmp_path / "run")
    assert run.computed["contract"] == 0
    assert run.computed["finish"] == run.blocks
    whole = on_the_whole(volume, SEEDS, AFFINITY, solver="dial").values
    np.testing.assert_array_equal(target, whole)
    assert not (tmp_path / "run").exists()


def test_a_damaged_intermediate_result(monkeypatch, source, tmp_path):
    unfinished(monkeypatch, source, tmp_path / "target.npy")
    damaged = tmp_path / "target.npy.unfinished" / "faces-0-1-1-1.npz"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 255
    damaged.write_bytes(content)
    with pytest.raises(InputError, match=r"faces-0-1-1-1.npz cannot be read"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "target.npy", block=10)
    damaged.unlink()
    connectedness(source, SEEDS, AFFINITY, tmp_path / "target.npy", block=10)


def test_cancelled_and_continued(volume, source, tmp_path):
    shares = []

    def until_half(share):
        shares.append(share)
        return share < 0.5

    target = tmp_path / "target.npy"
    with pytest.raises(Cancelled):
        connectedness(source, SEEDS, AFFINITY, target, block=8, progress=until_half)
    assert shares == sorted(shares)
    assert not target.exists()
    shares.clear()
    run = connectedness(source, SEEDS, AFFINITY, target, block=8, progress=shares.append)
    assert run.computed["contract"] < run.blocks
    assert shares == sorted(shares)
    assert shares[-1] == 1
    whole = on_the_whole(volume, SEEDS, AFFINITY, solver="dial").values
    np.testing.assert_array_equal(np.load(target) / TOP, whole)
