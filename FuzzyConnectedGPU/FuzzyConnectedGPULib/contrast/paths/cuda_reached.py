"""The voxels that paths reach, listed on CUDA: the list is copied to the host, not the volume."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import pointer

from .reached import Reached

KERNELS = Path(__file__).with_name("reached.cu")
THREADS, EACH = 256, 16  # as in reached.cu


def reached_voxels(
    levels: DeviceArray, contrast: DeviceArray, gpu: CudaDevice, most: int | None = None
) -> Reached:
    """The voxels whose level is above 0, on the host.

    Parameters
    ----------
    levels : device array, uint16
    contrast : device array, float32, of the same shape
    gpu : CudaDevice
    most : int, optional
        Of more voxels, so many are listed.
    """
    blocks = (-(-levels.size // (THREADS * EACH)),), (THREADS,)
    run = gpu.kernel(KERNELS, "list_reached")
    counted = gpu.xp.zeros(2, np.uint32)
    volume = levels, contrast, np.uint32(levels.size)
    run(*blocks, (*volume, np.uint32(0), counted[:1], pointer(None)))
    room = int(gpu.get(counted)[0])
    room = room if most is None else min(room, most)
    if not room:
        return Reached(np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.float32))
    found = gpu.xp.empty((3, room), np.uint32)
    run(*blocks, (*volume, np.uint32(room), counted[1:], found))
    voxels, level, contrasts = gpu.get(found)
    return Reached(voxels.astype(np.int64), level.astype(np.uint16), contrasts.view(np.float32))
