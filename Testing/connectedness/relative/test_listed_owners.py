"""Owners on a list of voxels: those of the whole volume, whatever the order and the ties."""

import numpy as np
import pytest

pytest.importorskip("numba")
from FuzzyConnectedGPULib.affinity import TOP_LEVEL
from FuzzyConnectedGPULib.contrast.live.packed_voxels import listed, number_of_each, packed_list
from FuzzyConnectedGPULib.relative import listed_owners
from support.relative_cases import owners_by_volume


@pytest.mark.parametrize("levels", [2, 5, 60000, "the highest"])
@pytest.mark.parametrize("seed", range(25))
def test_owners_are_those_of_the_whole_volume(seed, levels):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 12, 3))
    size = int(np.prod(shape))
    if levels == "the highest":  # contrasts far above the noise: paths as strong as points are
        capacities = rng.choice([TOP_LEVEL - 1, TOP_LEVEL], shape).astype(np.uint16)
    else:
        capacities = rng.integers(0, levels, shape).astype(np.uint16)
    capacities[rng.random(shape) < rng.choice([0, 0.5])] = 0
    points = rng.choice(size, min(size, int(rng.integers(1, 9))), replace=False)
    groups = rng.integers(1, 4, points.size).astype(np.uint8)
    wanted = owners_by_volume(capacities, points, groups)
    lists = [np.flatnonzero(capacities), points, points[:1]]
    packed = packed_list(lists, size)
    voxels = listed(packed)
    np.testing.assert_array_equal(voxels, np.unique(np.concatenate(lists)))
    numbers = number_of_each(points, packed)
    np.testing.assert_array_equal(voxels[numbers], points)
    own = capacities.ravel()[voxels]
    found = listed_owners.solve(packed, voxels, own, shape, numbers, groups)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs.ravel()[voxels])
        others = np.ones(size, bool)
        others[voxels] = False
        assert not theirs.ravel()[others].any()
