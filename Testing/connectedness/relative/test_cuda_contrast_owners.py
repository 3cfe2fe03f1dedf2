"""Owners by contrast on CUDA: those of the CPU, also where paths have the highest level or none."""

import numpy as np
import pytest

pytest.importorskip("numba")
from FuzzyConnectedGPULib.affinity import TOP_LEVEL
from FuzzyConnectedGPULib.relative.contrast_division import STEPS, steps_of_noise
from FuzzyConnectedGPULib.relative.cuda.contrast_owners import owners_by_contrast
from FuzzyConnectedGPULib.relative.groups import DISPUTED
from FuzzyVesselCoreLib.progress import Progress
from support.relative_cases import owners_by_volume

TOP = TOP_LEVEL / STEPS  # deviations of the noise
CONTRASTS = {
    "far above the noise": [0, 1, 1e9],
    "the highest level everywhere": [1e9, 2e9],
    "round the highest level": [TOP - 1 / STEPS, TOP, TOP + 1 / STEPS],
    "round level 0": [-1 / STEPS, 0, 1 / STEPS, 2 / STEPS],
}


def points_side_by_side(rng, shape):
    """Up to nine flat indices of a place and its neighbours."""
    place = rng.integers(0, shape)
    near = np.clip(place + rng.integers(-1, 2, (20, 3)), 0, np.array(shape) - 1)
    return np.unique(np.ravel_multi_index(tuple(near.T), shape))[:9]


@pytest.mark.parametrize("contrasts", CONTRASTS)
def test_owners_are_those_of_the_cpu(cpu_cuda, contrasts):
    disputed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        shape = tuple(int(n) for n in rng.integers(2, 11, 3))
        noise = float(rng.choice([1, 0.37, 1e-12]))
        volume = np.full([n + 2 for n in shape], 1e9, np.float32)
        box = tuple(slice(int(rng.integers(0, 3)), None) for _ in shape)
        box = tuple(slice(side.start, side.start + n) for side, n in zip(box, shape))
        volume[box] = rng.choice(CONTRASTS[contrasts], shape) * noise
        reached = rng.random(shape) < rng.choice([1, 0.8])
        points = points_side_by_side(rng, shape)
        groups = rng.integers(1, 6, points.size).astype(np.uint8)
        capacities = steps_of_noise(volume[box], noise)
        capacities[~reached] = 0
        owners = owners_by_volume(capacities, points, groups)[1]
        places = np.stack(np.unravel_index(points, shape), axis=1)
        found = owners_by_contrast(
            cpu_cuda.put(volume), noise, reached, box, places, groups, cpu_cuda, Progress()
        )
        np.testing.assert_array_equal(found, owners)
        disputed += np.count_nonzero(owners == DISPUTED)
    assert disputed
