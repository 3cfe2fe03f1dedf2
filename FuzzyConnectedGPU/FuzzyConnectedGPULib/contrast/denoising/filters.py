"""Denoising filters: separable convolution, and the self-guided filter.

`cuda_filters` has the same bits: sums and products are rounded one by one (no `fastmath`), and go
along K first, then along J, then along I.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import by_planes, in_parts

SLABS = 3  # between which a run can be cancelled


def separable(
    volume: np.ndarray,
    weights: Sequence[np.ndarray],
    progress: Progress | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Convolve along the three axes; the border voxels are replicated outside the volume.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I), float32
    weights : sequence of 3 ndarray, float32, odd lengths
        For K, J and I.
    progress : Progress, optional
        Advanced between slabs of planes.
    out : ndarray, float32, same shape, optional
        Memory for the result; not the volume's.

    Returns
    -------
    ndarray, float32
    """
    progress = Progress.of(progress)
    volume = np.ascontiguousarray(volume)
    result = np.empty_like(volume) if out is None else out
    for n in range(SLABS):
        progress.advance(n / SLABS)
        begin, end = len(volume) * n // SLABS, len(volume) * (n + 1) // SLABS

        def convolve(first: int, last: int, begin: int = begin) -> None:
            for k in range(begin + first, begin + last):
                _convolve_plane(volume, weights, k, result[k])

        in_parts(convolve, end - begin, volume.size)
    return result


def _convolve_plane(
    volume: np.ndarray, weights: Sequence[np.ndarray], k: int, result: np.ndarray
) -> None:
    """One plane along all three axes, as what one axis leaves is then still in the cache."""
    for axis in (0, 1):
        if len(weights[axis]) > 1:
            sums = np.empty((1, *result.shape), np.float32)
            _across_rows(volume, weights[axis], axis, k, sums[0])
            volume, k = sums, 0
    if len(weights[2]) > 1:
        _along_rows(volume[k], weights[2], result)
    else:
        result[...] = volume[k]


@njit(nogil=True, cache=True)
def _across_rows(volume, weights, axis, k, result):
    depth, height, width = volume.shape
    radius = len(weights) // 2
    for j in range(height):
        out = result[j]
        for i in range(width):
            out[i] = 0
        for n in range(len(weights)):
            if axis == 0:
                other = volume[min(max(k + n - radius, 0), depth - 1), j]
            else:
                other = volume[k, min(max(j + n - radius, 0), height - 1)]
            weight = weights[n]
            for i in range(width):
                out[i] += weight * other[i]


@njit(nogil=True, cache=True)
def _along_rows(plane, weights, result):
    height, width = plane.shape
    radius = len(weights) // 2
    padded = np.empty(width + 2 * radius, np.float32)
    for j in range(height):
        for i in range(width + 2 * radius):
            padded[i] = plane[j, min(max(i - radius, 0), width - 1)]
        out = result[j]
        for i in range(width):
            out[i] = 0
        for n in range(len(weights)):
            weight = weights[n]
            for i in range(width):
                out[i] += weight * padded[i + n]


def self_guided(
    volume: np.ndarray, radii: Sequence[int], noise: float, progress: Progress | None = None
) -> np.ndarray:
    """Edge-preserving guided filter (He, Sun, Tang 2010) with the volume as its own guide.

    In each box the volume is modelled as ``a * volume + b``: a is near 1 where the variance is far
    above that of the noise, and near 0 where there is only noise.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I), float32
    radii : sequence of 3 int
        Of the boxes, in voxels along K, J and I.
    noise : float
        Standard deviation of what is to be removed.
    progress : Progress, optional
        Advanced between the passes.

    Returns
    -------
    ndarray, float32
    """
    progress = Progress.of(progress)
    sides = [2 * radius + 1 for radius in radii]
    share = np.float32(1) / np.float32(np.prod(sides))
    ones = [np.ones(side, np.float32) for side in sides]
    total = separable(volume, ones, progress.part(0.0, 0.25))
    square = _square(volume)
    gain = separable(square, ones, progress.part(0.25, 0.5))
    first_offset = square  # of what is not needed any more the memory is: new memory costs time
    _gain_and_offset(total, gain, share, np.float32(noise * noise), first_offset)
    gains = separable(gain, ones, progress.part(0.5, 0.75), out=total)
    offset = separable(first_offset, ones, progress.part(0.75, 1.0), out=gain)
    _apply(gains, volume, share, offset)
    return offset


def _square(volume: np.ndarray) -> np.ndarray:
    result = np.empty_like(volume)
    by_planes(lambda k: np.square(volume[k], out=result[k]), volume)
    return result


def _gain_and_offset(
    total: np.ndarray,
    square: np.ndarray,
    share: np.float32,
    variance_of_noise: np.float32,
    offset: np.ndarray,
) -> None:
    """Turn the sums of squares into the gain, in place, and fill the offset; the sums are lost."""

    def work(k: int) -> None:
        mean, gain, result = total[k], square[k], offset[k]
        np.multiply(mean, share, out=mean)
        np.multiply(gain, share, out=gain)
        np.square(mean, out=result)
        np.subtract(gain, result, out=gain)
        np.maximum(gain, np.float32(0), out=gain)  # the variance
        np.add(gain, variance_of_noise, out=result)
        np.maximum(result, np.float32(1e-30), out=result)
        np.divide(gain, result, out=gain)
        np.multiply(gain, mean, out=result)
        np.subtract(mean, result, out=result)

    by_planes(work, total)


def _apply(gain: np.ndarray, volume: np.ndarray, share: np.float32, offset: np.ndarray) -> None:
    """From sums of gains and of offsets to the filtered values, in the place of the offsets."""

    def work(k: int) -> None:
        np.multiply(gain[k], share, out=gain[k])
        np.multiply(gain[k], volume[k], out=gain[k])
        np.multiply(offset[k], share, out=offset[k])
        np.add(offset[k], gain[k], out=offset[k])

    by_planes(work, volume)
