"""Local background: a wide Gaussian over the voxels that are no vessel."""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

CELL = 0.5  # sigmas: side of the cells whose means stand for their voxels
MIN_SHARE = 1e-3  # of background voxels: with fewer around, the median is used


def local_background(
    volume: np.ndarray, usable: np.ndarray, sigmas: np.ndarray | Sequence[float], median: float
) -> np.ndarray:
    """Gaussian-weighted mean of the usable voxels around each voxel.

    The Gaussian is computed on means of small cells and interpolated between them, as it hardly
    changes within a cell.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I), float32
    usable : ndarray of bool, same shape
        Voxels that are background.
    sigmas : sequence of 3 float
        In voxels along K, J and I.
    median : float
        Used where no usable voxel is near.

    Returns
    -------
    ndarray, float32
    """
    cell = [max(1, int(CELL * sigma)) for sigma in sigmas]
    share = _cell_means(usable, cell)
    total = _cell_means(np.where(usable, volume, np.float32(0)), cell)
    narrow = [sigma / side for sigma, side in zip(sigmas, cell)]
    share = ndimage.gaussian_filter(share, narrow, mode="nearest", truncate=3.5)
    total = ndimage.gaussian_filter(total, narrow, mode="nearest", truncate=3.5)
    coarse = np.where(share > MIN_SHARE, total / np.maximum(share, MIN_SHARE), median)
    return _between_cells(coarse.astype(np.float32), cell, volume.shape)


def _cell_means(volume: np.ndarray, cell: Sequence[int]) -> np.ndarray:
    """Means (float32) over cells of so many voxels; the last ones may be smaller."""
    for axis, side in enumerate(cell):
        if side == 1:
            continue
        starts = np.arange(0, volume.shape[axis], side)
        counts = np.diff(np.append(starts, volume.shape[axis])).astype(np.float32)
        sums = np.add.reduceat(volume, starts, axis=axis, dtype=np.float32)
        volume = sums / counts.reshape([-1 if a == axis else 1 for a in range(3)])
    return volume.astype(np.float32, copy=False)


def _between_cells(coarse: np.ndarray, cell: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """Linear interpolation of the cells' values at each voxel."""
    for axis in (2, 1, 0):
        if cell[axis] == 1:
            continue
        position = (np.arange(shape[axis]) + 0.5) / cell[axis] - 0.5
        position = np.clip(position, 0, coarse.shape[axis] - 1)
        low = position.astype(int)
        high = np.minimum(low + 1, coarse.shape[axis] - 1)
        weight = (position - low).astype(np.float32)
        weight = weight.reshape([-1 if a == axis else 1 for a in range(3)])
        first = coarse.take(low, axis)
        coarse = first + (coarse.take(high, axis) - first) * weight
    return coarse
