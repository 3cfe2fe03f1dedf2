"""Corrected CUDA-kFOE: fused kernel, look-up table, corrections on block edges (both papers)."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .active_tiles import VOXEL_NAMES
from .kfoe import levels_of, reached_share, start

KERNELS = Path(__file__).with_name("kfoe_corrected.cu")
BLOCK = (16, 16, 1)
ROUNDS_A_LOOK = 8


def solve(problem, report, gpu, *, corrections=2, directions=6):
    """Levels of the fuzzy scene, with few or no error voxels.

    Parameters
    ----------
    problem, report, gpu
        As in `active_tiles.solve`, and so are the results.
    corrections : int
        Correction iterations in each round: 2 in the experiments of both papers, 3 in the Chinese
        paper's theory; 0 leaves only the fused kernel.
    directions : int
        To how many of the 6 neighbours the corrections lead, 0..6 (English paper, table 2), in the
        order -I, +I, -J, +J, -K, +K.

    Raises
    ------
    InputError
        If `corrections` is negative or `directions` not within 0..6.
    """
    if corrections < 0:
        raise InputError(f"corrections is {corrections}, but must be 0 or more.")
    if not 0 <= directions <= 6:
        raise InputError(f"directions is {directions}, but must be within 0..6.")
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    scene, rounds = propagate(problem, voxels, mask, report, gpu, corrections, directions)
    return levels_of(scene, problem.voxels.shape, gpu), rounds


def propagate(problem, voxels, mask, report, gpu, corrections=2, directions=6):
    """The scene on the card (flat, float32), from voxels and mask (or None) on the card."""
    shape = problem.voxels.shape
    run = gpu.kernel(KERNELS, "parallel_kfoe", (f"VOXEL={VOXEL_NAMES[problem.voxels.dtype.name]}",))
    grid = (-(-shape[2] // BLOCK[0]), -(-shape[1] // BLOCK[1]), shape[0])
    sum_table, difference_table, lowest_sum = problem.tables
    has_tables = sum_table.size > 0
    no_array = np.uintp(0)
    mask = no_array if mask is None else mask
    fixed = (
        *(np.int32(n) for n in shape),
        gpu.put(problem.affinity.coefficients()),
        np.int32(problem.cut_level),
        gpu.put(sum_table) if has_tables else no_array,
        gpu.put(difference_table) if has_tables else no_array,
        np.int32(lowest_sum),
        np.int32(corrections),
        np.int32(directions),
    )
    scene, now, changed = start(problem, gpu)
    following = gpu.xp.zeros_like(now)
    rounds = 0
    while True:
        report(reached_share(rounds, shape))
        changed.fill(0)
        for _ in range(ROUNDS_A_LOOK):
            following.fill(0)
            run(grid, BLOCK, (voxels, mask, scene, now, following, changed, *fixed))
            now, following = following, now
            rounds += 1
        if not gpu.get(changed)[0]:
            return scene, rounds
