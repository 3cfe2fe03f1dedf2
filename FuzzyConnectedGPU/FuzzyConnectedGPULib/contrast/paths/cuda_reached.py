"""The voxels that paths reach, listed on CUDA: the list is copied to the host, not the volume."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import pointer

from .reached import Reached

KERNELS = Path(__file__).with_name("reached.cu")
THREADS, EACH = 256, 16  # as in reached.cu


def count_reached(levels: DeviceArray, contrast: DeviceArray, gpu: CudaDevice) -> int:
    """Number of the voxels whose level is above 0."""
    counted = gpu.xp.zeros(1, np.uint32)
    _run(levels, contrast, 0, counted, pointer(None), gpu)
    return int(gpu.get(counted)[0])


def reached_voxels(
    levels: DeviceArray, contrast: DeviceArray, gpu: CudaDevice, count: int | None = None
) -> Reached:
    """The voxels whose level is above 0, on the host.

    Parameters
    ----------
    levels : device array, uint16
    contrast : device array, float32, of the same shape
    gpu : CudaDevice
    count : int, optional
        Result of `count_reached`, where it is known.
    """
    count = count_reached(levels, contrast, gpu) if count is None else count
    if not count:
        return Reached(np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.float32))
    found = gpu.xp.empty((3, count), np.uint32)
    _run(levels, contrast, count, gpu.xp.zeros(1, np.uint32), found, gpu)
    voxels, level, contrasts = gpu.get(found)
    return Reached(voxels.astype(np.int64), level.astype(np.uint16), contrasts.view(np.float32))


def _run(
    levels: DeviceArray,
    contrast: DeviceArray,
    room: int,
    counted: DeviceArray,
    found: DeviceArray,
    gpu: CudaDevice,
) -> None:
    blocks = -(-levels.size // (THREADS * EACH))
    args = levels, contrast, np.uint32(levels.size), np.uint32(room), counted, found
    gpu.kernel(KERNELS, "list_reached")((blocks,), (THREADS,), args)
