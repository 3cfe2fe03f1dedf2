"""The background beneath the vessels: a wide Gaussian of the voxels that are no vessel."""

import numpy as np
from scipy import ndimage

CELL = 0.5  # sigmas: side of the cells whose means stand for their voxels
LEAST_SHARE = 1e-3  # of background voxels: with fewer around, the median is taken


def local_background(volume, usable, sigmas, median):
    """Mean of the usable voxels round each voxel, weighted by a Gaussian.

    The Gaussian works on means of small cells and is interpolated between them, as it hardly
    changes within one.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I), float32
    usable : ndarray of bool, same shape
        Voxels that are background.
    sigmas : sequence of 3 float
        In voxels along K, J and I.
    median : float
        Taken where no usable voxel is near.

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
    coarse = np.where(share > LEAST_SHARE, total / np.maximum(share, LEAST_SHARE), median)
    return _between_cells(coarse.astype(np.float32), cell, volume.shape)


def _cell_means(volume, cell):
    """Means (float32) over cells of so many voxels; those at the far border may be smaller."""
    for axis, side in enumerate(cell):
        if side == 1:
            continue
        starts = np.arange(0, volume.shape[axis], side)
        counts = np.diff(np.append(starts, volume.shape[axis])).astype(np.float32)
        sums = np.add.reduceat(volume, starts, axis=axis, dtype=np.float32)
        volume = sums / counts.reshape([-1 if a == axis else 1 for a in range(3)])
    return volume.astype(np.float32, copy=False)


def _between_cells(coarse, cell, shape):
    """Linear interpolation of the cells' values at each voxel."""
    for axis in (2, 1, 0):
        if cell[axis] == 1:
            continue
        place = (np.arange(shape[axis]) + 0.5) / cell[axis] - 0.5
        place = np.clip(place, 0, coarse.shape[axis] - 1)
        low = place.astype(int)
        high = np.minimum(low + 1, coarse.shape[axis] - 1)
        weight = (place - low).astype(np.float32)
        weight = weight.reshape([-1 if a == axis else 1 for a in range(3)])
        first = coarse.take(low, axis)
        coarse = first + (coarse.take(high, axis) - first) * weight
    return coarse
