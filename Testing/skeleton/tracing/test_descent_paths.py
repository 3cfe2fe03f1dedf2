"""Descent paths lead from neighbour to neighbour down to the core."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings, strategies

from FuzzyVesselCoreLib.voxels.distance.geodesic import geodesic_distance
from PotentialSkeletonLib.tracing.descent_paths import descent_paths
from support.solids import random_solids


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


@given(mask=random_solids(), seed=strategies.integers(0, 10**6))
@settings(max_examples=20)
def test_paths_go_from_neighbour_to_neighbour_until_there_is_a_force_or_the_core(mask, seed):
    mask, spacing = padded(mask), (1.0, 1.0, 1.5)
    rng = np.random.default_rng(seed)
    voxels = np.flatnonzero(mask)
    distances = geodesic_distance(mask, rng.permutation(voxels)[:2], spacing)
    has_force = rng.random(mask.shape) < 0.05
    forces = has_force[..., None] * np.float32([0, -1, 0])
    voxels = voxels[distances.reshape(-1)[voxels] >= 0]
    for field, ends in ((forces, has_force | (distances == 0)), (None, distances == 0)):
        for voxel, path in zip(voxels, descent_paths(distances, field, voxels), strict=True):
            assert np.ravel_multi_index(path[0], mask.shape) == voxel
            assert ends[tuple(path.T)].tolist() == [False] * (len(path) - 1) + [True]
            for here, following in pairwise(path):
                block = distances[tuple(slice(n - 1, n + 2) for n in here)]
                nearest = np.argwhere(block == block[block >= 0].min())[0]
                assert (following == here + nearest - 1).all()
