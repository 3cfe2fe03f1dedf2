"""Relative connectedness: its definitions on thousands of random volumes, ties, and errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity, connectedness, relative_connectedness
from FuzzyConnectedGPULib.relative import disputed, forests
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.progress import Progress
from support.problems import problems
from support.relative_cases import (
    SEVERAL,
    assert_as_defined,
    assert_levels_as_defined,
    random_groups,
    random_volume,
)
from support.relative_definition import owners_of

AFFINITY = GaussianAffinity(100, 20, 20)


@pytest.mark.parametrize("seed", range(10))
def test_random_volumes_with_many_ties(seed):
    random = np.random.default_rng(seed)
    disputed = np.zeros(4, int)
    for _ in range(100):
        volume = random_volume(random)
        groups = random_groups(random, volume.shape, random.integers(1, 6), 3)
        mask = None
        if random.random() < 0.3:
            mask = (random.random(volume.shape) < 0.8).astype(np.uint8)
            mask[tuple(np.concatenate(groups).T)] = 1
        cut = float(random.choice([0, 0, 0, 0.5, 0.9]))
        affinity = GaussianAffinity(100, 20, 20, side=random.choice(["both", "bright"]))
        disputed += assert_as_defined(volume, groups, affinity, cut, mask)
    # The two definitions differ, or the rounds would not have been tried.
    assert disputed[0] > disputed[2] > 0


@settings(max_examples=150)
@given(problems(largest_side=6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_volumes_of_every_kind(problem, count, seed):
    volume, _, affinity, cut, mask = problem
    random = np.random.default_rng(seed)
    groups = random_groups(random, volume.shape, count, 2)
    if mask is not None:
        mask[tuple(np.concatenate([group[:1] for group in groups]).T)] = 1
    assert_as_defined(volume, groups, affinity, cut, mask)


@pytest.mark.parametrize("shape", [(40, 70, 40), (1, 1, 200), (3, 100, 1), (17, 33, 65)])
def test_volumes_of_several_blocks_are_the_best_of_each_group_alone(shape):
    random = np.random.default_rng(3)
    volume = random.choice([80, 90, 100, 101, 120], shape).astype(np.int16)
    groups = random_groups(random, shape, 4, 3)
    found = relative_connectedness(volume, groups, AFFINITY, device="cpu")
    values = [
        connectedness(volume, g, AFFINITY, solver="dial", device="cpu").values for g in groups
    ]
    values = np.array(values, np.float64)
    for group, own in zip(groups, values):
        own[tuple(group.T)] = 2
    has = [own > np.delete(values, g, 0).max(0) for g, own in enumerate(values)]
    owners = owners_of(values, has, SEVERAL)
    np.testing.assert_array_equal(found.labels, np.where(owners == SEVERAL, 0, owners))
    np.testing.assert_array_equal(found.disputed, owners == SEVERAL)
    np.testing.assert_array_equal(found.strength, np.minimum(values.max(0), 1))


def test_where_nothing_is_disputed_the_division_by_contrast_is_a_watershed():
    """An oracle of another kind: scikit-image floods from the markers, voxel by voxel."""
    from skimage.segmentation import watershed

    random = np.random.default_rng(11)
    for _ in range(20):
        shape = tuple(random.integers(2, 9, 3))
        size = int(np.prod(shape))
        capacities = random.permutation(np.arange(1, size + 1)).astype(np.uint16).reshape(shape)
        points = random.permutation(size)[: random.integers(1, 4)]
        groups = np.arange(1, points.size + 1).astype(np.uint8)
        levels, owners = forests.by_contrast(capacities, points, groups, Progress())
        edges = disputed.contrast_edges(capacities, levels, owners)
        disputed.iterate(edges, owners, Progress())
        markers = np.zeros(shape, int)
        markers.reshape(-1)[points] = groups
        wanted = watershed(size - capacities.astype(int), markers, np.ones((3, 3, 3)))
        sure = owners != SEVERAL
        assert sure.sum() >= points.size
        np.testing.assert_array_equal(owners[sure], wanted[sure])


# ---- ties


def row(*intensities):
    return np.array([[intensities]], np.int16)


def test_a_tie_is_disputed_and_not_labelled():
    found = relative_connectedness(row(100, 100, 100), [[(0, 0, 0)], [(0, 0, 2)]], AFFINITY)
    assert found.labels.tolist() == [[[1, 0, 2]]]
    assert found.disputed.tolist() == [[[False, True, False]]]
    assert found.strength.tolist() == [[[1, 1, 1]]]


def test_by_steps_a_plateau_is_halved_and_its_middle_stays_disputed():
    points = [[(0, 0, 0)], [(0, 0, 4)]]
    found = relative_connectedness(row(100, 100, 100, 100, 100), points, AFFINITY, ties="nearest")
    assert found.labels.tolist() == [[[1, 1, 0, 2, 2]]]
    assert found.disputed.sum() == 3


def test_what_lies_behind_a_weak_link_is_disputed_until_its_way_is_taken():
    # The link 100-60 is weaker than all behind it; only the first group's voxels lead there.
    volume = row(100, 90, 100, 100, 60, 60)
    points = [[(0, 0, 3)], [(0, 0, 0)]]
    plain = relative_connectedness(volume, points, AFFINITY)
    rounds = relative_connectedness(volume, points, AFFINITY, iterative=True)
    assert plain.labels.tolist() == [[[2, 0, 1, 1, 0, 0]]]
    assert rounds.labels.tolist() == [[[2, 0, 1, 1, 1, 1]]]


# ---- arguments


def test_names_slices_and_one_group():
    volume = np.full((4, 5), 100, np.uint8)
    found = relative_connectedness(volume, {"vein": [(0, 1, 1)]}, AFFINITY)
    assert found.names == ("vein",)
    assert found.labels.shape == found.strength.shape == found.disputed.shape == volume.shape
    assert (found.labels == 1).all()
    assert found.labels.dtype == np.uint8
    assert found.strength.dtype == np.float32
    assert list(found.seconds) == ["division"]


def test_as_many_groups_as_there_may_be():
    volume = np.full((1, 16, 16), 100, np.int16)
    points = np.stack(np.unravel_index(np.arange(254), volume.shape), 1)
    found = relative_connectedness(volume, points[:, np.newaxis], AFFINITY)
    np.testing.assert_array_equal(found.labels.ravel()[:254], np.arange(1, 255))
    assert found.disputed.sum() == 2
    with pytest.raises(InputError, match="255 groups"):
        relative_connectedness(volume, [[(0, 0, 0)]] * 255, AFFINITY)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([], "0 groups"),
        (7, "list of arrays"),
        ({"portal": [(0, 0, 1)], "hepatic": []}, "no point of 'hepatic'"),
        ({"portal": [(0, 0, 1)], "hepatic": [(0, 0, 9)]}, "point of 'hepatic's lie outside"),
        ({"portal": [(0, 0, 1)], "hepatic": [(0, 0, 2)]}, "Every point of 'hepatic'"),
        (
            {"portal": [(0, 0, 1)], "hepatic": [(0, 0, 0), (0, 0, 1)]},
            "'portal' and 'hepatic' have a point on the same voxel, I,J,K = 1,0,0",
        ),
    ],
)
def test_groups_that_cannot_be_worked_with_are_named(groups, message):
    with pytest.raises(InputError, match=message):
        relative_connectedness(row(100, 100, 100), groups, AFFINITY, mask=row(1, 1, 0))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"ties": "first"}, "rule for ties 'first'"),
        ({"cut": 2}, "cut"),
        ({"device": "tpu"}, "tpu"),
        ({"spacing": (1, 0, 1)}, "spacing"),
        ({"mask": row(0, 0, 0)}, "mask is empty"),
        ({"affinity": 3}, "affinity"),
    ],
)
def test_options_that_cannot_be_worked_with_are_named(option, message):
    with pytest.raises(InputError, match=message):
        relative_connectedness(row(100, 90, 100), [[(0, 0, 0)]], **option)


@pytest.mark.parametrize("last", [0.0, 0.3, 0.8, 0.9])
def test_cancelled_where_progress_says_so(last):
    volume = np.full((40, 40, 40), 100, np.int16)
    points = [[(0, 0, 0)], [(39, 39, 39)]]
    seen = []

    def progress(share):
        seen.append(share)
        return share < last

    with pytest.raises(Cancelled):
        relative_connectedness(
            volume, points, AFFINITY, device="cpu", iterative=True, ties="nearest",
            progress=progress,
        )  # fmt: skip
    assert seen == sorted(seen)


# ---- the contrast model: voxels have levels, and 26 neighbours


@pytest.mark.parametrize("seed", range(5))
def test_levels_of_voxels_divide_as_defined(seed):
    random = np.random.default_rng(seed)
    disputed = np.zeros(2, int)
    for _ in range(100):
        shape = tuple(int(random.choice([1, 2, 3, 5])) for _ in range(3))
        capacities = random.integers(0, random.integers(2, 6), shape).astype(np.uint16)
        groups = random_groups(random, shape, random.integers(1, 5), 2)
        disputed += assert_levels_as_defined(capacities, groups)
    assert disputed[0] > disputed[1] > 0


def crossing_vessels():
    """Two bright tubes in noise, less bright where they touch, and a point in each."""
    volume = np.random.default_rng(5).normal(100, 5, (24, 30, 40)).astype(np.float32)
    volume[8:11, 10:13, :] += 100
    volume[11:12, 10:13, 20:23] += 50
    volume[12:15, :, 20:23] += 100
    return volume, {"along": [(9, 11, 8)], "across": [(13, 20, 21)]}


def test_vessels_that_touch_are_told_apart_by_contrast():
    volume, points = crossing_vessels()
    mask = np.ones(volume.shape, np.uint8)
    mask[:, :, 38:] = 0
    found = relative_connectedness(
        volume, points, model="contrast", mask=mask, iterative=True, ties="nearest", device="cpu"
    )
    assert (found.labels[9, 11, 3:36] == 1).all()
    assert (found.labels[13, 3:28, 21] == 2).all()
    assert not found.labels[:, :, 38:].any()
    assert found.strength[9, 11, 8] == 1
    assert (found.strength[found.labels > 0] >= 0.75).all()
    assert (found.strength[(found.labels == 0) & ~found.disputed] == 0).all()


def test_a_group_without_contrast_is_named():
    volume, points = crossing_vessels()
    found = relative_connectedness(
        volume, {**points, "tissue": [(20, 3, 3)]}, model="contrast", device="cpu"
    )
    assert len(found.notes) == 1
    assert "'tissue'" in found.notes[0]
    assert np.count_nonzero(found.labels == 3) == 1


def test_the_contrast_model_takes_no_affinity():
    volume, points = crossing_vessels()
    with pytest.raises(InputError, match="no affinity"):
        relative_connectedness(volume, points, AFFINITY, model="contrast")
    with pytest.raises(InputError, match="Unknown model 'colour'"):
        relative_connectedness(volume, points, model="colour")
    with pytest.raises(InputError, match="cut"):
        relative_connectedness(volume, points, model="contrast", cut=3)
