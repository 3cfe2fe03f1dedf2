"""Local background: a wide Gaussian over the voxels that are no vessel."""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.threads import by_planes, in_parts

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
    share, total = _usable_means(volume, usable, cell)
    narrow = [sigma / side for sigma, side in zip(sigmas, cell)]
    share = ndimage.gaussian_filter(share, narrow, mode="nearest", truncate=3.5)
    total = ndimage.gaussian_filter(total, narrow, mode="nearest", truncate=3.5)
    coarse = np.where(share > MIN_SHARE, total / np.maximum(share, MIN_SHARE), median)
    return _between_cells(coarse.astype(np.float32), cell, volume.shape)


def _usable_means(
    volume: np.ndarray, usable: np.ndarray, cell: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Of each cell: the share of usable voxels, and the mean where all others count as 0."""
    share, total = np.empty(
        (2, *(-(-n // side) for n, side in zip(volume.shape, cell))), np.float32
    )

    def means(first: int, last: int) -> None:
        planes = slice(first * cell[0], last * cell[0])
        share[first:last] = _cell_means(usable[planes], cell)
        intensities = np.where(usable[planes], volume[planes], np.float32(0))
        total[first:last] = _cell_means(intensities, cell)

    in_parts(means, len(share), volume.size)
    return share, total


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
    layers = np.empty((len(coarse), *shape[1:]), np.float32)  # planes of voxels, one a cell
    by_planes(lambda k: _fill_layer(coarse[k], cell[1:], layers[k]), layers)
    if cell[0] == 1:
        return layers
    low, high, weight = _cells_beside(shape[0], cell[0], len(layers))
    result = np.empty(shape, np.float32)

    def between(k: int) -> None:
        np.subtract(layers[high[k]], layers[low[k]], out=result[k])
        np.multiply(result[k], weight[k], out=result[k])
        np.add(layers[low[k]], result[k], out=result[k])

    by_planes(between, result)
    return result


def _fill_layer(cells: np.ndarray, cell: Sequence[int], layer: np.ndarray) -> None:
    for axis in (1, 0):
        if cell[axis] == 1:
            continue
        low, high, weight = _cells_beside(layer.shape[axis], cell[axis], cells.shape[axis])
        first = cells.take(low, axis)
        steps = cells.take(high, axis) - first
        cells = first + steps * (weight if axis == 1 else weight[:, np.newaxis])
    layer[...] = cells


def _cells_beside(length: int, side: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each voxel along an axis: the cells on both sides of it, and the second one's weight."""
    position = np.clip((np.arange(length) + 0.5) / side - 0.5, 0, count - 1)
    low = position.astype(int)
    return low, np.minimum(low + 1, count - 1), (position - low).astype(np.float32)
