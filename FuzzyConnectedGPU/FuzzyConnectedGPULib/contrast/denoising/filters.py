"""Denoising filters: separable convolution, and the self-guided filter."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import by_planes, in_parts

from .weights import box_weights


def separable(
    volume: np.ndarray, weights: Sequence[np.ndarray], progress: Progress | None = None
) -> np.ndarray:
    """Convolve along the three axes; the border voxels are replicated outside the volume.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I), float32
    weights : sequence of 3 ndarray, float32, odd lengths
        For K, J and I.
    progress : Progress, optional
        Advanced between the axes.

    Returns
    -------
    ndarray, float32
    """
    progress = Progress.of(progress)
    volume = np.ascontiguousarray(volume)
    for axis in range(3):
        if len(weights[axis]) == 1:
            continue
        progress.advance(axis / 3)
        volume = _along_axis(volume, weights[axis], axis)
    return volume


def _along_axis(volume: np.ndarray, weights: np.ndarray, axis: int) -> np.ndarray:
    result = np.empty_like(volume)

    def convolve(first: int, last: int) -> None:
        if axis == 2:
            _along_rows(volume, weights, result, first, last)
        else:
            _across_rows(volume, weights, axis, result, first, last)

    in_parts(convolve, volume.shape[0] * volume.shape[1], volume.size)
    return result


@njit(nogil=True, cache=True, fastmath=True)
def _across_rows(volume, weights, axis, result, first, last):
    depth, height, width = volume.shape
    radius = len(weights) // 2
    for row in range(first, last):
        k, j = row // height, row % height
        out = result[k, j]
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
def _along_rows(volume, weights, result, first, last):
    _, height, width = volume.shape
    radius = len(weights) // 2
    padded = np.empty(width + 2 * radius, np.float32)
    for row in range(first, last):
        k, j = row // height, row % height
        for i in range(width + 2 * radius):
            padded[i] = volume[k, j, min(max(i - radius, 0), width - 1)]
        for i in range(width):
            total = np.float32(0)
            for n in range(len(weights)):
                total += weights[n] * padded[i + n]
            result[k, j, i] = total


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
    gain = separable(_square(volume), weights, progress.part(0.25, 0.5))
    offset = np.empty_like(volume)
    _gain_and_offset(mean, gain, np.float32(noise * noise), offset)
    gain = separable(gain, weights, progress.part(0.5, 0.75))
    offset = separable(offset, weights, progress.part(0.75, 1.0))
    _apply(gain, volume, offset)
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
