"""Clicks of the contrast model: every one is obeyed, and none does more than it should."""

import numpy as np
import pytest

from FuzzyConnectedGPULib.segmentation import segment

SHAPE = (30, 40, 44)
FIRST, SECOND, LEAK, NOWHERE = (8, 20, 10), (22, 20, 30), (8, 31, 24), (27, 4, 4)


def tube(k, j, radius=2.0):
    planes, rows, _columns = np.indices(SHAPE)
    return (planes - k) ** 2 + (rows - j) ** 2 <= radius**2


def leak():
    """A ball beside the first tube that is as bright, and the bridge to it."""
    k, j, i = np.indices(SHAPE)
    ball = (k - 8) ** 2 + (j - 31) ** 2 + (i - 24) ** 2 <= 25
    return ball | ((abs(k - 8) <= 1) & (abs(i - 24) <= 1) & (j >= 20) & (j <= 31))


@pytest.fixture(scope="module")
def volume():
    """Two separate tubes along I, of different brightness, in noise; a leak at the first."""
    rng = np.random.default_rng(8)
    clean = np.where(tube(8, 20) | leak(), 60.0, 0.0) + 40.0 * tube(22, 20)
    return (100 + clean + rng.normal(0, 8, SHAPE)).astype(np.int16)


def labels_of(volume, seeds, background=None, **options):
    found = segment(volume, seeds, background_seeds=background, **options)
    assert found.scene.values.min() >= 0
    assert found.scene.values.max() == 1
    assert found.labels[tuple(np.transpose(seeds))].all()
    if background is not None:
        assert not found.labels[tuple(np.transpose(background))].any()
    return found.labels > 0


def test_one_click_finds_its_vessel_alone(volume):
    labels = labels_of(volume, [FIRST])
    assert labels[tube(8, 20, 1)].mean() > 0.95
    assert not labels[18:27].any()


def test_a_second_click_keeps_the_first_vessel(volume):
    first = labels_of(volume, [FIRST])
    both = labels_of(volume, [FIRST, SECOND])
    assert not (first & ~both).any()
    assert both[tube(22, 20, 1)].mean() > 0.95
    assert np.count_nonzero(both & ~first & ~tube(22, 20, 4)) < 0.05 * first.sum()


def test_a_fainter_vessel_is_added_by_its_click():
    """Its contrast is less than the threshold that the first click gives."""
    rng = np.random.default_rng(9)
    clean = 200.0 * tube(8, 20) + 25.0 * tube(22, 20)
    volume = (100 + clean + rng.normal(0, 4, SHAPE)).astype(np.int16)
    first = labels_of(volume, [FIRST])
    both = labels_of(volume, [FIRST, SECOND])
    assert not first[18:].any()
    assert both[tube(22, 20, 1)].mean() > 0.8
    added = both & ~first
    assert not (added & ~tube(22, 20, 4) & ~tube(8, 20, 4)).any()


def test_a_click_without_evidence_adds_little(volume):
    first = labels_of(volume, [FIRST])
    more = labels_of(volume, [FIRST, NOWHERE])
    assert not (first & ~more).any()
    added = np.argwhere(more & ~first)
    assert len(added) < 0.1 * first.sum()
    assert (np.abs(added - NOWHERE).max(axis=1) <= 8).all()


# --- background clicks


def test_a_background_click_takes_the_leak_it_sits_in(volume):
    with_leak = labels_of(volume, [FIRST])
    without = labels_of(volume, [FIRST], [LEAK])
    ball = leak() & (np.indices(SHAPE)[1] >= 26)
    assert with_leak[ball].mean() > 0.9
    assert without[ball].mean() < 0.05
    assert without[tube(8, 20, 1)].mean() > 0.95
    assert not (without & ~with_leak).any()


def test_a_background_click_beside_a_seed_takes_its_voxel_alone(volume):
    before = labels_of(volume, [FIRST])
    beside = (FIRST[0], FIRST[1], FIRST[2] + 1)
    after = labels_of(volume, [FIRST], [beside])
    assert before[beside]
    assert np.argwhere(before & ~after).tolist() == [list(beside)]
