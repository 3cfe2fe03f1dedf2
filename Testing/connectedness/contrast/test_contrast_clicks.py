"""Clicks of the contrast model: each is obeyed, none does more than it should; what is refused."""

from functools import partial

import numpy as np
import pytest

from FuzzyConnectedGPULib.segmentation import segment
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

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


def test_a_click_without_contrast_adds_little(volume):
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


# --- whatever volume there is, and what is refused


@pytest.mark.parametrize("number", range(40))
def test_every_click_is_obeyed_in_whatever_volume(number):
    """A click on a dark voxel among bright ones gave memberships of 2, of infinity and of NaN.

    The order of all clicks but the first does not count; in one volume of eight it did.
    """
    rng = np.random.default_rng(number)
    shape = tuple(rng.integers(1, 9, 3))
    kind = rng.choice(["uint8", "int16", "float32"])
    volume = rng.normal(100, 20, shape) + rng.choice([0, -90, 100], shape, p=[0.8, 0.1, 0.1])
    places = rng.permutation(np.argwhere(np.ones(shape)))
    seeds, background = places[: rng.integers(1, 9)], places[8 : rng.integers(9, 12)]
    spacing = [(1, 1, 1), (5, 1, 1), (0.3, 2, 1)][rng.integers(3)]
    mask = rng.random(shape) < rng.choice([0.5, 2])
    mask[tuple(seeds.T)] = True
    background = background if len(background) else None
    options = dict(spacing=spacing, mask=mask)
    with np.errstate(all="raise"):
        labels = labels_of(volume.astype(kind), seeds, background, **options)
    assert not labels[~mask].any()
    others = np.concatenate([seeds[:1], seeds[:0:-1]])
    assert np.array_equal(labels_of(volume.astype(kind), others, background, **options), labels)


@pytest.mark.parametrize("seeds", [[FIRST, SECOND], {"a": [FIRST], "b": [NOWHERE, SECOND]}])
def test_a_click_outside_the_mask_is_left_out_and_named(volume, seeds):
    mask = np.ones(SHAPE, bool)
    mask[SECOND] = False
    found = segment(volume, seeds, mask=mask, device="cpu")
    assert not found.labels[SECOND]
    assert found.notes == ("Left out, because outside the mask: I,J,K = 30,20,22.",)


def test_an_image_of_one_slice_takes_two_distances(volume):
    found = segment(volume[8], [FIRST[1:]], spacing=(0.5, 0.5))
    deep = segment(volume[8:9], [(0, *FIRST[1:])], spacing=(0.5, 0.5, 0.5))
    assert found.labels.shape == SHAPE[1:]
    assert np.array_equal(found.labels, deep.labels[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(seeds=[FIRST], background_seeds=[FIRST]), "the same voxel, I,J,K = 10,20,8"),
        (dict(seeds=[(0, 0, 99)]), "1 of 1 seeds lie outside"),
        (dict(seeds=[]), "There is no seed"),
        (dict(seeds=[FIRST], background_seeds=[(-1, 0, 0)]), "background seeds lie outside"),
        (dict(seeds=[FIRST], spacing=(1, 0, 1)), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], spacing=(1, np.nan, 1)), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], spacing=(1, 1)), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], spacing="wide"), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], mask=np.zeros(SHAPE)), "mask is empty"),
        (dict(seeds=[FIRST], mask=np.indices(SHAPE)[0] > 9), "Every seed lies outside the mask"),
        (dict(seeds=[FIRST], threshold=0.0), "threshold"),
        (dict(seeds=[FIRST], model="magic"), "Unknown model 'magic'; one of contrast, affinity"),
    ],
)
def test_what_cannot_be_used_is_named(volume, arguments, message):
    with pytest.raises(InputError, match=message):
        segment(volume, **arguments)


def test_a_run_can_be_cancelled_at_any_time(volume):
    segment(volume, [FIRST], progress=lambda f: True)  # a first run waits for compiled code, too
    fractions, run = [], partial(segment, volume, [FIRST], background_seeds=[SECOND])
    run(progress=lambda f: fractions.append(f) or True)
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0, 1)
    for stop in range(len(fractions)):
        left = [False] + [True] * stop
        with pytest.raises(Cancelled):
            run(progress=lambda _f, left=left: left.pop())


# --- clicks without any contrast, and further clicks in a vessel that is there

FEW = 60  # voxels


def run(phantom, seeds):
    return segment(phantom.volume, seeds, spacing=phantom.spacing, device="cpu")


def test_a_first_click_beside_a_faint_vessel_has_its_contrast():
    k, j, _i = np.indices((40, 60, 60))
    bright = np.hypot(k - 20, j - 30) <= 2
    noise = np.random.default_rng(0).normal(0, 8, bright.shape)
    found = segment((20 * bright + noise).astype(np.float32), [(20, 34, 30)], device="cpu")
    assert found.labels[bright].mean() > 0.5
    assert (found.scene.without_contrast, found.scene.notes) == ((), ())


AIR = [(54, 63, 31), (40, 14, 62), (16, 56, 54), (2, 63, 43)]


@pytest.mark.parametrize("click", AIR)
def test_a_click_in_air_adds_a_few_voxels_and_is_named(phantom, click):
    """It added the air around it: 11 to 3,000 ml of a phantom of 20 l."""
    assert phantom.volume[click] < -900
    vessel = tuple(phantom.seeds[1])
    before, after = run(phantom, [vessel]), run(phantom, [vessel, click])
    assert after.labels[click]
    assert not (before.labels > after.labels).any()
    assert (after.labels > before.labels).sum() < FEW
    assert (before.scene.notes, after.scene.without_contrast) == ((), (click,))
    assert ["no contrast" in each for each in after.scene.notes] == [True]
    alone = run(phantom, [click])
    assert 0 < alone.labels.sum() < FEW
    assert ["noise" in each for each in alone.scene.notes] == [False, True]


def test_clicks_in_the_background_of_a_single_tissue_add_a_few_voxels():
    """As the only click, one a little darker than the tissue took a tenth of the volume."""
    rng = np.random.default_rng(3)
    volume = rng.normal(100, 2, (24, 40, 40))
    volume[:, :, :18] -= 9
    volume[:, 28:32, 28:32] += 60
    for clicks in ([(12, 20, 6)], [(12, 20, 6), (18, 10, 8)]):
        found = segment(volume.astype(np.float32), clicks, device="cpu")
        assert found.labels.sum() < len(clicks) * FEW
    more = segment(volume.astype(np.float32), [(12, 30, 30)], device="cpu")
    assert more.labels[:, 29:31, 29:31].mean() > 0.9


# Phantom, first click and a further one in the same vessel.
PAIRS = [
    (0, (34, 27, 28), (39, 36, 26)),
    (2, (25, 27, 24), (31, 26, 27)),
    (5, (26, 27, 25), (36, 32, 23)),
    (7, (36, 19, 21), (39, 30, 24)),
]


@pytest.mark.parametrize(("number", "first", "further"), PAIRS)
def test_a_further_click_does_not_bite_into_the_vessel(number, first, further):
    """What it reached beside the vessel raised the threshold: a ragged notch at the first one."""
    phantom = liver_phantom((64, 64, 64), number)
    before, after = run(phantom, [first]), run(phantom, [first, further])
    assert after.labels[further]
    assert not (before.labels > after.labels).any()
    assert after.scene.least_contrast <= before.scene.least_contrast
