"""The default on CUDA: contraction where the card has room for it, else active tiles."""

from FuzzyVesselCommon.errors import NoRoomError

from . import active_tiles, contraction

BYTES_A_VOXEL = 10  # contraction's levels, nodes and edges on noise, with a reserve


def solve(problem, report, gpu):
    """Levels of the fuzzy scene and rounds; parameters as in `active_tiles.solve`."""
    mask_bytes = 0 if problem.mask is None else problem.mask.nbytes
    if has_room(problem, gpu, problem.voxels.nbytes + mask_bytes):
        try:
            return contraction.solve(problem, report, gpu)
        except NoRoomError:
            pass  # more nodes than were reckoned with; active tiles need room for the levels only
    return active_tiles.solve(problem, report, gpu)


def propagate(problem, voxels, mask, report, gpu):
    """Levels on the card, from the problem's voxels and mask (or None) on the card."""
    if has_room(problem, gpu):
        try:
            return contraction.propagate(problem, voxels, mask, report, gpu)
        except NoRoomError:
            pass  # more nodes than were reckoned with; active tiles need room for the levels only
    return active_tiles.propagate(problem, voxels, mask, report, gpu)


def has_room(problem, gpu, more=0):
    """Whether contraction, and so many bytes more, fit beside what is on the card already."""
    voxel_count = problem.voxels.size
    return (
        voxel_count <= contraction.MOST_VOXELS
        and BYTES_A_VOXEL * voxel_count + more <= gpu.free_memory()
    )
