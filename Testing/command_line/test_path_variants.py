"""Variants of the contrast model's paths against their definition, and against those in use."""

import numpy as np
import pytest

from fuzzy_vessel.benchmark.clicks.path_variants import neighbour_offsets, path_levels
from FuzzyConnectedGPULib.contrast.paths.reached import STEPS
from support import path_levels as in_use

UNIT, FLOOR = 8.0, STEPS // 2


def random_contrast(seed):
    contrast = np.random.default_rng(seed).integers(0, 20, (6, 7, 8)).astype(np.float32)
    return np.where(contrast < 6, np.float32(0), contrast)


def levels_by_definition(contrast, start, neighbours, pair_mean):
    """Repeated relaxation of all steps until nothing rises."""
    own = np.floor(contrast.astype(np.float64) / UNIT * STEPS)
    levels = np.zeros(contrast.shape)
    levels[start] = own[start] if own[start] >= FLOOR else 0
    rose = True
    while rose:
        rose = False
        for voxel in np.argwhere(levels > 0):
            for other in voxel + neighbour_offsets(neighbours):
                if (other < 0).any() or (other >= contrast.shape).any() or tuple(other) == start:
                    continue
                a, b = tuple(voxel), tuple(other)
                step = own[b]
                if pair_mean:
                    step = np.floor((contrast[a] + contrast[b]) / 2.0 / UNIT * STEPS)
                level = min(step, levels[a])
                if level >= FLOOR and level > levels[b]:
                    levels[b], rose = level, True
    return levels


@pytest.mark.parametrize("neighbours", [6, 26])
@pytest.mark.parametrize("pair_mean", [False, True])
def test_levels_follow_the_definition(neighbours, pair_mean):
    for seed in range(3):
        contrast = random_contrast(seed)
        start = tuple(int(c) for c in np.unravel_index(contrast.argmax(), contrast.shape))
        variant = dict(neighbours=neighbours, pair_mean=pair_mean)
        found = path_levels(contrast, None, [start], UNIT, FLOOR, **variant)
        expected = levels_by_definition(contrast, start, neighbours, pair_mean)
        np.testing.assert_array_equal(found, expected)
        assert np.count_nonzero(found) > 1


@pytest.mark.parametrize("seed", range(6))
def test_26_neighbours_and_the_weakest_voxel_are_those_in_use(seed):
    contrast = random_contrast(seed)
    mask = (np.random.default_rng(seed).random(contrast.shape) < 0.8).astype(np.uint8)
    rivals = np.flatnonzero(contrast > 18) if seed % 2 else None
    problem = contrast, mask, [(3, 4, 4), (1, 1, 1)], UNIT, FLOOR, rivals
    np.testing.assert_array_equal(path_levels(*problem), in_use.path_levels(*problem))
