"""Local background on CUDA; see `background`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.gpu.launches import launch_per_item, pointer

from ..denoising.cuda_filters import separable
from . import own_background
from .background import CELL, MIN_SHARE

KERNELS = Path(__file__).with_name("background.cu")

REACH = 3.5  # standard deviations at which the cells' Gaussian is cut off


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
        Used where no usable voxel is near.
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
    sides = [max(1, int(CELL * sigma)) for sigma in sigmas]
    counts = [-(-n // side) for n, side in zip(volume.shape, sides)]
    cells = gpu.xp.empty((2, *counts), np.float32)  # share, total
    count = cells[0].size
    limits = np.float32(median), np.float32(limit)
    sizes = _axes(gpu, volume.shape), _axes(gpu, sides)
    args = volume, pointer(mask), *limits, *sizes, cells[0], cells[1]
    launch_per_item(gpu, KERNELS, "cell_means", count, args, voxels=volume)
    narrow = [sigma / side for sigma, side in zip(sigmas, sides)]
    cells = separable(cells, [_weights(sigma) for sigma in narrow], gpu)
    means = cells[0], np.float32(MIN_SHARE), cells[1], np.uint32(count)
    launch_per_item(gpu, KERNELS, "usable_means", count, means, voxels=volume)
    return cells[1].copy(), sides


def subtract(
    volume: DeviceArray, cells: DeviceArray, sides: Sequence[int], median: float, gpu: CudaDevice
) -> DeviceArray:
    """The volume (float32) minus its background, in a new device array."""
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
    positions = [_cell_positions(*along) for along in zip(volume.shape, sides, cells.shape)]
    lows, weights = (gpu.put(np.concatenate(values)) for values in zip(*positions))
    sizes = dict(zip(("nk", "nj", "ni", "ck", "cj", "ci"), (*volume.shape, *cells.shape)))
    arrays = dict(cells=cells, lows=lows, weights=weights)
    return gpu.struct(KERNELS, "BetweenCells", **arrays, **sizes)


def _axes(gpu: CudaDevice, numbers: Sequence[int]) -> KernelStruct:
    """`Axes` of background.cu: a number for each of K, J and I."""
    return gpu.struct(KERNELS, "Axes", **dict(zip("kji", numbers)))


def _weights(sigma: float) -> np.ndarray:
    """A Gaussian's weights (float32)."""
    radius = int(REACH * sigma + 0.5)
    weights = np.exp(-0.5 / sigma**2 * np.arange(-radius, radius + 1) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def _cell_positions(count: int, side: int, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """For the voxels along an axis: the lower of two cells, and the weight of the upper."""
    position = np.clip((np.arange(count) + 0.5) / side - 0.5, 0, cells - 1)
    low = position.astype(np.int32)
    return low, (position - low).astype(np.float32)
