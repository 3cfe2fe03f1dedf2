"""Relative connectedness: its definitions on hundreds of random volumes, ties, and errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity, relative_connectedness
from FuzzyConnectedGPULib.relative.division import owners_by_contrast
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from support.problems import problems
from support.relative_cases import (
    SEVERAL,
    assert_as_defined,
    random_groups,
    random_volume,
)

AFFINITY = GaussianAffinity(100, 20, 20)


def test_random_volumes_with_many_ties():
    random, disputed = np.random.default_rng(0), np.zeros(2, int)
    for _ in range(150):
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
    assert disputed[0] > disputed[1] > 0


@settings(max_examples=40)
@given(problems(largest_side=6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_volumes_of_every_kind(problem, count, seed):
    volume, _, affinity, cut, mask = problem
    random = np.random.default_rng(seed)
    groups = random_groups(random, volume.shape, count, 2)
    if mask is not None:
        mask[tuple(np.concatenate([group[:1] for group in groups]).T)] = 1
    assert_as_defined(volume, groups, affinity, cut, mask)


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
        owners = owners_by_contrast(capacities, points, groups, Progress())
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


# ---- arguments


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


# ---- the contrast model: voxels have levels, and 26 neighbours
