"""CUDA-kFOE as published: stored affinities, flag arrays, racy writes (both papers, 3.1)."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import int32s, pointer, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ..interface import Solution
from .affinity_struct import affinity_struct
from .kfoe_rounds import run_rounds, solve_by

KERNELS = Path(__file__).with_name("kfoe.cu")
THREADS = 256


def solve(problem: Problem, progress: Progress, gpu: CudaDevice) -> Solution:
    """Levels of the fuzzy scene with the error voxels of this algorithm.

    See `interface.CudaSolver`. Needs 24 bytes per voxel for the affinities.
    """
    return solve_by(propagate, problem, progress, gpu)


def propagate(
    problem: Problem,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> tuple[DeviceArray, int]:
    """The values on the device (flat, float32), from voxels and mask (or None) on the device."""
    size, shape = problem.voxels.size, int32s(problem.voxels.shape)
    defines = (voxel_macro(problem.voxels.dtype),)
    store_affinities = gpu.kernel(KERNELS, "store_affinities", defines)
    track = gpu.kernel(KERNELS, "track", defines)
    grid = (-(-size // THREADS),)
    affinities = gpu.xp.empty(6 * size, np.float32)
    affinity = affinity_struct(gpu, KERNELS, problem.affinity, problem.cut_level)
    store_affinities(grid, (THREADS,), (voxels, pointer(mask), affinities, *shape, affinity))

    def launch(*arrays: DeviceArray) -> None:
        track(grid, (THREADS,), (affinities, *arrays, *shape))

    return run_rounds(problem, progress, gpu, launch)
