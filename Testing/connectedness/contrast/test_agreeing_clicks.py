"""Vessel clicks too faint for any path: two that agree lower the thresholds of what is alike."""

import numpy as np
import pytest

from Benchmarks.clicks import deepest_voxel
from Benchmarks.volumes import inside_liver, liver
from FuzzyConnectedGPULib import CachedConnectedness, segment
from FuzzyConnectedGPULib.contrast import click_threshold


@pytest.fixture(scope="module")
def session():
    """A noisy liver, its vessels, six clicks into what is missed, and how to segment by some."""
    case = inside_liver(liver((96, 192, 192), 13, 35.0))
    truth = np.logical_or.reduce(list(case.vessels.values()))
    cached = CachedConnectedness()

    def run(clicks, background=None):
        return segment(
            case.volume, clicks, spacing=case.spacing, mask=case.mask, device="cpu",
            background_seeds=background, cached=cached,
        ).labels > 0  # fmt: skip

    clicks, labels = [], np.zeros(truth.shape, bool)
    while len(clicks) < 6:
        clicks.append(deepest_voxel(truth & ~labels, case.spacing)[0])
        labels = run(clicks)
    return truth, clicks, run


def both(run, monkeypatch, *clicks):
    """The labels with the rule and without it."""
    after = run(*clicks)
    monkeypatch.setattr(click_threshold, "AGREEING", 99)
    return after, run(*clicks)


def test_agreeing_clicks_bring_back_branches_that_nobody_clicked(session, monkeypatch):
    truth, clicks, run = session
    after, before = both(run, monkeypatch, clicks)
    added = after & ~before
    assert all(after[click] for click in clicks)
    assert 0.05 * before.sum() < added.sum() <= click_threshold.TAUGHT_GROWTH * before.sum()
    assert (added & truth).sum() > 0.5 * added.sum()
    assert not (before & ~after).any()


def test_a_single_faint_click_stays_local(session, monkeypatch):
    _truth, clicks, run = session
    after, before = both(run, monkeypatch, clicks[:2])
    np.testing.assert_array_equal(after, before)


def test_background_clicks_speak_against_it(session, monkeypatch):
    truth, clicks, run = session
    false = deepest_voxel(run(clicks) & ~truth, (1, 1, 1))[0]
    after, before = both(run, monkeypatch, clicks, [false])
    assert not after[false]
    less = click_threshold.TAUGHT_GROWTH / (1 + click_threshold.CONTRADICTION)
    assert 0 < (after & ~before).sum() <= less * before.sum()
