"""A small volume for connectedness over blocks, its affinity and its seeds."""

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity, connectedness

AFFINITY, SEEDS = GaussianAffinity(100, 30, 15), [[3, 4, 5]]
TOP = np.float32(65535)


def noisy_volume() -> np.ndarray:
    """Noise round the affinity's mean; int16, shape (16, 18, 20)."""
    return np.random.default_rng(1).normal(100, 25, (16, 18, 20)).astype(np.int16)


def on_the_whole(volume: np.ndarray, **options) -> np.ndarray:
    """What every run over blocks has to give."""
    return connectedness(volume, SEEDS, AFFINITY, solver="dial", **options).values
