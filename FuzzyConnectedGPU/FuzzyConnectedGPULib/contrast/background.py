"""The local background of each voxel: a wide Gaussian over the voxels that are no vessel."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from .filters import Array, by_slabs, module_of, pointwise, separable

CELL = 0.5  # sigmas: side of the cells whose means stand for their voxels
REACH = 3.5  # standard deviations at which the cells' Gaussian is cut off
MIN_SHARE = np.float32(1e-3)  # of background voxels: with fewer around, the median is used

# A contrast counts from so many times the background's own difference to the tissue on, or from
# that share of the first click's contrast on: the first click's vessel is never lowered.
TIMES_BACKGROUND, SHARE_OF_CLICK = 3.0, 0.65
# The same, where the difference to the tissue is that of the background and the contrast.
SHARE_OF_DIFFERENCE = TIMES_BACKGROUND / (TIMES_BACKGROUND + 1)
STEEPNESS = 5.0  # of the fall to 0 below; no step, so that rounding decides on no voxel


class LocalBackground:
    """Gaussian-weighted mean of the usable voxels around each voxel, as difference to the median.

    The Gaussian is computed on means of small cells and interpolated between them, as it hardly
    changes within a cell. It is 0 where no usable voxel is near.

    Usable are voxels of the mask `inside` that differ from the median by less than the limit, or,
    with a limit of -1, are not above it. Sigmas are in voxels along K, J and I.
    """

    def __init__(
        self,
        volume: Array,
        inside: Array | None,
        sigmas: np.ndarray | Sequence[float],
        median: float,
        limit: float,
    ) -> None:
        self._shape = volume.shape
        self._sides = [max(1, int(CELL * sigma)) for sigma in sigmas]
        weights = [_weights(sigma / side) for sigma, side in zip(sigmas, self._sides)]
        cells = self._usable_means(volume, inside, np.float32(median), np.float32(limit))
        share, total = (separable(each, weights) for each in cells)
        some = share > MIN_SHARE
        xp = module_of(volume)
        self._cells = xp.where(some, total, np.float32(0)) / xp.where(some, share, np.float32(1))

    def _usable_means(
        self, volume: Array, inside: Array | None, median: np.float32, limit: np.float32
    ) -> tuple[Array, Array]:
        """Of each cell: the share of usable voxels, and the mean difference; others count as 0."""
        xp, sides = module_of(volume), self._sides
        counts = [-(-n // side) for n, side in zip(self._shape, sides)]
        share, total = xp.zeros(counts, np.float32), xp.zeros(counts, np.float32)
        lengths = [
            xp.asarray(np.minimum(side, n - side * np.arange(count)).astype(np.float32))
            for n, side, count in zip(self._shape, sides, counts)
        ]
        voxels = lengths[0][:, None, None] * (lengths[1][:, None] * lengths[2])

        def add(first: int, last: int) -> None:
            planes = slice(first * sides[0], last * sides[0])
            apart = volume[planes].astype(np.float32, copy=False) - median
            usable = apart <= 0 if limit < 0 else xp.abs(apart) < limit
            if inside is not None:
                usable &= inside[planes] > 0
            numbers = usable.astype(np.float32)
            apart *= numbers
            for place in product(*(range(side) for side in sides)):
                rows = tuple(slice(start, None, side) for start, side in zip(place, sides))
                for sums, values in ((share, numbers[rows]), (total, apart[rows])):
                    k, j, i = values.shape
                    sums[first : first + k, :j, :i] += values
            share[first:last] /= voxels[first:last]
            total[first:last] /= voxels[first:last]

        by_slabs(add, counts[0], volume.size, xp)
        return share, total

    def values(self) -> Array:
        """The background at each voxel, float32: linear interpolation between the cells."""
        cells, xp = self._cells, module_of(self._cells)
        places = [_between(*each) for each in zip(self._shape, self._sides, cells.shape)]
        result = xp.empty(self._shape, np.float32)

        def fill(first: int, last: int) -> None:
            side = self._sides[0]
            planes = slice(first * side, min(last * side, len(result)))
            low, high = max(first - 1, 0), min(last + 1, len(cells))
            part = cells[first:last] if side == 1 else cells[low:high]
            for axis in (2, 1):
                if self._sides[axis] > 1:
                    part = _interpolated(part, axis, *places[axis])
            if side > 1:
                lows, weights = (each[planes] for each in places[0])
                part = _interpolated(part, 0, lows - low, weights)
            result[planes] = part

        by_slabs(fill, len(cells), result.size, xp)
        return result


def _weights(sigma: float) -> np.ndarray:
    """A Gaussian's weights (float32) for cells."""
    radius = int(REACH * sigma + 0.5)
    weights = np.exp(-0.5 / sigma**2 * np.arange(-radius, radius + 1) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def _between(length: int, side: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each voxel along an axis: the lower of the cells beside it, and the next one's weight."""
    position = np.clip((np.arange(length) + 0.5) / side - 0.5, 0, count - 1)
    low = position.astype(np.int32)
    return low, (position - low).astype(np.float32)


def _interpolated(cells: Array, axis: int, lows: np.ndarray, weights: np.ndarray) -> Array:
    xp = module_of(cells)
    highs = np.minimum(lows + 1, cells.shape[axis] - 1)
    first = cells.take(xp.asarray(lows), axis)
    steps = cells.take(xp.asarray(highs), axis) - first
    steps *= xp.asarray(weights.reshape([-1 if n == axis else 1 for n in range(3)]))
    first += steps
    return first


def lower_own_background(
    contrast: Array, background: Array, polarity: int, at_first: float
) -> None:
    """Lower contrasts, in place, where the background stands out from the tissue as they do.

    A vena cava stands out so little from the liver that most of its voxels count as tissue, and it
    is as wide as the local background looks: the background rises to half of it and more. The
    contrast that is left lies about a click's threshold, so that noise would decide on each voxel.
    There only clear contrasts count. A click in there is judged by the difference to the tissue
    itself (`click_scene`), in which the vessel is solid.

    Vessels have contrasts above 0, the background is a `LocalBackground`, polarity is -1 for dark
    vessels, and `at_first` is the contrast at the first click.
    """
    xp, zero = module_of(contrast), np.float32(0)
    times = np.float32(polarity * TIMES_BACKGROUND)
    most = np.float32(max(SHARE_OF_CLICK * at_first, 0.0))
    steep, less = np.float32(STEEPNESS), np.float32(STEEPNESS - 1)

    def lowered(own: Array, around: Array) -> Array:
        limit = xp.minimum(xp.maximum(around * times, zero), most)
        # No zero is negative: which one a minimum takes is not defined.
        return xp.minimum(own, xp.maximum(steep * own - less * limit, zero)) + zero

    pointwise(lowered, contrast, contrast, background)
