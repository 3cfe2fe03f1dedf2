"""Widest paths of the weakest voxel on CUDA: tiles that may still rise are visited."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import check_voxel_count, int32s, launch_per_item, pointer

from .filters import SLAB
from .widest_paths import STEPS, Reached, lowest_open

KERNELS = Path(__file__).with_name("widest_paths.cu")
SIDE, THREADS = 8, 64  # as in the kernels
ROUNDS = 16  # launched before the host checks whether tiles are marked


def widest_paths_on_device(
    contrast: DeviceArray,
    mask: DeviceArray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    gpu: CudaDevice,
    competing: tuple[DeviceArray, float] | None = None,
    limit: int | None = None,
) -> Reached | None:
    """The result of `widest_paths.widest_paths`, with the same parameters, but device arrays."""
    xp, shape = gpu.xp, contrast.shape
    check_voxel_count(contrast.size)
    capacity, levels = xp.empty(shape, np.uint16), xp.empty(shape, np.uint16)
    smooth, brighter = (None, 0.0) if competing is None else competing
    owners = None if competing is None else xp.empty(shape, np.uint8)
    rounds = _Rounds(shape, starts, gpu)
    scale = lowest_open(unit, floor), np.float64(unit), np.float64(STEPS)
    others = pointer(smooth), np.float32(brighter)
    inputs = contrast, pointer(mask), rounds.tiles, *scale, *others
    outputs = capacity, levels, pointer(owners), rounds.marked
    launch_per_item(gpu, KERNELS, "find_capacities", contrast.size, inputs + outputs)
    rounds.run("begin_paths", "raise_levels", capacity, levels)
    if competing is not None:
        del capacity, outputs
        rounds.run("begin_owners", "spread_owners", levels, owners)
        ours = owners, np.uint32(levels.size), levels
        launch_per_item(gpu, KERNELS, "keep_ours", levels.size, ours)
    count = int(xp.count_nonzero(levels))
    if limit is not None and count > limit:
        return None
    return _listed(levels.ravel(), contrast.ravel(), gpu)


def _listed(levels: DeviceArray, contrast: DeviceArray, gpu: CudaDevice) -> Reached:
    """The voxels with a level above 0, in the order of the volume."""
    found: tuple[list, list, list] = [np.empty(0, np.int64)], [], []
    for first in range(0, levels.size, SLAB):
        part = slice(first, first + SLAB)
        places = gpu.xp.flatnonzero(levels[part])
        found[0].append(gpu.get(places) + first)
        found[1].append(gpu.get(levels[part][places]))
        found[2].append(gpu.get(contrast[part][places]))
    voxels, reached, values = (np.concatenate(each) for each in found)
    return Reached(voxels, reached, values)


class _Rounds:
    """Rounds of visits to tiles, and the marks of those to visit in this round and the next."""

    def __init__(self, shape: Sequence[int], starts: Sequence[Any], gpu: CudaDevice) -> None:
        self._gpu, self.tiles = gpu, gpu.record(*int32s(shape))
        self._count = int(np.prod([-(-n // SIDE) for n in shape]))
        self.marked, self._next = (gpu.xp.zeros(self._count, np.uint8) for _ in range(2))
        self._any = gpu.xp.zeros(1, np.int32)
        self._starts = gpu.put(np.array(starts, np.int32).reshape(-1, 3))

    def run(self, begin: str, visit: str, fixed: DeviceArray, rising: DeviceArray) -> None:
        """From the starts on, visit tiles until none is marked."""
        gpu, count = self._gpu, len(self._starts)
        arrays = (fixed, self.tiles, rising) if begin == "begin_paths" else (self.tiles, rising)
        if count:
            args = self._starts, np.int32(count), *arrays, self.marked
            gpu.kernel(KERNELS, begin)((-(-count // THREADS),), (THREADS,), args)
        kernel = gpu.kernel(KERNELS, visit)
        while True:
            for n in range(ROUNDS):
                if n == ROUNDS - 1:
                    self._any.fill(0)  # only marks of the last round count
                args = fixed, rising, self.tiles, self.marked, self._next, self._any
                kernel((self._count,), (THREADS,), args)
                self.marked, self._next = self._next, self.marked
            if not int(gpu.get(self._any)[0]):
                return
