"""Lists of voxels that are longer than expected."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib.critical_points import voxel_list
from PotentialSkeletonLib.critical_points.divergence_seeds import divergence_seeds
from PotentialSkeletonLib.critical_points.sign_changes import cells_with_sign_changes


@pytest.mark.parametrize("capacity", [0, 1, 3])
def test_what_has_no_room_is_searched_again(monkeypatch, capacity):
    vectors = np.random.default_rng(5).normal(0, 1, (9, 8, 10, 3))
    classes = np.full(vectors.shape[:3], 3, np.uint8)

    def found():
        cells, corners = cells_with_sign_changes(vectors, classes, 2, Progress())
        return cells, corners, divergence_seeds(vectors, 100.0, classes=classes)

    expected = found()
    assert min(map(len, expected)) > 3
    monkeypatch.setattr(voxel_list, "FIRST_CAPACITY", capacity)
    for some, others in zip(found(), expected):
        np.testing.assert_array_equal(some, others)
