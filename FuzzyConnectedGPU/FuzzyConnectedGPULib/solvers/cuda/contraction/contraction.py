"""The exact CUDA solver for whole scenes: contraction (Boruvka 1926), first within tiles.

Every voxel hooks onto the neighbour along its best edge; connected voxels are contracted to one
vertex, and so on until only the seeds' component remains. The number of rounds grows with the
logarithm of the volume's size, however long and tortuous the paths are. With a cut only the tiles
that a path from the seeds may reach are contracted (`reached_tiles`).
"""

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.memory_soon import MemorySoon

from ....problem import Problem
from ...interface import Solution
from . import node_rounds
from .contracted_tiles import MAX_VOXELS, THREADS, ContractedTiles, come_in_slabs

__all__ = ["MAX_VOXELS", "propagate", "solve"]


def solve(
    problem: Problem, progress: Progress, gpu: CudaDevice, values: MemorySoon | None = None
) -> Solution:
    """Levels of the fuzzy scene; see `interface.CudaSolver`.

    The rounds are those among the nodes that the tiles leave. Memory for values begins to be made
    when all voxels have been sent to the device.
    """
    progress.advance(0.0)
    tiles = ContractedTiles(problem, *_inputs(problem, gpu), gpu)
    levels, rounds = connect(tiles, progress, values)
    return Solution(levels, rounds, gpu.peak_bytes)


def _inputs(problem: Problem, gpu: CudaDevice) -> tuple[DeviceArray | None, DeviceArray | None]:
    """Voxels and mask, to which the tiles have the only reference: they free their memory."""
    mask = None if problem.mask is None else gpu.put(problem.mask)
    return None if come_in_slabs(problem) else gpu.put(problem.voxels), mask


def propagate(
    problem: Problem,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> tuple[DeviceArray, int]:
    """Levels on the device, from the problem's voxels and mask (or None) on the device."""
    return connect(ContractedTiles(problem, voxels, mask, gpu), progress)


def connect(
    tiles: ContractedTiles, progress: Progress, values: MemorySoon | None = None
) -> tuple[DeviceArray, int]:
    """Levels on the device and rounds, from a volume whose tiles are not contracted yet."""
    tiles.contract(progress, None if values is None else values.begin)
    connected, rounds = node_rounds.connect_nodes(tiles, progress)
    kernels = node_rounds.KERNELS
    nodes = tiles.node_map(kernels), tiles.levels, connected
    tiles.launch(kernels, "lower_voxels", THREADS, *nodes)
    return tiles.levels, int(tiles.gpu.get(rounds)[0])
