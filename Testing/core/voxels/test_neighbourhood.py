"""The 26 neighbours of a voxel, against a loop over the volume's voxels."""

import numpy as np
import pytest
from numba import njit

from FuzzyVesselCoreLib.voxels.neighbourhood import NEIGHBOURS, neighbours, rows_around

compiled_neighbours = njit(lambda voxel, shape, near: neighbours(voxel, shape, near))


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 4, 3), (3, 1, 2), (2, 3, 1), (4, 3, 5)])
@pytest.mark.parametrize("find", [neighbours, compiled_neighbours], ids=["python", "compiled"])
def test_neighbours_are_those_one_step_away_inside_the_volume(shape, find):
    places = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
    for voxel, place in enumerate(places):
        near = np.empty(NEIGHBOURS, np.int64)
        found = near[: find(voxel, shape, near)]
        steps = np.abs(places - place).max(axis=1)
        assert np.array_equal(found, np.flatnonzero(steps == 1))


def test_rows_hold_the_voxel_and_its_neighbours():
    shape = (4, 3, 5)
    for voxel in range(60):
        planes, rows, low, span = rows_around(voxel, shape)
        box = np.arange(60).reshape(shape)[slice(*planes), slice(*rows), low : low + span]
        near = np.empty(NEIGHBOURS, np.int64)
        count = neighbours(voxel, shape, near)
        assert sorted([voxel, *near[:count]]) == box.ravel().tolist()
