"""The default on CUDA: contraction where the device suits it, else over blocks, or active tiles."""

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu import early_compilation
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.memory_soon import MemorySoon

from ...problem import Problem
from ..interface import Solution
from . import active_tiles
from .contraction import contracted_tiles, contraction

BYTES_PER_VOXEL = 8  # contraction's levels, nodes and edges on noise (6.7), with a reserve
# Without cooperative launches one block does all rounds of nodes in one launch, which must stay
# short: larger volumes are left to active tiles.
MAX_FOR_ONE_BLOCK = 1 << 22


def compile_early(problem: Problem, ordinal: int) -> None:
    """Begin to compile what contraction needs, before the device is opened."""
    longest, *others = contracted_tiles.first_files(problem)
    early_compilation.compile_early(ordinal, others, drafts=[longest])


def solve(
    problem: Problem, progress: Progress, gpu: CudaDevice, values: MemorySoon | None = None
) -> Solution:
    """Levels of the fuzzy scene, or its values; see `interface.CudaSolver`."""
    if suits(problem, gpu, input_bytes(problem)):
        try:
            return contraction.solve(problem, progress, gpu, values)
        except DeviceMemoryError:
            pass  # more nodes than estimated
    if values is not None:
        values.begin()
    if gpu.has_cooperative_launch:
        try:
            return _over_blocks(problem, progress, gpu, values)
        except DeviceMemoryError:
            pass  # too little for blocks; active tiles need the least memory
        except ModuleNotFoundError as error:
            if error.name != "numba":  # which joins the blocks
                raise
    return active_tiles.solve(problem, progress, gpu)


def _over_blocks(
    problem: Problem, progress: Progress, gpu: CudaDevice, values: MemorySoon | None
) -> Solution:
    from ...distributed.cuda import streaming

    return streaming.solve(problem, progress, gpu, values)


def solve_at_once(problem: Problem, progress: Progress, gpu: CudaDevice) -> Solution:
    """As `solve`, with the whole volume on the device."""
    if suits(problem, gpu, input_bytes(problem)):
        try:
            return contraction.solve(problem, progress, gpu)
        except DeviceMemoryError:
            pass  # more nodes than estimated; active tiles need memory for the levels only
    return active_tiles.solve(problem, progress, gpu)


def input_bytes(problem: Problem) -> int:
    """Of voxels and mask; of slabs there are three and what lies between them."""
    if contracted_tiles.come_in_slabs(problem):
        return 4 * contracted_tiles.SLAB_BYTES
    return problem.voxels.nbytes + (0 if problem.mask is None else problem.mask.nbytes)


def propagate(
    problem: Problem,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> tuple[DeviceArray, int]:
    """Levels on the device, from the problem's voxels and mask (or None) on the device."""
    if suits(problem, gpu):
        try:
            return contraction.propagate(problem, voxels, mask, progress, gpu)
        except DeviceMemoryError:
            pass  # as in `solve`
    return active_tiles.propagate(problem, voxels, mask, progress, gpu)


def suits(problem: Problem, gpu: CudaDevice, input_bytes: int = 0) -> bool:
    """Whether contraction fits into the free memory, with inputs of so many bytes, and each of its
    launches is short.
    """
    voxel_count = problem.voxels.size
    limit = contraction.MAX_VOXELS if gpu.has_cooperative_launch else MAX_FOR_ONE_BLOCK
    needed = BYTES_PER_VOXEL * voxel_count + input_bytes
    return voxel_count <= limit and needed <= gpu.free_memory()
