"""Relative connectedness on CUDA: contraction, once for all groups."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ...solvers.cuda.contraction.contracted_tiles import ContractedTiles
from ...solvers.cuda.contraction.node_rounds import ROUND_THREADS, FirstRound, Rounds
from .by_groups import own_points

KERNELS = Path(__file__).with_name("owner_rounds.cu")
THREADS = 256


def propagate(
    problem: Problem,
    seed_owners: np.ndarray,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> tuple[DeviceArray, DeviceArray]:
    """Levels of all groups together, and the owner of each voxel.

    Parameters
    ----------
    problem : Problem
    seed_owners : ndarray, uint8
        As in `owners_by_blocks.solve`.
    voxels, mask : device arrays
        The problem's; the mask may be None.
    progress : Progress
    gpu : CudaDevice

    Returns
    -------
    levels, owners : device arrays, shape (K, J, I), uint16 and uint8
        As of `owners_by_blocks.solve`, bit for bit.

    Raises
    ------
    DeviceMemoryError
        The volume is too large for the device's memory, or to be numbered.
    """
    tiles = _Tiles(problem, voxels, mask, gpu)
    tiles.contract(progress)
    owners = gpu.xp.zeros(problem.voxels.shape, np.uint8)
    groups = gpu.put(seed_owners)
    if tiles.node_count:
        nodes = _node_owners(tiles, groups, progress)
        voxels_of_nodes = tiles.node_map(KERNELS), tiles.levels, owners, nodes
        tiles.launch(KERNELS, "own_voxels", THREADS, *voxels_of_nodes)
    own_points(tiles.seeds, groups, owners, gpu)
    return tiles.levels, owners


class _Tiles(ContractedTiles):
    """The tiles of one object, with the kernels of this file."""

    def kernel(self, path: Path, name: str) -> Any:
        """A kernel for these types of voxels and nodes."""
        if path is not KERNELS:
            return super().kernel(path, name)
        node = "u8" if self.node_type is np.uint8 else "u16"
        return self.gpu.kernel(path, name, (f"NODE={node}",))

    def for_points(self, name: str, args: tuple) -> None:
        """Run a kernel with one thread per point."""
        self.kernel(KERNELS, name)((-(-self.seeds.size // THREADS),), (THREADS,), args)

    def launch_cooperative(self, name: str, threads: int, *args: Any) -> None:
        """Launch a kernel with grid sync."""
        kernel, blocks = self.kernel(KERNELS, name), -(-threads // ROUND_THREADS)
        self.gpu.launch_cooperative(kernel, blocks, ROUND_THREADS, args)


class _FirstRound(FirstRound):
    """The first round, in which each point is a surviving root."""

    def keep_roots(self, tiles: ContractedTiles, parent: DeviceArray) -> None:
        """Let the nodes of the points survive."""
        points = tiles.seeds, np.uint32(tiles.seeds.size)
        nodes = tiles.grid(KERNELS), tiles.node_map(KERNELS)
        assert isinstance(tiles, _Tiles)
        tiles.for_points("keep_points", (*points, *nodes, parent))


def _node_owners(tiles: _Tiles, groups: DeviceArray, progress: Progress) -> KernelStruct:
    """What reaches the nodes of the tiles: `FirstNodes` of owner_rounds.cu."""
    first = _FirstRound(tiles)
    progress.advance(0.7)
    first.hook(tiles)
    first.list_edges(tiles)
    progress.advance(0.8)
    xp, gpu = tiles.xp, tiles.gpu
    rounds = Rounds(gpu, KERNELS, first, tiles.counts[5:])
    rounds.take_lists(first)
    tiles.launch_cooperative("hook_rounds", rounds.threads, rounds.lists, rounds.nodes)
    rounds.free_edges()
    del first.lists, first.best  # frees their memory, too
    claims = xp.zeros(rounds.size, np.uint64)
    points = tiles.seeds, groups, np.uint32(tiles.seeds.size)
    place = tiles.grid(KERNELS), tiles.node_map(KERNELS)
    tiles.for_points("begin_claims", (*points, *place, first.next, claims))
    levels = dict(best_levels=first.weights, other_levels=xp.empty(first.count, np.uint16))
    levels.update(owners=xp.empty(first.count, np.uint8))
    nodes = gpu.struct(KERNELS, "FirstNodes", count=first.count, next=first.next, **levels)
    arrived = xp.zeros(1, np.uint32)
    tiles.launch_cooperative("claim_rounds", first.count, rounds.nodes, arrived, claims, nodes)
    return nodes
