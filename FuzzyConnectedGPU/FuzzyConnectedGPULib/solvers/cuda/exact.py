"""The default on CUDA: contraction where the card is made for it, else active tiles."""

from FuzzyVesselCoreLib.errors import NoRoomError

from . import active_tiles
from .contraction import contraction

BYTES_A_VOXEL = 10  # contraction's levels, nodes and edges on noise, with a reserve
# Where a card cannot run several blocks together, one block does all rounds of nodes in one launch,
# which must stay short: more voxels are for active tiles.
MOST_FOR_ONE_BLOCK = 1 << 22


def solve(problem, report, gpu):
    """Levels of the fuzzy scene and rounds; parameters as in `active_tiles.solve`."""
    mask_bytes = 0 if problem.mask is None else problem.mask.nbytes
    if suits(problem, gpu, problem.voxels.nbytes + mask_bytes):
        try:
            return contraction.solve(problem, report, gpu)
        except NoRoomError:
            pass  # more nodes than were reckoned with; active tiles need room for the levels only
    return active_tiles.solve(problem, report, gpu)


def propagate(problem, voxels, mask, report, gpu):
    """Levels on the card, from the problem's voxels and mask (or None) on the card."""
    if suits(problem, gpu):
        try:
            return contraction.propagate(problem, voxels, mask, report, gpu)
        except NoRoomError:
            pass  # more nodes than were reckoned with; active tiles need room for the levels only
    return active_tiles.propagate(problem, voxels, mask, report, gpu)


def suits(problem, gpu, more=0):
    """Whether contraction, and so many bytes more, fit beside what is on the card already, and
    each of its launches is short."""
    voxel_count = problem.voxels.size
    most = contraction.MOST_VOXELS if gpu.runs_blocks_together else MOST_FOR_ONE_BLOCK
    return voxel_count <= most and BYTES_A_VOXEL * voxel_count + more <= gpu.free_memory()
