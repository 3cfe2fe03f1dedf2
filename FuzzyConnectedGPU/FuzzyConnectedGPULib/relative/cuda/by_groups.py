"""Relative connectedness on CUDA, one group after the other: where contraction has no room."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...solvers.cuda import active_tiles

KERNELS = Path(__file__).with_name("group_levels.cu")
THREADS = 256


def propagate(problem, seed_owners, voxels, mask, report, gpu):
    """Levels and owners, as of `by_contraction.propagate`, bit for bit."""
    xp, shape, size = gpu.xp, problem.voxels.shape, np.uint32(problem.voxels.size)
    best, other = xp.zeros(shape, np.uint16), xp.zeros(shape, np.uint16)
    owners = xp.zeros(shape, np.uint8)

    def run(name, threads, *arguments):
        gpu.kernel(KERNELS, name)((-(-threads // THREADS),), (THREADS,), arguments)

    groups = np.unique(seed_owners)
    for n, group in enumerate(groups):
        alone = replace(problem, seeds=problem.seeds[seed_owners == group])
        levels, _ = active_tiles.propagate(
            alone, voxels, mask, lambda share, n=n: report((n + share) / len(groups)), gpu
        )
        run("join_group", levels.size, levels, np.int32(group), size, best, other, owners)
        levels = None  # its memory is the next one's
    run("find_disputed", best.size, best, other, size, owners)
    own_points(gpu.put(problem.seeds), gpu.put(seed_owners), owners, gpu)
    return best, owners


def own_points(points, groups, owners, gpu):
    """Let points, by flat indices on the card, belong to their groups."""
    kernel = gpu.kernel(KERNELS, "own_points")
    kernel(
        (-(-points.size // THREADS),), (THREADS,), (points, groups, np.uint32(points.size), owners)
    )
