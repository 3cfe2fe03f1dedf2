"""Local background: a wide Gaussian over the voxels that are no vessel.

`cuda_background` has the same bits: sums and products are rounded one by one, in the same order.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from FuzzyVesselCoreLib.threads import by_planes, in_parts

CELL = 0.5  # sigmas: side of the cells whose means stand for their voxels
REACH = 3.5  # standard deviations at which the cells' Gaussian is cut off
MIN_SHARE = 1e-3  # of background voxels: with fewer around, the median is used


def local_background(
    volume: np.ndarray,
    inside: np.ndarray | None,
    sigmas: np.ndarray | Sequence[float],
    median: float,
    limit: float,
) -> np.ndarray:
    """Gaussian-weighted mean of the usable voxels around each voxel, as difference to the median.

    The Gaussian is computed on means of small cells and interpolated between them, as it hardly
    changes within a cell.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I), float32
    inside : ndarray of uint8, same shape, or None
        The mask: other voxels are not usable.
    sigmas : sequence of 3 float
        In voxels along K, J and I.
    median : float
        The result is 0 where no usable voxel is near.
    limit : float
        Usable voxels differ by less from the median; -1: they are not above it.

    Returns
    -------
    ndarray, float32
    """
    from ..denoising.filters import separable  # numba

    sides, weights = cells_and_weights(sigmas)
    cells = _usable_means(volume, inside, np.float32(median), np.float32(limit), sides)
    share, total = (separable(each, weights) for each in cells)
    some = share > MIN_SHARE
    means = np.divide(total, share, out=np.zeros_like(total), where=some)
    return _between_cells(means, sides, volume.shape)


def cells_and_weights(sigmas: np.ndarray | Sequence[float]) -> tuple[list[int], list[np.ndarray]]:
    """Along each axis: a cell's side in voxels, and the Gaussian's weights (float32) for cells."""
    sides = [max(1, int(CELL * sigma)) for sigma in sigmas]
    return sides, [_weights(sigma / side) for sigma, side in zip(sigmas, sides)]


def _weights(sigma: float) -> np.ndarray:
    radius = int(REACH * sigma + 0.5)
    weights = np.exp(-0.5 / sigma**2 * np.arange(-radius, radius + 1) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def cells_beside(length: int, side: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each voxel along an axis: the lower of the cells beside it, and the next one's weight."""
    position = np.clip((np.arange(length) + 0.5) / side - 0.5, 0, count - 1)
    low = position.astype(np.int32)
    return low, (position - low).astype(np.float32)


def _usable_means(
    volume: np.ndarray,
    inside: np.ndarray | None,
    median: np.float32,
    limit: np.float32,
    sides: Sequence[int],
) -> np.ndarray:
    """Of each cell: the share of usable voxels, and the mean difference, where others count 0."""
    counts = [-(-n // side) for n, side in zip(volume.shape, sides)]
    cells = np.zeros((2, *counts), np.float32)
    share, total = cells
    lengths = [
        np.minimum(side, n - side * np.arange(count)).astype(np.float32)
        for n, side, count in zip(volume.shape, sides, counts)
    ]
    voxels = lengths[1][:, np.newaxis] * lengths[2]

    def add_plane(k: int) -> None:
        apart = volume[k] - median
        usable = apart <= 0 if limit < 0 else np.abs(apart) < limit
        if inside is not None:
            usable &= inside[k] > 0
        numbers = usable.astype(np.float32)
        apart *= numbers
        for place in product(*(range(side) for side in sides[1:])):
            rows = tuple(slice(first, None, side) for first, side in zip(place, sides[1:]))
            for sums, added in ((share, numbers[rows]), (total, apart[rows])):
                sums[k // sides[0], : added.shape[0], : added.shape[1]] += added

    def layers(first: int, last: int) -> None:
        for k in range(first * sides[0], min(last * sides[0], len(volume))):
            add_plane(k)
        cells[:, first:last] /= voxels * lengths[0][first:last, np.newaxis, np.newaxis]

    in_parts(layers, len(share), volume.size)
    return cells


def _between_cells(coarse: np.ndarray, cell: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """Linear interpolation of the cells' values at each voxel."""
    layers = np.empty((len(coarse), *shape[1:]), np.float32)  # planes of voxels, one a cell
    by_planes(lambda k: _fill_layer(coarse[k], cell[1:], layers[k]), layers)
    if cell[0] == 1:
        return layers
    low, weight = cells_beside(shape[0], cell[0], len(layers))
    high = np.minimum(low + 1, len(layers) - 1)
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
        low, weight = cells_beside(layer.shape[axis], cell[axis], cells.shape[axis])
        first = cells.take(low, axis)
        steps = cells.take(np.minimum(low + 1, cells.shape[axis] - 1), axis) - first
        cells = first + steps * (weight if axis == 1 else weight[:, np.newaxis])
    layer[...] = cells
