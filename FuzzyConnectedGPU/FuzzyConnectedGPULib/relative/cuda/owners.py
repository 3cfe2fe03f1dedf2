"""Relative connectedness on CUDA: by contraction, or group by group where memory is short."""

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ...solvers.cuda import exact
from . import by_contraction, by_groups

BYTES_PER_VOXEL = 3  # more than for one object: owners, and the claims of all rounds' nodes


def propagate(
    problem: Problem,
    seed_owners: np.ndarray,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> tuple[DeviceArray, DeviceArray]:
    """Levels and owners; see `by_contraction.propagate`."""
    volume = problem, seed_owners, voxels, mask, progress, gpu
    if exact.suits(problem, gpu, BYTES_PER_VOXEL * problem.voxels.size):
        try:
            return by_contraction.propagate(*volume)
        except DeviceMemoryError:
            pass  # more nodes than estimated
    return by_groups.propagate(*volume)
