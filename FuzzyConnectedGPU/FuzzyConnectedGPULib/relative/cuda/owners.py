"""Relative connectedness on CUDA: by contraction, or group by group where that has no room."""

from FuzzyVesselCoreLib.errors import NoRoomError

from ...solvers.cuda import exact
from . import by_contraction, by_groups

BYTES_A_VOXEL = 3  # more than for one object: owners, and what the nodes of all rounds hold


def propagate(problem, seed_owners, voxels, mask, report, gpu):
    """Levels and owners; see `by_contraction.propagate`."""
    volume = problem, seed_owners, voxels, mask, report, gpu
    if exact.suits(problem, gpu, BYTES_A_VOXEL * problem.voxels.size):
        try:
            return by_contraction.propagate(*volume)
        except NoRoomError:
            pass  # more nodes than were reckoned with
    return by_groups.propagate(*volume)
