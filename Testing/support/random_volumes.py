"""Random connectedness problems up to a size: every type, many textures, many seeds."""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from FuzzyConnectedGPULib import GaussianAffinity, estimate_affinity
from FuzzyVesselCoreLib.errors import InputError

from .mutations import pick

VOXEL_TYPES = (np.uint8, np.int16, np.uint16, np.int32, np.float32, np.float64)
MEAN = 120


@dataclass(frozen=True)
class RandomProblem:
    """What `connectedness` takes."""

    volume: np.ndarray
    seeds: np.ndarray
    affinity: GaussianAffinity
    cut: float
    mask: np.ndarray | None


def random_problem(rng, largest_side=40):
    """A problem whose mask, if it has one, holds at least one seed."""
    shape = _shape(rng, largest_side)
    volume = _typed(rng, pick(rng, TEXTURES)(rng, shape))
    seeds = np.stack([rng.integers(0, n, pick(rng, (1, 1, 2, 5, 30))) for n in shape[:1]], 1)
    seeds = np.concatenate(
        [seeds] + [rng.integers(0, n, (len(seeds), 1)) for n in shape[1:]], axis=1
    )
    mask = None
    if rng.random() < 0.4:
        mask = rng.random(shape) < pick(rng, (0.3, 0.7, 0.95))
        mask[tuple(seeds[0])] = True
    cut = float(pick(rng, (0.0, 0.0, 0.0, 1e-4, 0.3, 43691 / 65535, 0.9, 1.0, rng.random())))
    return RandomProblem(volume, seeds, _affinity(rng, volume, seeds), cut, mask)


def _shape(rng, largest):
    kind = rng.integers(4)
    if kind == 0:  # around the solvers' tiles of 8 voxels
        return tuple(int(min(pick(rng, (1, 7, 8, 9, 15, 16, 17, 24)), largest)) for _ in range(3))
    if kind == 1:  # flat, or a rod
        shape = [1, int(rng.integers(1, largest + 1)), int(rng.integers(1, largest + 1))]
        return tuple(int(n) for n in rng.permutation(shape))
    return tuple(int(n) for n in rng.integers(1, largest + 1, 3))


def _noise(rng, shape):
    return rng.normal(MEAN, pick(rng, (2, 20, 60)), shape)


def _smooth(rng, shape):
    return MEAN + 300 * ndimage.gaussian_filter(rng.normal(0, 1, shape), rng.uniform(0.5, 3))


def _ties(rng, shape):
    return rng.choice([100.0, 110.0, 120.0, 200.0], shape)


def _plateaus(rng, shape):
    coarse = rng.choice([90.0, 118.0, 120.0, 122.0, 180.0], tuple(-(-n // 5) for n in shape))
    for axis in range(3):
        coarse = coarse.repeat(5, axis)
    return coarse[tuple(slice(n) for n in shape)].copy()


def _constant(rng, shape):
    return np.full(shape, float(MEAN))


def _ramp(rng, shape):
    steps = [rng.normal(0, 3) * np.arange(n).reshape(np.roll([-1, 1, 1], axis))
             for axis, n in enumerate(shape)]  # fmt: skip
    return MEAN + sum(steps)


def _maze(rng, shape):
    """Open and closed voxels near the share at which long winding paths appear."""
    return np.where(rng.random(shape) < rng.uniform(0.25, 0.45), 120.0, 20.0)


def _extremes(rng, shape):
    values = [-np.inf, 0.0, 119.0, 120.0, 121.0, 1e30, np.inf]
    return rng.choice(values, shape)


TEXTURES = (_noise, _noise, _smooth, _ties, _plateaus, _constant, _ramp, _maze, _extremes)


def _typed(rng, values):
    """The values in one of the voxel types; what is beyond it becomes its extreme."""
    kind = pick(rng, VOXEL_TYPES)
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        return np.clip(np.rint(np.clip(values, -3e9, 3e9)), limits.min, limits.max).astype(kind)
    limit = float(np.finfo(np.float32).max)
    if rng.random() < 0.2:
        values = values * 1e-38  # about where float32 becomes subnormal
    return np.clip(values, -limit, limit).astype(kind)


def _affinity(rng, volume, seeds):
    if rng.random() < 0.3:
        try:
            return estimate_affinity(volume, seeds, side=pick(rng, ("both", "bright", "dark")))
        except InputError:  # a constant volume
            pass
    return GaussianAffinity(
        mean=float(pick(rng, (MEAN, MEAN, rng.uniform(50, 200), 1e-38))),
        sigma=float(pick(rng, (1, 15, 40, 300, 10 ** rng.uniform(-2, 4)))),
        gradient_sigma=float(pick(rng, (1, 10, 200, 10 ** rng.uniform(-2, 4)))),
        form=pick(rng, ("geometric", "weighted")),
        weight=float(pick(rng, (0.0, 0.5, 1.0, rng.random()))),
        side=pick(rng, ("both", "bright", "dark")),
    )
