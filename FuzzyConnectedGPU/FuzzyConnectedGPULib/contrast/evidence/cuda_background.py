"""Local background on CUDA; see `background`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.gpu.launches import launch_per_item, pointer

from ..denoising.cuda_filters import separable
from . import own_background
from .background import MIN_SHARE, cells_and_weights, cells_beside

KERNELS = Path(__file__).with_name("background.cu")


def background_cells(
    volume: DeviceArray,
    mask: DeviceArray | None,
    median: float,
    limit: float,
    sigmas: np.ndarray,
    gpu: CudaDevice,
) -> tuple[DeviceArray, list[int]]:
    """Means of the usable voxels around each cell, as differences from the median.

    Parameters
    ----------
    volume : device array, shape (K, J, I)
    mask : device array, uint8, or None
    median : float
        The result is 0 where no usable voxel is near.
    limit : float
        Usable voxels differ by less from the median; -1: they are not above it.
    sigmas : sequence of 3 float
        In voxels along K, J and I.
    gpu : CudaDevice

    Returns
    -------
    cells : device array, float32
    sides : list of 3 int
        Of a cell, in voxels.
    """
    sides, weights = cells_and_weights(sigmas)
    counts = [-(-n // side) for n, side in zip(volume.shape, sides)]
    cells = gpu.xp.empty((2, *counts), np.float32)  # share, total
    count = cells[0].size
    limits = np.float32(median), np.float32(limit)
    sizes = _axes(gpu, volume.shape), _axes(gpu, sides)
    args = volume, pointer(mask), *limits, *sizes, cells[0], cells[1]
    launch_per_item(gpu, KERNELS, "cell_means", count, args, voxels=volume)
    cells = separable(cells, weights, gpu)
    means = cells[0], np.float32(MIN_SHARE), cells[1], np.uint32(count)
    launch_per_item(gpu, KERNELS, "usable_means", count, means, voxels=volume)
    return cells[1].copy(), sides


def subtract(
    volume: DeviceArray, cells: DeviceArray, sides: Sequence[int], median: float, gpu: CudaDevice
) -> DeviceArray:
    """Of a volume (float32) the difference to the median, minus its background; in a new array."""
    contrast = gpu.xp.empty_like(volume)
    args = volume, np.float32(median), _between_cells(volume, cells, sides, gpu), contrast
    launch_per_item(gpu, KERNELS, "subtract_background", volume.size, args, voxels=volume)
    return contrast


def lower_own_background(
    contrast: DeviceArray,
    cells: DeviceArray,
    sides: Sequence[int],
    polarity: int,
    at_first: float,
    gpu: CudaDevice,
) -> None:
    """As `own_background.lower_own_background`, with the cells of `background_cells`."""
    most = np.float32(own_background.most_lowered(at_first))
    times = np.float32(polarity * own_background.TIMES_BACKGROUND)
    factors = times, np.float32(own_background.STEEPNESS)
    args = _between_cells(contrast, cells, sides, gpu), *factors, most, contrast
    launch_per_item(gpu, KERNELS, "lower_own_background", contrast.size, args, voxels=contrast)


def _between_cells(
    volume: DeviceArray, cells: DeviceArray, sides: Sequence[int], gpu: CudaDevice
) -> KernelStruct:
    """`BetweenCells` of background.cu: where the voxels of a volume lie between the cells."""
    positions = [cells_beside(*along) for along in zip(volume.shape, sides, cells.shape)]
    lows, weights = (gpu.put(np.concatenate(values)) for values in zip(*positions))
    sizes = dict(zip(("nk", "nj", "ni", "ck", "cj", "ci"), (*volume.shape, *cells.shape)))
    arrays = dict(cells=cells, lows=lows, weights=weights)
    return gpu.struct(KERNELS, "BetweenCells", **arrays, **sizes)


def _axes(gpu: CudaDevice, numbers: Sequence[int]) -> KernelStruct:
    """`Axes` of background.cu: a number for each of K, J and I."""
    return gpu.struct(KERNELS, "Axes", **dict(zip("kji", numbers)))
