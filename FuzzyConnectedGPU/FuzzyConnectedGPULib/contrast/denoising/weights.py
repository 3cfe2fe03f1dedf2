"""Weights of convolutions along an axis, on the CPU and on CUDA."""

import numpy as np

GAUSSIAN_REACH = 3.0  # standard deviations at which a Gaussian is cut off


def gaussian_weights(sigma: float) -> np.ndarray:
    """Weights (float32, odd number) of a Gaussian whose sigma is given in voxels."""
    radius = int(GAUSSIAN_REACH * sigma + 0.5)
    offsets = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (offsets / max(sigma, 1e-6)) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def box_weights(radius: int) -> np.ndarray:
    """Uniform weights (float32) of ``2 * radius + 1`` voxels."""
    count = 2 * radius + 1
    return np.full(count, 1 / count, np.float32)
