"""Curves from endpoints and seeds of one component."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings, strategies

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import geodesic_distance
from PotentialSkeletonLib.tracing.component_curves import ComponentCurves, descent_path
from support.solids import random_solids


@given(mask=random_solids(), seed=strategies.integers(0, 10**6))
@settings(max_examples=20)
def test_paths_go_from_neighbour_to_neighbour_until_there_is_a_force_or_the_core(mask, seed):
    mask, spacing = np.pad(mask, 1).astype(np.uint8), (1.0, 1.0, 1.5)
    rng = np.random.default_rng(seed)
    voxels = np.flatnonzero(mask)
    distances = geodesic_distance(mask, rng.permutation(voxels)[:2], spacing)
    has_force = rng.random(mask.shape) < 0.05
    forces = has_force[..., None] * np.float32([0, -1, 0])
    voxels = voxels[distances.reshape(-1)[voxels] >= 0]
    for field, ends in ((forces, has_force | (distances == 0)), (None, distances == 0)):
        for voxel in voxels:
            path = descent_path(distances, field, voxel)
            assert np.ravel_multi_index(path[0], mask.shape) == voxel
            assert ends[tuple(path.T)].tolist() == [False] * (len(path) - 1) + [True]
            for here, following in pairwise(path):
                block = distances[tuple(slice(n - 1, n + 2) for n in here)]
                nearest = np.argwhere(block == block[block >= 0].min())[0]
                assert (following == here + nearest - 1).all()


def test_seeds_within_the_balls_of_what_is_there_are_left_out():
    """A plate whose force leads to its middle row, which is there already."""
    shape, spacing = (5, 41, 61), (2.0, 1.0, 0.5)
    mask = np.zeros(shape, bool)
    mask[1:-1, 1:-1, 1:-1] = True
    vectors = np.zeros((*shape, 3), np.float32)
    vectors[..., 1] = np.where(mask, 20.0 - np.arange(41)[:, None], 0)
    row = np.stack([np.full(50, 2), np.full(50, 20), np.arange(5, 55)], axis=1)
    present = np.ravel_multi_index(row.T, shape)
    volumes = SimpleNamespace(
        shape=shape, spacing=spacing, depth=np.where(mask, 3, 0).astype(np.float32),
        vectors=vectors, classes=mask.astype(np.uint8) * 3,
        distances=geodesic_distance(mask.astype(np.uint8), present, spacing),
    )  # fmt: skip
    curves = ComponentCurves(volumes)
    curves.trace_core([], Progress())
    # 3.9 mm are 1.3 depths: two rows off the middle, and one beyond; the last one is beside the
    # curve from the seed before.
    seeds = np.array([[2, 22, 30], [2, 23, 30], [2, 24, 30], [2, 26, 33], [0, 30, 3]])
    used = curves.trace_from_seeds(seeds, present, (1.3, 0.0), Progress())
    assert used.tolist() == [np.ravel_multi_index((2, 24, 30), shape)]
    found = np.stack(np.unravel_index(curves.voxels(), shape), axis=1)
    assert found[:, 1].min() in (20, 21)
    assert found[:, 1].max() == 24
    assert (found[:, 2] == 30).all()
