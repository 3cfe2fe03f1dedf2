"""Widest paths of the weakest voxel on CUDA: tiles that may still rise are visited."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import check_voxel_count, int32s, launch_per_item, pointer
from FuzzyVesselCoreLib.progress import Progress

from .open_voxels import certainly_low
from .widest_paths import STEPS

PATHS = Path(__file__).with_name("widest_paths.cu")
OWNERS = Path(__file__).with_name("path_owners.cu")
SIDE, THREADS = 8, 64  # as in tile_rounds.cuh
MAX_BLOCKS = 4096  # more than any GPU holds at a time; each visits further tiles of a long list
ROUNDS_PER_BATCH = 16  # launched before the host checks whether tiles are left
BYTES_PER_VOXEL = 5  # capacity, level, and with rivals the owner


def cuda_widest_paths(
    contrast: DeviceArray,
    mask: DeviceArray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    gpu: CudaDevice,
    rivals: tuple[DeviceArray, float] | None = None,
    progress: Progress | None = None,
) -> DeviceArray:
    """The levels of `widest_paths.widest_paths`, bit for bit, of all voxels; 0 without a path.

    Parameters
    ----------
    contrast : device array, shape (K, J, I), float32
    mask : device array, uint8, same shape, or None
    starts : sequence of (K, J, I)
    unit : float
    floor : int
        At least 1.
    gpu : CudaDevice
    rivals : (device array, float32, of the same shape; float), optional
        Other objects start where the array is above the number.
    progress : Progress, optional
        Checked between batches of rounds.

    Returns
    -------
    device array, uint16
    """
    xp, shape = gpu.xp, contrast.shape
    check_voxel_count(contrast.size)
    if not len(starts):
        return xp.zeros(shape, np.uint16)
    capacity, levels = xp.empty(shape, np.uint16), xp.empty(shape, np.uint16)
    smooth, brighter = (None, 0.0) if rivals is None else rivals
    owners = None if rivals is None else xp.empty(shape, np.uint8)
    rounds = _TileRounds(shape, gpu, Progress.of(progress))
    low = certainly_low(unit, floor)
    args: tuple[Any, ...] = contrast, pointer(mask), *rounds.shape, np.float64(unit)
    args = *args, np.float64(STEPS), np.int32(floor), np.float32(low), pointer(smooth)
    args = *args, np.float32(brighter), capacity, levels, pointer(owners), *rounds.lists
    launch_per_item(gpu, PATHS, "find_capacities", contrast.size, args)
    first = gpu.put(np.array(starts, np.int32)), np.int32(len(starts))
    blocks = (-(-len(starts) // THREADS),), (THREADS,)
    args = *first, capacity, *rounds.shape, levels, *rounds.lists
    gpu.kernel(PATHS, "begin_paths")(*blocks, args)
    rounds.visit(PATHS, "visit_tiles", capacity, levels)
    if rivals is not None:
        capacity = args = None  # type: ignore[assignment]
        rounds.clear()
        args = *first, *rounds.shape, owners, *rounds.lists
        gpu.kernel(OWNERS, "begin_owners")(*blocks, args)
        rounds.visit(OWNERS, "visit_owners", levels, owners)
        args = owners, np.uint32(levels.size), levels
        launch_per_item(gpu, OWNERS, "keep_ours", levels.size, args)
    return levels


class _TileRounds:
    """The work lists of active tiles."""

    def __init__(self, shape: Sequence[int], gpu: CudaDevice, progress: Progress) -> None:
        self._gpu, self._progress = gpu, progress
        self._count = int(np.prod([-(-n // SIDE) for n in shape]))
        self.shape = int32s(shape)
        lists = gpu.xp.empty(2 * self._count, np.int32)
        self.lists = lists, gpu.xp.empty(3, np.int32), gpu.xp.empty(self._count, np.int32)
        self.clear()

    def clear(self) -> None:
        """Empty the lists."""
        for array in self.lists[1:]:
            array.fill(0)

    def visit(self, path: Path, name: str, *arrays: DeviceArray) -> None:
        """Visit tiles until none is active."""
        run = self._gpu.kernel(path, name)
        args, rounds = (*arrays, *self.shape, *self.lists), 0
        while True:
            for _ in range(ROUNDS_PER_BATCH):
                run((min(self._count, MAX_BLOCKS),), (THREADS,), (*args, np.int32(rounds)))
                rounds += 1
            if self._gpu.get(self.lists[1])[rounds % 3] == 0:
                return
            self._progress.check()
