"""Filters of volumes on NumPy and CuPy, with the same bits.

Sums and products are rounded one by one, along K first, then along J, then along I. A volume is
worked on slab by slab: plane by plane in threads on the CPU, where a plane stays in a core's cache,
and many planes at a time on a device, so that little memory is needed beside the volume.
"""

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.kernels import load_kernel
from FuzzyVesselCoreLib.progress import Progress, in_parts

SLAB = 1 << 25  # voxels worked on at a time on a device
CHECKS = 4  # of the progress, for each filter on the CPU
KERNELS = Path(__file__).with_suffix(".cu")
THREADS = 256  # of a block
GAUSSIAN_REACH = 3.0  # standard deviations at which a Gaussian is cut off

Array = Any  # numpy.ndarray or cupy.ndarray
Voxel = tuple[int, ...]  # K, J, I


def module_of(array: Array) -> Any:
    """NumPy or CuPy, whichever an array belongs to."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]


def at_click(values: Array, click: Sequence[int]) -> float:
    """The median of the 27 voxels around a click, or its own value where that is higher."""
    near = values[tuple(slice(max(c - 1, 0), c + 2) for c in click)]
    near = near if module_of(near) is np else near.get()
    return max(float(np.median(near)), float(values[tuple(click)]))


def by_slabs(
    work: Callable[[int, int], None],
    count: int,
    voxels: int,
    xp: Any,
    progress: Progress | None = None,
) -> None:
    """Call ``work(first, last)`` for slabs of ``range(count)``, planes with so many voxels."""
    progress = Progress.of(progress)
    if xp is np:
        ends = [count * n // CHECKS for n in range(CHECKS + 1)]
    else:
        step = max(1, -(-count // -(-max(voxels, 1) // SLAB)))
        ends = [*range(0, count, step), count]
    for begin, end in pairwise(ends):
        progress.advance(begin / max(count, 1))
        if xp is not np:
            work(begin, end)
            continue

        def planes(first: int, last: int, begin: int = begin) -> None:
            for plane in range(begin + first, begin + last):
                work(plane, plane + 1)

        in_parts(planes, end - begin, voxels)


def pointwise(function: Callable[..., Array], out: Array, *volumes: Array) -> Array:
    """``out[...] = function(*volumes)``, slab by slab; `out` may be one of the volumes."""

    def work(first: int, last: int) -> None:
        out[first:last] = function(*(volume[first:last] for volume in volumes))

    by_slabs(work, len(out), out.size, module_of(out))
    return out


def gaussian_weights(sigma: float) -> np.ndarray:
    """Weights (float32, odd number) of a Gaussian whose sigma is given in voxels."""
    radius = int(GAUSSIAN_REACH * sigma + 0.5)
    offsets = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (offsets / max(sigma, 1e-6)) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def separable(
    volume: Array,
    weights: Sequence[np.ndarray],
    progress: Progress | None = None,
    of: Callable[[Array], Array] | None = None,
) -> Array:
    """Convolve along K, J and I, the border voxels repeated outside; the result is float32.

    Weights are float32 of odd lengths. `of` is applied to each slab first, as a conversion is.
    """
    xp = module_of(volume)
    result = xp.empty(volume.shape, np.float32)

    def work(first: int, last: int) -> None:
        result[first:last] = _convolved(volume, weights, first, last, of)

    by_slabs(work, len(volume), volume.size, xp, progress)
    return result


def self_guided(
    volume: Array, radii: Sequence[int], noise: float, progress: Progress | None = None
) -> Array:
    """Edge-preserving guided filter (He, Sun, Tang 2010), the volume its own guide; in place.

    In each box (radii in voxels along K, J, I) the volume is modelled as ``a * volume + b``: a is
    near 1 where the variance is far above that of the noise, and near 0 where there is only noise
    (its standard deviation).
    """
    progress, xp = Progress.of(progress), module_of(volume)
    ones = [np.ones(2 * radius + 1, np.float32) for radius in radii]
    share = np.float32(1) / np.float32(np.prod([len(each) for each in ones]))
    noise_variance = np.float32(noise * noise)
    gain, offset = xp.empty_like(volume), xp.empty_like(volume)

    def fit(first: int, last: int) -> None:
        mean = _convolved(volume, ones, first, last) * share
        variance = _convolved(volume, ones, first, last, xp.square) * share
        variance -= mean * mean
        variance = xp.maximum(variance, np.float32(0))
        own = variance / xp.maximum(variance + noise_variance, np.float32(1e-30))
        gain[first:last] = own
        offset[first:last] = mean - own * mean

    def apply(first: int, last: int) -> None:
        own = _convolved(gain, ones, first, last) * share
        own *= volume[first:last]
        volume[first:last] = _convolved(offset, ones, first, last) * share + own

    by_slabs(fit, len(volume), volume.size, xp, progress.part(0.0, 0.5))
    by_slabs(apply, len(volume), volume.size, xp, progress.part(0.5, 1.0))
    return volume


def _convolved(
    volume: Array,
    weights: Sequence[np.ndarray],
    first: int,
    last: int,
    of: Callable[[Array], Array] | None = None,
) -> Array:
    """The planes first..last of what `separable` gives."""
    reach = len(weights[0]) // 2
    low, high = max(first - reach, 0), min(last + reach, len(volume))
    part = volume[low:high]
    if of is not None:
        part = of(part)
    part = _along(part, 0, weights[0], (low - first + reach, last + reach - high))
    for axis in (1, 2):
        radius = len(weights[axis]) // 2
        part = _along(part, axis, weights[axis], (radius, radius))
    return part


def _along(part: Array, axis: int, weights: np.ndarray, beyond: tuple[int, int]) -> Array:
    """Weighted sums along an axis, after repeating its border voxels outside."""
    if len(weights) == 1:
        return part
    shape = list(part.shape)
    shape[axis] += sum(beyond) - len(weights) + 1
    if module_of(part) is not np:
        return _along_on_device(part, axis, weights, beyond[0], shape)
    if any(beyond):
        part = np.pad(part, [beyond if n == axis else (0, 0) for n in range(3)], mode="edge")
    total, product = np.zeros(shape, np.float32), None
    for n, weight in enumerate(weights):
        values = part[(slice(None),) * axis + (slice(n, n + shape[axis]),)]
        if weight != 1:
            product = np.multiply(values, weight, out=product)
            values = product
        total += values
    return total


def _along_on_device(
    part: Array, axis: int, weights: np.ndarray, before: int, shape: Sequence[int]
) -> Array:
    """The same by one kernel: in CuPy's own operations each weight is a pass over the volume."""
    xp = module_of(part)
    sums, part = xp.empty(shape, np.float32), xp.ascontiguousarray(part, np.float32)
    step = np.int64(np.prod(part.shape[axis + 1 :], dtype=np.int64))
    inputs = part, step, np.int32(part.shape[axis]), xp.asarray(weights), np.int32(len(weights))
    outputs = np.int32(before), sums, np.int32(shape[axis]), np.int64(sums.size)
    kernel = load_kernel(part.device.id, KERNELS, "weighted_sums", ())
    kernel((-(-sums.size // THREADS),), (THREADS,), inputs + outputs)
    return sums
