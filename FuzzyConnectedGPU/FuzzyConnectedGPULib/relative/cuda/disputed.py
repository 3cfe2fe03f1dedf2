"""Disputed voxels on CUDA: iterative relative connectedness, and the rule for ties."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.gpu.launches import check_voxel_count, int32s, launch_per_item, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ...solvers.cuda.affinity_struct import affinity_struct

KERNELS = Path(__file__).with_name("disputed.cu")
TILE_THREADS, SIDE = 64, 8  # of a tile: as in tile_rounds.cuh
MAX_BLOCKS = 4096  # more than any GPU holds at a time; each visits further tiles of a long list
ROUNDS_PER_BATCH = 16  # launched before the host checks whether anything is left


class Disputed:
    """The disputed voxels of a volume on the device, and the optimal edges that lead to them.

    Parameters
    ----------
    problem : Problem
    voxels, levels, owners : device arrays
        The problem's voxels; levels and owners as `by_contraction.propagate` returns them.
    progress : Progress
        Checked between batches of rounds.
    gpu : CudaDevice
    """

    def __init__(
        self,
        problem: Problem,
        voxels: DeviceArray,
        levels: DeviceArray,
        owners: DeviceArray,
        progress: Progress,
        gpu: CudaDevice,
    ) -> None:
        check_voxel_count(owners.size)
        self._gpu, self._progress, self._owners = gpu, progress, owners
        self._voxels, self._shape = voxels, int32s(owners.shape)
        self._tiles = gpu.struct(KERNELS, "Tiles", **dict(zip(("nk", "nj", "ni"), owners.shape)))
        affinity = affinity_struct(gpu, KERNELS, problem.affinity)
        self._volume = voxels, levels, owners, self._tiles, affinity
        self._edges, self._found = (gpu.xp.empty(owners.shape, np.uint8) for _ in range(2))

    @property
    def _tile_count(self) -> int:
        return int(np.prod([-(-int(n) // SIDE) for n in self._shape]))

    def iterate(self) -> None:
        """From relative to iterative relative connectedness: changes the owners."""
        gpu, rounds = self._gpu, 0
        lists, counts = self._begin()
        visit = gpu.kernel(KERNELS, "visit_tiles", (voxel_macro(self._voxels.dtype),))
        blocks = (min(self._tile_count, MAX_BLOCKS),)
        volume = self._edges, self._found, self._tiles, lists
        while int(gpu.get(counts)[rounds % 3]):
            for _ in range(ROUNDS_PER_BATCH):
                visit(blocks, (TILE_THREADS,), (*volume, np.int32(rounds)))
                rounds += 1
            self._progress.check()
        self._each("take_found", self._found, np.uint32(self._owners.size), self._owners)

    def share_by_steps(self) -> DeviceArray:
        """Owners, with a group for each disputed voxel to which one is nearest."""
        gpu, count = self._gpu, np.uint32(self._owners.size)
        self._begin()
        changed = gpu.xp.ones(1, np.int32)
        while int(gpu.get(changed)[0]):
            for step in range(ROUNDS_PER_BATCH):
                if step == ROUNDS_PER_BATCH - 1:
                    changed.fill(0)  # only changes of the batch's last step count
                self._each("settle", self._edges, self._found, count)
                self._each("step_on", self._edges, self._found, *self._shape, changed)
            self._progress.check()
        shared = self._owners.copy()
        self._each("take_found", self._found, count, shared)
        return shared

    def _begin(self) -> tuple[KernelStruct, DeviceArray]:
        """Find the optimal edges, and the owners along them of voxels that groups have.

        Returns
        -------
        lists : KernelStruct
            `TileLists` of tile_lists.cuh.
        counts : array, int32
            Of these lists.
        """
        xp, tiles = self._gpu.xp, self._tile_count
        lists, listed = xp.empty(2 * tiles, np.int32), xp.zeros(tiles, np.int32)
        counts = xp.zeros(3, np.int32)
        struct = self._gpu.struct(KERNELS, "TileLists", lists=lists, counts=counts, listed=listed)
        self._each("find_edges", *self._volume, self._edges, self._found, struct)
        return struct, counts

    def _each(self, name: str, *args: Any) -> None:
        """Run a kernel with one thread per voxel."""
        launch_per_item(self._gpu, KERNELS, name, self._owners.size, args, self._voxels)
