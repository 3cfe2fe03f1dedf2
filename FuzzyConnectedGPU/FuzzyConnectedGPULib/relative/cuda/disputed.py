"""Disputed voxels on CUDA: iterative relative connectedness, and the rule for ties."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import NoRoomError

from ...solvers.cuda.active_tiles import VOXEL_NAMES

KERNELS = Path(__file__).with_name("disputed.cu")
THREADS, TILE_THREADS, SIDE = 256, 64, 8  # of a tile: as in tile_rounds.cuh
BLOCKS = 4096  # more than any card holds at a time; each takes further tiles of a long list
ROUNDS_A_BATCH = 16  # then the host asks whether anything is left to do
MOST_VOXELS = 2**32 - THREADS  # voxels are numbered by 32 bits


class Disputed:
    """The disputed voxels of a volume on the card, and the optimal edges that lead to them.

    Parameters
    ----------
    problem : Problem
    voxels, levels, owners : arrays on the card
        The problem's voxels; levels and owners as `by_contraction.propagate` returns them.
    look : callable
        Called between batches of rounds; raises to cancel.
    gpu : CudaDevice
    """

    def __init__(self, problem, voxels, levels, owners, look, gpu):
        if owners.size > MOST_VOXELS:
            raise NoRoomError(
                f"The volume has {owners.size:,} voxels, and {MOST_VOXELS:,} can be numbered on a "
                "CUDA device; use device 'cpu', or work on a smaller region."
            )
        self._gpu, self._look, self._owners = gpu, look, owners
        self._defines = (f"VOXEL={VOXEL_NAMES[problem.voxels.dtype.name]}",)
        self._shape = tuple(np.int32(n) for n in owners.shape)
        self._volume = (
            voxels,
            levels,
            owners,
            *self._shape,
            gpu.put(problem.affinity.coefficients()),
        )
        self._edges, self._found = (gpu.xp.empty(owners.shape, np.uint8) for _ in range(2))

    def iterate(self):
        """From relative to iterative relative connectedness: changes the owners."""
        gpu, rounds = self._gpu, 0
        lists = self._begin()
        visit = gpu.kernel(KERNELS, "visit_tiles", self._defines)
        blocks = (min(lists[2].size, BLOCKS),)
        volume = self._edges, self._found, *self._shape, *lists
        while int(gpu.get(lists[1])[rounds % 3]):
            for _ in range(ROUNDS_A_BATCH):
                visit(blocks, (TILE_THREADS,), (*volume, np.int32(rounds)))
                rounds += 1
            self._look()
        self._each("take_found", self._found, np.uint32(self._owners.size), self._owners)

    def share_by_steps(self):
        """Owners, with a group for each disputed voxel to which one is nearest; on the card."""
        gpu, count = self._gpu, np.uint32(self._owners.size)
        self._begin()
        changed = gpu.xp.ones(1, np.int32)
        while int(gpu.get(changed)[0]):
            for step in range(ROUNDS_A_BATCH):
                if step == ROUNDS_A_BATCH - 1:
                    changed.fill(0)  # what the last step of the batch changes counts
                self._each("settle", self._edges, self._found, count)
                self._each("step_on", self._edges, self._found, *self._shape, changed)
            self._look()
        shared = self._owners.copy()
        self._each("take_found", self._found, count, shared)
        return shared

    def _begin(self):
        """Find the optimal edges, and what they bring from voxels that groups have.

        Returns
        -------
        lists, counts, listed : arrays, int32
            As in tile_rounds.cuh.
        """
        xp = self._gpu.xp
        tiles = int(np.prod([-(-int(n) // SIDE) for n in self._shape]))
        lists = xp.empty(2 * tiles, np.int32), xp.zeros(3, np.int32), xp.zeros(tiles, np.int32)
        self._each("find_edges", *self._volume, self._edges, self._found, *lists)
        return lists

    def _each(self, name, *arguments):
        """Run a kernel of one thread a voxel."""
        kernel = self._gpu.kernel(KERNELS, name, self._defines)
        kernel((-(-self._owners.size // THREADS),), (THREADS,), arguments)
