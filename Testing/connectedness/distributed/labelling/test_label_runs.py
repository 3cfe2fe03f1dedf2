"""Labels over blocks: runs that were ended go on, limits hold, and bad input is named."""

import shutil
import time
import tracemalloc
from collections import namedtuple

import numpy as np
import pytest

from FuzzyConnectedGPULib.distributed import LabelOptions, labels, volume_curve
from FuzzyConnectedGPULib.distributed.labelling import label_steps
from FuzzyConnectedGPULib.distributed.labelling.runs.label_needs import label_need
from FuzzyConnectedGPULib.distributed.partition import Partition
from FuzzyConnectedGPULib.distributed.run_folder import RunFolder
from FuzzyConnectedGPULib.distributed.stopping import stop_requested
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from support.ended_runs import KILLS, check_computed, fail_at, run_killed_after
from support.whole_labels import whole_labels

THRESHOLD = 0.8


@pytest.fixture
def scene():
    return np.random.default_rng(1).random((16, 18, 20)).astype(np.float32)


@pytest.fixture
def source(scene, tmp_path):
    np.save(tmp_path / "scene.npy", scene)
    return tmp_path / "scene.npy"


STEPS = [("count_block", 7), ("join_group", 1), ("write_block", 10)]


@pytest.mark.parametrize(("name", "after"), STEPS)
def test_finished_steps_are_not_computed_again(name, after, monkeypatch, scene, source, tmp_path):
    target, options = tmp_path / "labels.npy", {"block": 8, "numbered": True}
    repair = fail_at(monkeypatch, label_steps, name, after)
    with pytest.raises(KeyboardInterrupt):
        labels(source, None, target, **options)
    assert not target.exists()
    repair()
    run = labels(source, None, target, **options)
    all_steps = {"count": 18, "label": 18, "join": 5, "spread": 5, "write": 18}
    check_computed(run, all_steps, name, after)
    np.testing.assert_array_equal(np.load(target), whole_labels(scene, float(run.threshold)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.npy", "scene.npy"]


KILLED = """
from FuzzyConnectedGPULib.distributed import labels
labels(given[0], 0.8, given[1], block=8)
"""


@KILLS
def test_a_killed_process(scene, source, tmp_path):
    target = tmp_path / "labels.npy"
    run_killed_after(label_steps, "write_block", 5, KILLED, source, target)
    run = labels(source, THRESHOLD, target, block=8)
    assert run.computed["label"] == 0
    assert run.computed["write"] == run.blocks - 5
    np.testing.assert_array_equal(np.load(target), whole_labels(scene, THRESHOLD) > 0)


def test_cancelled_and_continued(scene, source, tmp_path, monkeypatch):
    shares, done, step = [], [], label_steps.label_block

    def until_half(share):
        shares.append(share)
        return share < 0.5

    def not_too_fast(job, group):
        """The last steps are not done before the run is cancelled, however slow its thread is."""
        until = time.monotonic() + 30
        while len(done) == 15 and not stop_requested(job.run) and time.monotonic() < until:
            time.sleep(0.001)
        step(job, group)
        done.append(group)

    target = tmp_path / "labels.npy"
    monkeypatch.setattr(label_steps, "label_block", not_too_fast)
    with pytest.raises(Cancelled):
        labels(source, THRESHOLD, target, block=8, progress=until_half)
    monkeypatch.undo()
    assert not target.exists()
    run = labels(source, THRESHOLD, target, block=8, progress=shares.append)
    assert 0 < run.computed["label"] < run.blocks
    half = next(n for n, share in enumerate(shares) if share >= 0.5)
    assert shares[: half + 1] == sorted(shares[: half + 1])
    assert shares[half + 1 :] == sorted(shares[half + 1 :])
    assert shares[-1] == 1
    np.testing.assert_array_equal(np.load(target), whole_labels(scene, THRESHOLD) > 0)


def test_a_second_run_in_the_folder_is_refused(scene, source, tmp_path, monkeypatch):
    target, told, step = tmp_path / "labels.npy", [], label_steps.label_block

    def while_it_runs(job, group):
        if not told:
            with pytest.raises(InputError, match="in use by another run: process") as error:
                labels(source, THRESHOLD, target, block=8)
            told.append(error)
        step(job, group)

    monkeypatch.setattr(label_steps, "label_block", while_it_runs)
    labels(source, THRESHOLD, target, block=8)
    assert told
    np.testing.assert_array_equal(np.load(target), whole_labels(scene, THRESHOLD) > 0)


def unfinished(monkeypatch, source, target, after=3, **options):
    repair = fail_at(monkeypatch, label_steps, "write_block", after)
    with pytest.raises(KeyboardInterrupt):
        labels(source, THRESHOLD, target, block=8, **options)
    repair()


def test_other_parameters_are_refused(monkeypatch, source, tmp_path):
    target = tmp_path / "labels.npy"
    unfinished(monkeypatch, source, target)
    for named, changed in (
        ("block", dict(block=9)),
        ("threshold", dict(threshold=0.7)),
        ("target", dict(numbered=True)),
        ("components", dict(components="largest")),
        ("smallest component", dict(min_voxels=2)),
        ("filled gaps", dict(fill_gaps=1)),
        ("seeds", dict(seeds=[[0, 0, 0]])),
        ("background seeds", dict(background_seeds=[[0, 0, 0]])),
        ("mask", dict(mask=np.ones((16, 18, 20), np.uint8))),
    ):
        inputs = {"threshold": THRESHOLD, "block": 8, **changed}
        with pytest.raises(InputError, match=f"unfinished run whose {named} differed"):
            labels(source, target=target, **inputs)


def test_a_scene_that_changes_is_refused(monkeypatch, scene, tmp_path):
    target = np.empty(scene.shape, np.uint8)
    unfinished(monkeypatch, scene, target, folder=tmp_path / "run")
    scene[15, 15, 15] += 0.001
    with pytest.raises(InputError, match=r"changed during the run, in block \[8:16, 8:16, 8:16\]"):
        labels(scene, THRESHOLD, target, block=8, folder=tmp_path / "run")


def test_a_scene_that_changes_between_the_passes_is_refused(monkeypatch, scene):
    step = label_steps.spread_group

    def changing(job, group):
        scene[0, 0, 0] = 0.9999
        step(job, group)

    monkeypatch.setattr(label_steps, "spread_group", changing)
    with pytest.raises(InputError, match=r"changed during the run, in block \[0:8, 0:8, 0:8\]"):
        labels(scene, THRESHOLD, np.empty(scene.shape, np.uint8), block=8)


def test_a_result_that_was_lost_is_made_again(monkeypatch, scene, tmp_path):
    target = np.empty(scene.shape, np.uint8)
    unfinished(monkeypatch, scene, target, folder=tmp_path / "run")
    target[:] = 9
    run = labels(scene, THRESHOLD, target, block=8, folder=tmp_path / "run")
    assert (run.computed["label"], run.computed["write"]) == (0, run.blocks)
    np.testing.assert_array_equal(target, whole_labels(scene, THRESHOLD) > 0)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("wrong", [np.nan, -0.1, 1.5])
def test_values_that_are_none_of_connectedness(wrong, scene):
    scene[9, 3, 17] = wrong
    named = r"scene's block \[8:16, 0:8, 16:20\] .* has 1 voxels .* I,J,K = 17,3,9"
    with pytest.raises(InputError, match=named):
        labels(scene, THRESHOLD, np.empty(scene.shape, np.uint8), block=8)
    with pytest.raises(InputError, match=named):
        volume_curve(scene, options=LabelOptions(block=8))


def test_inputs_that_do_not_fit(scene, source, tmp_path):
    found = np.empty(scene.shape, np.uint8)
    for error, threshold, keywords in (
        ("threshold is 1.2", 1.2, {}),
        ("below the cut", 0.2, {"cut": 0.3}),
        ("components are 'some'", 0.5, {"components": "some"}),
        ("no seeds are given", 0.5, {"components": "seeds"}),
        ("min_voxels is 0", 0.5, {"min_voxels": 0}),
        ("filled in 11 rounds", 0.5, {"fill_gaps": 11}),
        ("mask has shape", 0.5, {"mask": np.ones((3, 3, 3))}),
        ("lie outside the volume", 0.5, {"seeds": [[99, 0, 0]]}),
    ):
        with pytest.raises(InputError, match=error):
            labels(scene, threshold, found, **keywords)
    with pytest.raises(InputError, match="type is int16, but must be uint16 or float32"):
        labels(scene.astype(np.int16), 0.5, found)
    with pytest.raises(InputError, match="the scene is a labelmap"):
        labels(scene > 0.5, 0.5, found)
    with pytest.raises(InputError, match="target's type is uint8, but must be uint32"):
        labels(scene, 0.5, found, numbered=True)
    with pytest.raises(InputError, match="target is the scene"):
        labels(found, None, found)
    with pytest.raises(InputError, match=r"scene\.npy exists"):
        labels(scene, 0.5, source)
    assert [path.name for path in tmp_path.iterdir()] == ["scene.npy"]


def test_memory_and_space_are_looked_at_first(scene, source, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="A task needs up to"):
        labels(scene, 0.5, np.empty(scene.shape, np.uint8), block=8, memory_limit=1000)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 1))
    with pytest.raises(InputError, match=r"the run needs up to .* free some space"):
        labels(source, 0.5, tmp_path / "labels.npy", block=8)
    assert [path.name for path in tmp_path.iterdir()] == ["scene.npy"]


