"""Denoising filters: separable convolution, and the self-guided filter."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import by_planes, in_parts

from .weights import box_weights

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


@njit(nogil=True, cache=True, fastmath=True)
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


@njit(nogil=True, cache=True, fastmath=True)
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
    weights = [box_weights(radius) for radius in radii]
    mean = separable(volume, weights, progress.part(0.0, 0.25))
    square = _square(volume)
    gain = separable(square, weights, progress.part(0.25, 0.5))
    first_offset = square  # of what is not needed any more the memory is: new memory costs time
    _gain_and_offset(mean, gain, np.float32(noise * noise), first_offset)
    mean_gain = separable(gain, weights, progress.part(0.5, 0.75), out=mean)
    offset = separable(first_offset, weights, progress.part(0.75, 1.0), out=gain)
    _apply(mean_gain, volume, offset)
    return offset


def _square(volume: np.ndarray) -> np.ndarray:
    result = np.empty_like(volume)
    by_planes(lambda k: np.square(volume[k], out=result[k]), volume)
    return result


def _gain_and_offset(
    mean: np.ndarray, square: np.ndarray, variance_of_noise: np.float32, offset: np.ndarray
) -> None:
    """Turn the mean of squares into the gain, in place, and fill the offset."""

    def work(k: int) -> None:
        gain, result = square[k], offset[k]
        np.square(mean[k], out=result)
        np.subtract(gain, result, out=gain)
        np.maximum(gain, np.float32(0), out=gain)  # the variance
        np.add(gain, variance_of_noise, out=result)
        np.maximum(result, np.float32(1e-30), out=result)
        np.divide(gain, result, out=gain)
        np.multiply(gain, mean[k], out=result)
        np.subtract(mean[k], result, out=result)

    by_planes(work, mean)


def _apply(gain: np.ndarray, volume: np.ndarray, offset: np.ndarray) -> None:
    """Add ``gain * volume`` to the offset; the gain is lost."""

    def work(k: int) -> None:
        np.multiply(gain[k], volume[k], out=gain[k])
        np.add(offset[k], gain[k], out=offset[k])

    by_planes(work, volume)
