"""The local background of `contrast.background` on the card."""

import numpy as np

from ..launches import each, integers, pointer
from . import cuda_filters as filters
from .background import CELL, LEAST_SHARE

REACH = 3.5  # standard deviations at which the cells' Gaussian is cut off


def background_cells(volume, mask, median, limit, sigmas, gpu):
    """Means of the usable voxels round each cell, as differences to the median.

    Parameters
    ----------
    volume : array on the card, shape (K, J, I)
    mask : array on the card, uint8, or None
    median : float
        Taken where no usable voxel is near.
    limit : float
        Voxels are usable that differ less from the median; -1: those not above it.
    sigmas : sequence of 3 float
        In voxels along K, J and I.
    gpu : CudaDevice

    Returns
    -------
    cells : array on the card, float32
    sides : list of 3 int
        Of a cell, in voxels.
    """
    sides = [max(1, int(CELL * sigma)) for sigma in sigmas]
    counts = [-(-n // side) for n, side in zip(volume.shape, sides)]
    cells = gpu.xp.empty((2, *counts), np.float32)  # share, total
    count = cells[0].size
    args = volume, pointer(mask), np.float32(median), np.float32(limit), *integers(volume.shape)
    args = *args, *integers(sides), cells[0], cells[1]
    each(gpu, "evidence/background", "cell_means", count, args, voxels=volume)
    narrow = [sigma / side for sigma, side in zip(sigmas, sides)]
    cells = filters.separable(cells, [_weights(sigma) for sigma in narrow], gpu)
    means = cells[0], np.float32(LEAST_SHARE), cells[1], np.uint32(count)
    each(gpu, "evidence/background", "usable_means", count, means, voxels=volume)
    return cells[1].copy(), sides


def subtract(volume, cells, sides, median, gpu):
    """The volume (float32) minus its background, in a new array on the card."""
    contrast = gpu.xp.empty_like(volume)
    places = [_places(*along) for along in zip(volume.shape, sides, cells.shape)]
    lows, weights = (gpu.put(np.concatenate(values)) for values in zip(*places))
    shapes = *integers(volume.shape), *integers(cells.shape)
    args = volume, cells, np.float32(median), *shapes, lows, weights, contrast
    each(gpu, "evidence/background", "subtract_background", volume.size, args, voxels=volume)
    return contrast


def _weights(sigma):
    """A Gaussian's weights (float32)."""
    radius = int(REACH * sigma + 0.5)
    weights = np.exp(-0.5 / sigma**2 * np.arange(-radius, radius + 1) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def _places(count, side, cells):
    """For the voxels along an axis: the lower one of two cells, and the weight of the upper."""
    place = np.clip((np.arange(count) + 0.5) / side - 0.5, 0, cells - 1)
    low = place.astype(np.int32)
    return low, (place - low).astype(np.float32)
