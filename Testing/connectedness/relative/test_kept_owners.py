"""Owners that follow changes: after each, they are those of the whole volume, divided anew."""

import numpy as np
import pytest

pytest.importorskip("numba")
from FuzzyConnectedGPULib.affinity import TOP_LEVEL
from FuzzyConnectedGPULib.relative.kept.kept_owners import KeptOwners
from support.relative_cases import owners_by_volume

LEVELS = [[0, 1, 2], [TOP_LEVEL - 1, TOP_LEVEL], list(range(7)), [0, 0, TOP_LEVEL, 5]]
LEVELS.append(list(range(0, 60000, 7)))


def changed(points, rng, size):
    """The points with one gone, one more, or one somewhere else, perhaps of another group."""
    points, kind = dict(points), rng.random()
    if points and kind < 0.7:
        points.pop(rng.choice(list(points)))
    if kind < 0.8 or not points:
        points[int(rng.integers(size))] = int(rng.integers(1, 4))
    return points


@pytest.mark.parametrize("levels", LEVELS, ids=[f"levels {n}" for n in range(len(LEVELS))])
@pytest.mark.parametrize("seed", range(8))
def test_each_change_gives_the_owners_of_a_whole_division(seed, levels):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, 3))
    size = int(np.prod(shape))
    capacities, voxels, points = np.zeros(size, np.uint16), np.arange(size), {}
    kept = KeptOwners(shape)
    for step in range(8):
        if step:
            voxels = rng.choice(size, rng.integers(0, min(size, 8) + 1), replace=False)
        points = changed(points, rng, size)
        wanted = rng.choice(levels, voxels.size).astype(np.uint16)
        capacities[voxels] = wanted
        before = kept.owners.copy()
        others, _ = kept.change(voxels, wanted, points, size)
        places = np.array(list(points), np.int64)
        groups = np.array(list(points.values()), np.uint8)
        found = owners_by_volume(capacities.reshape(shape), places, groups)
        np.testing.assert_array_equal(kept.levels, found[0].ravel())
        np.testing.assert_array_equal(kept.owners, found[1].ravel())
        # What has another owner is told, but for points and what is nobody's.
        other = np.setdiff1d(np.flatnonzero(before != kept.owners), places)
        assert np.isin(other[kept.owners[other] > 0], others).all()


def test_where_much_changes_it_is_told_and_a_new_beginning_is_right():
    capacities = np.full(1000, 5, np.uint16)
    kept, voxels = KeptOwners((10, 10, 10)), np.arange(1000)
    kept.change(voxels, capacities, {0: 1, 999: 2}, 1000)
    assert kept.change(voxels[:0], capacities[:0], {}, 100) is None
    kept.clear(voxels)
    points = np.array([7]), np.array([3], np.uint8)
    levels, owners = (
        each.ravel() for each in owners_by_volume(capacities.reshape(10, 10, 10), *points)
    )
    kept.begin(voxels, capacities, levels, owners, {7: 3})
    kept.change(voxels[:0], capacities[:0], {7: 3, 20: 1}, 1000)
    points = np.array([7, 20]), np.array([3, 1], np.uint8)
    levels, owners = (
        each.ravel() for each in owners_by_volume(capacities.reshape(10, 10, 10), *points)
    )
    np.testing.assert_array_equal(kept.levels, levels)
    np.testing.assert_array_equal(kept.owners, owners)
