"""Corrected CUDA-kFOE: fused kernel, look-up table, corrections on block edges (both papers)."""

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.launches import int32s, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ..problem import Problem
from ..solvers import Solution
from ..solvers.contraction import affinity_record
from .cuda_kfoe import run_rounds

KERNELS = Path(__file__).with_name("cuda_kfoe_corrected.cu")
BLOCK = (16, 16, 1)


def solve(
    problem: Problem,
    progress: Progress,
    gpu: CudaDevice,
    *,
    corrections: int = 2,
    directions: int = 6,
) -> Solution:
    """Levels of the fuzzy scene, with few or no error voxels (kernel `parallel_kfoe`).

    Parameters
    ----------
    corrections : int
        Correction iterations in each round: 2 in the experiments of both papers, 3 in the Chinese
        paper's theory; 0 leaves only the fused kernel.
    directions : int
        Number of the 6 neighbours that are corrected, 0..6 (English paper, table 2), in the order
        -I, +I, -J, +J, -K, +K.

    Raises
    ------
    InputError
        If `corrections` is negative or `directions` not within 0..6.
    """
    if corrections < 0:
        raise InputError(f"corrections is {corrections}, but must be 0 or more.")
    if not 0 <= directions <= 6:
        raise InputError(f"directions is {directions}, but must be within 0..6.")
    nk, nj, ni = problem.voxels.shape
    kernel = gpu.kernel(KERNELS, "parallel_kfoe", (voxel_macro(problem.voxels.dtype),))
    grid = (-(-ni // BLOCK[0]), -(-nj // BLOCK[1]), nk)
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    started = perf_counter()
    sums, differences, lowest_sum = problem.tables  # the papers' look-up table, see `Problem`
    entries = (gpu.put(part) if part.size else None for part in (sums, differences))
    tables = gpu.record(*entries, np.int32(lowest_sum))
    constants = affinity_record(problem, gpu), tables, *int32s((corrections, directions))

    def launch(*arrays: Any) -> None:
        scene = gpu.record(voxels, mask, *arrays, *int32s((nk, nj, ni)))
        kernel(grid, BLOCK, (scene, *constants))

    return run_rounds(problem, progress, gpu, started, launch)
