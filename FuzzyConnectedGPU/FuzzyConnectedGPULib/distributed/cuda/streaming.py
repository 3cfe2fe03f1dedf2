"""A volume that is larger than the card: its blocks are solved one after the other, twice.

The two passes of `distributed`, with everything but the card's block in this process's memory. So
all blocks are joined at once, and no group of blocks is.
"""

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.memory_soon import MemorySoon

from ...problem import Problem
from ...solvers.interface import Solution
from ..partition import Partition
from .two_passes import TwoPasses

# Contraction's, face voxels' and the first pass's, and levels that are written while the next block
# is solved; besides what is read, of which two blocks are on the card.
BYTES_PER_VOXEL = 16
MAX_BLOCK = 1 << 28  # voxels; of noise more would have too many nodes to be numbered
MIN_BLOCK = 1 << 12  # voxels; smaller ones are not tried
SLAB_BONUS = 1.5  # so many more face voxels are worth that a block lies in one piece of memory


def solve(
    problem: Problem, progress: Progress, gpu: CudaDevice, values: MemorySoon | None = None
) -> Solution:
    """Levels of the fuzzy scene; see `interface.CudaSolver`. The rounds are the blocks.

    With memory for values these are written instead of levels, as the blocks come from the card.

    Raises
    ------
    DeviceMemoryError
        Not even small blocks fit.
    """
    mask_size = 0 if problem.mask is None else 1
    needed = BYTES_PER_VOXEL + 2 * (problem.voxels.itemsize + mask_size)
    limit = min(gpu.free_memory() // needed, MAX_BLOCK, problem.voxels.size // 2)
    while True:
        if limit < MIN_BLOCK:
            raise DeviceMemoryError(
                f"{gpu.name} would work on blocks of {limit} voxels only, which would take too "
                "long. Close other programs that use the GPU, or use device 'cpu'."
            )
        partition = Partition(problem.voxels.shape, block_shape(problem, limit))
        try:
            with TwoPasses(problem, partition, gpu) as passes:
                return passes.solve(progress, values)
        except DeviceMemoryError:  # more nodes than estimated
            limit //= 2


def block_shape(problem: Problem, limit: int) -> tuple[int, int, int]:
    """Voxels of a block along K, J, I: slabs, or where these have many faces about cubes."""
    shape = nk, nj, ni = problem.voxels.shape
    side = max(int(limit ** (1 / 3) + 1e-6), 1)
    cube = _balanced(nk, side), _balanced(nj, side), _balanced(ni, side)
    if limit < nj * ni:
        return cube
    slab = _balanced(nk, limit // (nj * ni)), nj, ni
    faces = [_face_count(Partition(shape, block)) for block in (slab, cube)]
    return slab if faces[0] <= SLAB_BONUS * faces[1] else cube


def _balanced(length: int, most: int) -> int:
    """The length of equal parts, none longer than `most`."""
    return -(-length // -(-length // most))


def _face_count(partition: Partition) -> int:
    return sum(partition.face_count(partition.box(group)) for group in partition.groups(0))
