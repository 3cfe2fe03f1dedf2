"""CUDA-kFOE with stored affinities, as published (both papers, 3.1), and the papers' corrected one.

Both have flag arrays and racy writes.
"""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.launches import int32s, pointer, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ..affinity import TOP_LEVEL
from ..problem import Problem
from ..solvers import Solution
from ..solvers.contraction import affinity_record

KERNELS = Path(__file__).with_name("cuda_kfoe.cu")
CORRECTED = Path(__file__).with_name("cuda_kfoe_corrected.cu")
THREADS, BLOCK = 256, (16, 16, 1)
ROUNDS_PER_CHECK = 8  # between two looks at the flag that tells whether anything changed


def solve(problem: Problem, progress: Progress, gpu: CudaDevice) -> Solution:
    """Levels of the fuzzy scene with the error voxels of this algorithm.

    The kernels `store_affinities` and `track` are the papers' two: the affinities of all voxels,
    24 bytes a voxel, and then rounds that pass values on.
    """
    size, shape = problem.voxels.size, int32s(problem.voxels.shape)
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    started = perf_counter()
    defines, grid = (voxel_macro(problem.voxels.dtype),), (-(-size // THREADS),)
    affinities = gpu.xp.empty(6 * size, np.float32)
    stored = voxels, pointer(mask), affinities, *shape, affinity_record(problem, gpu)
    gpu.kernel(KERNELS, "store_affinities", defines)(grid, (THREADS,), stored)
    track = gpu.kernel(KERNELS, "track", defines)
    return run_rounds(
        problem, progress, gpu, started,
        lambda *arrays: track(grid, (THREADS,), (affinities, *arrays, *shape)),
    )  # fmt: skip


def solve_corrected(
    problem: Problem, progress: Progress, gpu: CudaDevice, *, corrections: int = 2,
    directions: int = 6,
) -> Solution:  # fmt: skip
    """Levels with few or no error voxels: fused kernel, look-up table, corrections on block edges.

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
    kernel = gpu.kernel(CORRECTED, "parallel_kfoe", (voxel_macro(problem.voxels.dtype),))
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


def run_rounds(
    problem: Problem, progress: Progress, gpu: CudaDevice, started: float, launch: Callable
) -> Solution:
    """Levels (numpy) after rounds until no voxel changes, with the papers' flag arrays C1 and C2.

    ``launch(values, now, following, changed)`` runs one round: the values (float32, flat, seeds 1),
    C1 and C2 (uint8, flat) and the flag (int32) that tells whether anything changed.
    """
    xp, size = gpu.xp, problem.voxels.size
    seeds = gpu.put(problem.seeds)
    values = xp.zeros(size, np.float32)
    values[seeds] = 1
    now, following = xp.zeros(size, np.uint8), xp.zeros(size, np.uint8)
    now[seeds] = 1
    changed = xp.ones(1, np.int32)
    typical = sum(problem.voxels.shape)  # a path is usually a few times as long as the sides
    rounds = 0
    while gpu.get(changed)[0]:
        progress.advance(rounds / (rounds + typical))
        changed.fill(0)
        for _ in range(ROUNDS_PER_CHECK):
            following.fill(0)
            launch(values, now, following, changed)
            now, following = following, now
            rounds += 1
    seconds = perf_counter() - started
    levels = np.rint(gpu.get(values) * np.float32(TOP_LEVEL)).astype(np.uint16)
    return Solution(levels.reshape(problem.voxels.shape), rounds, gpu.peak_bytes, seconds)
