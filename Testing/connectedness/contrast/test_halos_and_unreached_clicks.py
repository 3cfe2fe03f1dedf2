"""What clicks teach: those in the halo of a bright vessel, and those that no path reaches."""

import numpy as np
import pytest
from scipy import ndimage

from Benchmarks.clicks import deepest_voxel
from Benchmarks.volumes import inside_liver, liver
from FuzzyConnectedGPULib import ContrastMapCache, segment
from FuzzyConnectedGPULib.contrast import click_scene

SHAPE, FIRST = (40, 64, 64), (20, 16, 16)
THERE, FAINT = np.s_[:, 38:59, 6:27], np.s_[:, 10:23, 40:62]


@pytest.fixture(scope="module")
def volume():
    """Two bright tubes that a bridge joins, and a faint branch of the first; all blurred."""
    _k, j, i = np.indices(SHAPE)
    sharp = np.zeros(SHAPE)
    sharp[(j - 16) ** 2 + (i - 50) ** 2 <= 9] = 45
    sharp[18:22, 14:19, 16:50] = 45
    for middle in (16, 48):
        sharp[(j - middle) ** 2 + (i - 16) ** 2 <= 16] = 160
    sharp[18:22, 16:48, 14:19] = 160
    noise = np.random.default_rng(0).normal(0, 4, SHAPE)
    return (100 + ndimage.gaussian_filter(sharp, 1.6) + noise).astype(np.float32)


def run(volume, background=(), further=()):
    clicks = [FIRST, *further]
    return segment(volume, clicks, background_seeds=list(background) or None, device="cpu").labels


def ring(labels, k, middle=16):
    """The outermost labelled voxels beside the tube at (16, 16), in some directions."""
    return [
        (k, middle + dj * reach, 16 + di * reach)
        for dj, di in ((-1, 0), (0, -1))
        for reach in [max(n for n in range(12) if labels[k, middle + dj * n, 16 + di * n])]
    ]


def share(after, before, where):
    return after[where].sum() / before[where].sum()


def test_a_click_in_a_halo_takes_halos_far_away(volume):
    before = run(volume)
    click = ring(before, 6)[0]
    after = run(volume, [click])
    assert not after[click]
    assert after[THERE].sum() < before[THERE].sum()
    assert after[20, 48, 16]
    assert share(after, before, FAINT) > share(after, before, THERE)
    assert (before != after)[THERE].sum() <= click_scene.MAX_CHANGES[0] * before.sum()


def test_more_clicks_that_agree_change_more(volume):
    before = run(volume)
    one = run(volume, ring(before, 6)[:1])
    three = run(volume, [*ring(before, 6), ring(before, 33)[0]])
    assert three[THERE].sum() < one[THERE].sum()
    assert share(three, before, FAINT) > share(three, before, THERE) + 0.04


def test_a_vessel_click_in_a_halo_contradicts(volume):
    before = run(volume)
    one = run(volume, ring(before, 6)[:1])
    both = run(volume, ring(before, 6)[:1], ring(before, 33)[1:])
    assert both[ring(before, 33)[1]]
    assert both[THERE].sum() > one[THERE].sum()


def test_a_click_beside_the_vessels_teaches_nothing(volume):
    before = run(volume)
    np.testing.assert_array_equal(run(volume, [(6, 34, 50)]), before)


# --- vessel clicks that no path reaches: two lower the least contrast of all vessels


@pytest.fixture(scope="module")
def session():
    """A noisy liver, its vessels, six clicks into what is missed, and how to segment by some."""
    case = inside_liver(liver((96, 192, 192), 13, 35.0))
    truth = np.logical_or.reduce(list(case.vessels.values()))
    cached = ContrastMapCache()

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
    monkeypatch.setattr(click_scene, "AGREEING", 99)
    return after, run(*clicks)


def test_two_unreached_clicks_bring_back_branches_that_nobody_clicked(session, monkeypatch):
    truth, clicks, run = session
    after, before = both(run, monkeypatch, clicks)
    added = after & ~before
    assert all(after[click] for click in clicks)
    assert 0.05 * before.sum() < added.sum() <= click_scene.AGREED_GROWTH * before.sum()
    assert (added & truth).sum() > 0.5 * added.sum()
    assert not (before & ~after).any()


def test_a_single_unreached_click_stays_local(session, monkeypatch):
    _truth, clicks, run = session
    after, before = both(run, monkeypatch, clicks[:2])
    np.testing.assert_array_equal(after, before)


def test_background_clicks_speak_against_it(session, monkeypatch):
    truth, clicks, run = session
    false = deepest_voxel(run(clicks) & ~truth, (1, 1, 1))[0]
    after, before = both(run, monkeypatch, clicks, [false])
    assert not after[false]
    less = click_scene.AGREED_GROWTH / (1 + click_scene.CONTRADICTION)
    assert 0 < (after & ~before).sum() <= less * before.sum()
