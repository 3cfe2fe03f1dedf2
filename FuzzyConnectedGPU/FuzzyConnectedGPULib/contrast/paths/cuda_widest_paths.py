"""Widest paths of the weakest voxel on CUDA: tiles that may still rise are visited."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import check_voxel_count, launch_per_item, pointer
from FuzzyVesselCoreLib.progress import Progress

from .open_voxels import certainly_low
from .reached import STEPS

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
    limits = dict(floor_level=floor, certainly_low=certainly_low(unit, floor))
    scale = gpu.struct(PATHS, "Scale", unit=unit, steps=STEPS, **limits)
    others = gpu.struct(PATHS, "Rivals", smooth=smooth, brighter=brighter, owners=owners)
    args: tuple[Any, ...] = contrast, pointer(mask), rounds.tiles, scale, others
    args = *args, capacity, levels, rounds.lists
    launch_per_item(gpu, PATHS, "find_capacities", contrast.size, args)
    first = gpu.put(np.array(starts, np.int32)), np.int32(len(starts))
    blocks = (-(-len(starts) // THREADS),), (THREADS,)
    args = *first, capacity, rounds.tiles, levels, rounds.lists
    gpu.kernel(PATHS, "begin_paths")(*blocks, args)
    rounds.visit(PATHS, "visit_tiles", capacity, levels)
    if rivals is not None:
        capacity = args = None  # type: ignore[assignment]
        rounds.clear()
        args = *first, rounds.tiles, owners, rounds.lists
        gpu.kernel(OWNERS, "begin_owners")(*blocks, args)
        rounds.visit(OWNERS, "visit_owners", levels, owners)
        args = owners, np.uint32(levels.size), levels
        launch_per_item(gpu, OWNERS, "keep_ours", levels.size, args)
    return levels


def levels_from(
    capacity: DeviceArray,
    starts: np.ndarray,
    gpu: CudaDevice,
    progress: Progress | None = None,
) -> DeviceArray:
    """Levels of the widest paths from starts through given levels of the voxels.

    Parameters
    ----------
    capacity : device array, shape (K, J, I), uint16
        No path passes 0.
    starts : ndarray, shape (n, 3), integers K, J, I
    gpu : CudaDevice
    progress : Progress, optional
        Checked between batches of rounds.

    Returns
    -------
    device array, uint16
    """
    levels = gpu.xp.zeros(capacity.shape, np.uint16)
    if len(starts):
        rounds = _TileRounds(capacity.shape, gpu, Progress.of(progress))
        first = gpu.put(np.array(starts, np.int32)), np.int32(len(starts))
        blocks = (-(-len(starts) // THREADS),), (THREADS,)
        args = *first, capacity, rounds.tiles, levels, rounds.lists
        gpu.kernel(PATHS, "begin_paths")(*blocks, args)
        rounds.visit(PATHS, "visit_tiles", capacity, levels)
    return levels


class _TileRounds:
    """The work lists of active tiles."""

    def __init__(self, shape: Sequence[int], gpu: CudaDevice, progress: Progress) -> None:
        self._gpu, self._progress = gpu, progress
        self._count = int(np.prod([-(-n // SIDE) for n in shape]))
        nk, nj, ni = shape
        self.tiles = gpu.struct(PATHS, "Tiles", nk=nk, nj=nj, ni=ni)
        lists = gpu.xp.empty(2 * self._count, np.int32)
        self._counts, self._listed = gpu.xp.empty(3, np.int32), gpu.xp.empty(self._count, np.int32)
        arrays = dict(lists=lists, counts=self._counts, listed=self._listed)
        self.lists = gpu.struct(PATHS, "TileLists", **arrays)
        self.clear()

    def clear(self) -> None:
        """Empty the lists."""
        self._counts.fill(0)
        self._listed.fill(0)

    def visit(self, path: Path, name: str, *arrays: DeviceArray) -> None:
        """Visit tiles until none is active."""
        run = self._gpu.kernel(path, name)
        args, rounds = (*arrays, self.tiles, self.lists), 0
        while True:
            for _ in range(ROUNDS_PER_BATCH):
                run((min(self._count, MAX_BLOCKS),), (THREADS,), (*args, np.int32(rounds)))
                rounds += 1
            if self._gpu.get(self._counts)[rounds % 3] == 0:
                return
            self._progress.check()