@pytest.mark.parametrize("density", [0.12, 0.5, 1.0])
def test_the_memory_of_a_task_is_below_the_estimate(density):
    """Of single voxels, of noise and of a full block, all numbered."""
    random = np.random.default_rng(3).random((64, 48, 56))
    scene = (random < density).astype(np.uint16) * np.uint16(65535)
    found = np.zeros(scene.shape, np.uint32)
    options = {"block": (32, 48, 56), "numbered": True}
    labels(scene, 0.5, found, **options)
    tracemalloc.start()
    labels(scene, 0.5, found, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < label_need(Partition(scene.shape, options["block"]), 2, 0).task_memory


def test_a_target_that_was_deleted_is_written_again(tmp_path, monkeypatch):
    """The run was ended between moving its target into place and tidying up."""
    scene = np.random.default_rng(1).random((9, 10, 11), np.float32)
    np.save(tmp_path / "scene.npy", scene)
    given = tmp_path / "scene.npy", 0.7, tmp_path / "labels.npy"

    def ended(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(RunFolder, "remove", ended)
    with pytest.raises(KeyboardInterrupt):
        labels(*given, block=5)
    wanted = np.load(given[2])
    given[2].unlink()
    monkeypatch.undo()
    labels(*given, block=5)
    np.testing.assert_array_equal(np.load(given[2]), wanted)
