"""The default on CUDA: contraction where the card has room for it, else active tiles."""

from FuzzyVesselCommon.errors import DeviceError

from . import active_tiles, contraction

BYTES_A_VOXEL = 10  # contraction's levels, nodes and edges on noise, with a reserve


def solve(problem, report, gpu):
    """Levels of the fuzzy scene and rounds; parameters as in `active_tiles.solve`."""
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    report(0.0)
    levels, rounds = propagate(problem, voxels, mask, report, gpu)
    return gpu.get(levels), rounds


def propagate(problem, voxels, mask, report, gpu):
    """Levels on the card, from the problem's voxels and mask (or None) on the card."""
    if has_room(problem, gpu):
        try:
            return contraction.propagate(problem, voxels, mask, report, gpu)
        except DeviceError:
            pass  # more nodes than were reckoned with; active tiles need room for the levels only
    return active_tiles.propagate(problem, voxels, mask, report, gpu)


def has_room(problem, gpu):
    """Whether contraction fits beside the voxels that are on the card already."""
    voxel_count = problem.voxels.size
    return (
        voxel_count <= contraction.MOST_VOXELS and BYTES_A_VOXEL * voxel_count <= gpu.free_memory()
    )
