"""Cached connectedness: the same result as a run without a cache."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity, connectedness
from FuzzyConnectedGPULib import cached_connectedness as cached_file
from FuzzyConnectedGPULib.cached_connectedness import (
    EVERYTHING,
    NEW_SEEDS,
    NOTHING,
    CachedConnectedness,
)
from FuzzyConnectedGPULib.segmentation import segment
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from support.problems import problems

AFFINITY = GaussianAffinity(100, 30, 30)
FIRST, SECOND, THIRD = (1, 1, 1), (6, 6, 6), (3, 5, 2)


@pytest.fixture
def volume():
    return np.random.default_rng(3).normal(100, 20, (8, 9, 10)).astype(np.int16)


@pytest.fixture
def cached():
    return CachedConnectedness()


@pytest.fixture
def runs(monkeypatch):
    """The seeds of every run of the algorithm, and whether it began at an earlier scene."""
    seen = []

    def watched(volume, seeds, affinity, **options):
        seen.append((sorted(map(tuple, seeds.tolist())), options["start"] is not None))
        return connectedness(volume, seeds, affinity, **options)

    monkeypatch.setattr(cached_file, "connectedness", watched)
    return seen


def assert_right(cached, volume, seeds, affinity=AFFINITY, **options):
    values = cached.connectedness(volume, seeds, affinity, device="cpu", **options).values
    wanted = connectedness(volume, seeds, affinity, device="cpu", **options).values
    np.testing.assert_array_equal(values, wanted)


@settings(max_examples=60)
@given(problems(largest_side=5), st.data())
def test_any_start_leads_to_the_same_scene(problem, data):
    volume, seeds, affinity, cut, mask = problem
    seeds = [seed for seed in seeds if mask is None or mask[tuple(seed)]]
    some = seeds[: data.draw(st.integers(1, len(seeds)))]
    options = {"cut": cut, "mask": mask, "device": "cpu"}
    start = connectedness(volume, some, affinity, **options)
    for solver in ("exact", "dial", "kfoe"):
        values = connectedness(
            volume, seeds, affinity, solver=solver, start=start, **options
        ).values
        wanted = connectedness(volume, seeds, affinity, **options).values
        np.testing.assert_array_equal(values, wanted, err_msg=solver)


def test_a_start_of_another_shape_is_refused(volume):
    with pytest.raises(InputError, match="scene to start from"):
        connectedness(volume, [FIRST], AFFINITY, start=np.zeros((2, 2, 2), np.float32))


def test_the_same_again_computes_nothing(cached, volume, runs):
    assert_right(cached, volume, [FIRST, SECOND])
    assert_right(cached, volume.copy(), [SECOND, FIRST])
    assert cached.work == NOTHING
    assert len(runs) == 1


def test_an_added_seed_goes_on_from_the_others(cached, volume, runs):
    assert_right(cached, volume, [FIRST])
    assert_right(cached, volume, [FIRST, SECOND])
    assert cached.work == NEW_SEEDS
    assert runs[-1] == ([FIRST, SECOND], True)


def test_a_seed_taken_away_computes_everything(cached, volume):
    assert_right(cached, volume, [FIRST, SECOND, THIRD])
    assert_right(cached, volume, [THIRD])
    assert cached.work == EVERYTHING


@pytest.mark.parametrize("change", ["volume", "affinity", "cut", "mask", "solver"])
def test_any_other_change_computes_everything(cached, volume, change):
    mask = np.ones(volume.shape, bool)
    options = {"cut": 0.1, "mask": mask, "solver": "exact"}
    assert_right(cached, volume, [FIRST], **options)
    affinity = AFFINITY
    if change == "volume":
        volume = volume.copy()
        volume[4, 4, 4] += 50
    elif change == "affinity":
        affinity = GaussianAffinity(100, 31, 30)
    elif change == "mask":
        options["mask"] = mask.copy()
        options["mask"][5:] = False
    else:
        options |= {"cut": {"cut": 0.2}, "solver": {"solver": "dial"}}[change]
    assert_right(cached, volume, [FIRST], affinity, **options)
    assert cached.work == EVERYTHING


def test_a_cancelled_run_leaves_what_was_kept(cached, volume):
    assert_right(cached, volume, [FIRST])
    with pytest.raises(Cancelled):
        cached.connectedness(volume, [SECOND], AFFINITY, device="cpu", progress=lambda _: False)
    assert_right(cached, volume, [FIRST])
    assert cached.work == NOTHING
    assert_right(cached, volume, [FIRST, SECOND])
    assert cached.work == NEW_SEEDS


def test_segment_goes_on_from_earlier_runs(cached, volume):
    first = segment(volume, [FIRST], affinity=AFFINITY, threshold=0.5, device="cpu", cached=cached)
    second = segment(volume, [FIRST], affinity=AFFINITY, threshold=0.2, device="cpu", cached=cached)
    assert cached.work == NOTHING
    np.testing.assert_array_equal(second.scene.values, first.scene.values)
    np.testing.assert_array_equal(second.labels, first.scene.values >= np.float32(0.2))


def test_the_work_of_the_contrast_model_is_told(cached):
    volume = np.random.default_rng(1).normal(100, 5, (9, 12, 30)).astype(np.int16)
    volume[3:6, 4:7] += 90
    options = dict(device="cpu", cached=cached)
    first = segment(volume, [(4, 5, 4)], **options)
    assert cached.work == EVERYTHING
    again = segment(volume.copy(), [(4, 5, 4)], **options)
    assert cached.work == NOTHING  # so the panel does not say that it went on
    np.testing.assert_array_equal(again.scene.values, first.scene.values)
    segment(volume, [(4, 5, 4), (4, 5, 20)], **options)
    assert cached.work == NEW_SEEDS
    segment(volume, [(4, 5, 4), (4, 5, 20)], border="half", **options)
    assert cached.work == NEW_SEEDS
    segment(volume[:, ::-1].copy(), [(4, 6, 4)], **options)
    assert cached.work == EVERYTHING
