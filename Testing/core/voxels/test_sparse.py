"""Pairs of neighbours among a few voxels of a large volume."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.voxels.topology.sparse import adjacent_pairs


@pytest.mark.parametrize(("shape", "count"), [((9, 8, 7), 150), ((3, 3, 40), 30), ((12, 3, 3), 10)])
def test_pairs_are_those_of_all_voxels_with_one_another(shape, count):
    rng = np.random.default_rng(3)
    inner = np.zeros(shape, bool)
    inner[1:-1, 1:-1, 1:-1] = True
    indices = np.sort(rng.choice(np.flatnonzero(inner), count, replace=False))
    voxels = np.stack(np.unravel_index(indices, shape), axis=1)
    expected = set()
    for later in range(count):
        for earlier in range(later):
            away = voxels[earlier] - voxels[later]
            if np.abs(away).max() == 1:
                expected.add((later, earlier, int((away + 1) @ (9, 3, 1))))
    found = adjacent_pairs(indices, shape[2], shape[1] * shape[2])
    assert len(expected) > 5
    assert found.shape == (3, len(expected))
    assert set(map(tuple, found.T.tolist())) == expected


def test_no_voxels_have_no_pairs():
    assert adjacent_pairs(np.empty(0, np.int64), 5, 20).shape == (3, 0)
