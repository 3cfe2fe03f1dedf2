"""Corrected CUDA-kFOE: fused kernel, look-up table, corrections on block edges (both papers)."""

from functools import partial
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ..interface import Solution
from .affinity_struct import affinity_struct
from .kfoe_rounds import run_rounds, solve_by

KERNELS = Path(__file__).with_name("kfoe_corrected.cu")
BLOCK = (16, 16, 1)


def solve(
    problem: Problem,
    progress: Progress,
    gpu: CudaDevice,
    *,
    corrections: int = 2,
    directions: int = 6,
) -> Solution:
    """Levels of the fuzzy scene, with few or no error voxels; see `interface.CudaSolver`.

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
    corrected = partial(propagate, corrections=corrections, directions=directions)
    return solve_by(corrected, problem, progress, gpu)


def propagate(
    problem: Problem,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
    corrections: int = 2,
    directions: int = 6,
) -> tuple[DeviceArray, int]:
    """The values on the device (flat, float32), from voxels and mask (or None) on the device."""
    shape = problem.voxels.shape
    kernel = gpu.kernel(KERNELS, "parallel_kfoe", (voxel_macro(problem.voxels.dtype),))
    grid = (-(-shape[2] // BLOCK[0]), -(-shape[1] // BLOCK[1]), shape[0])
    sum_table, difference_table, lowest_sum = problem.tables
    has_tables = sum_table.size > 0
    constants = (
        affinity_struct(gpu, KERNELS, problem.affinity, problem.cut_level),
        gpu.struct(
            KERNELS,
            "Tables",
            sums=gpu.put(sum_table) if has_tables else None,
            differences=gpu.put(difference_table) if has_tables else None,
            lowest_sum=lowest_sum,
        ),
        gpu.struct(KERNELS, "Corrections", iterations=corrections, directions=directions),
    )
    volume = dict(zip(("nk", "nj", "ni"), shape), voxels=voxels, mask=mask)

    def launch(
        values: DeviceArray, now: DeviceArray, after: DeviceArray, changed: DeviceArray
    ) -> None:
        flags = dict(values=values, now=now, next=after, changed=changed)
        kernel(grid, BLOCK, (gpu.struct(KERNELS, "Scene", **volume, **flags), *constants))

    return run_rounds(problem, progress, gpu, launch)
