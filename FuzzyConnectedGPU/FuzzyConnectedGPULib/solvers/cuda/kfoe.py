"""CUDA-kFOE as published: stored affinities, flag arrays, racy writes (both papers, 3.1)."""

from pathlib import Path

import numpy as np

from ...affinity.gaussian_affinity import TOP_LEVEL
from .active_tiles import VOXEL_NAMES

KERNELS = Path(__file__).with_name("kfoe.cu")
THREADS = 256
ROUNDS_A_LOOK = 8  # rounds between two looks at the flag that tells whether anything changed


def solve(problem, report, gpu):
    """Levels of the fuzzy scene with the error voxels of this algorithm.

    Parameters and results as in `active_tiles.solve`. Needs 24 bytes a voxel for the affinities.
    """
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    scene, rounds = propagate(problem, voxels, mask, report, gpu)
    return levels_of(scene, problem.voxels.shape, gpu), rounds


def propagate(problem, voxels, mask, report, gpu):
    """The scene on the card (flat, float32), from voxels and mask (or None) on the card."""
    xp, shape, size = gpu.xp, problem.voxels.shape, problem.voxels.size
    defines = (f"VOXEL={VOXEL_NAMES[problem.voxels.dtype.name]}",)
    store_affinities = gpu.kernel(KERNELS, "store_affinities", defines)
    track = gpu.kernel(KERNELS, "track", defines)
    sizes = tuple(np.int32(n) for n in shape)
    grid = (-(-size // THREADS),)
    mask = np.uintp(0) if mask is None else mask
    affinities = xp.empty(6 * size, np.float32)
    coefficients = gpu.put(problem.affinity.coefficients())
    cut = np.int32(problem.cut_level)
    store_affinities(grid, (THREADS,), (voxels, mask, affinities, *sizes, coefficients, cut))
    scene, now, changed = start(problem, gpu)
    following = xp.zeros(size, np.uint8)
    rounds = 0
    while True:
        report(reached_share(rounds, shape))
        changed.fill(0)
        for _ in range(ROUNDS_A_LOOK):
            following.fill(0)
            track(grid, (THREADS,), (affinities, scene, now, following, changed, *sizes))
            now, following = following, now
            rounds += 1
        if not gpu.get(changed)[0]:
            return scene, rounds


def start(problem, gpu):
    """The scene (float32, seeds 1), the flags C1 (uint8, seeds 1) and the changed flag (int32)."""
    xp = gpu.xp
    seeds = gpu.put(problem.seeds)
    scene = xp.zeros(problem.voxels.size, np.float32)
    scene[seeds] = 1
    now = xp.zeros(problem.voxels.size, np.uint8)
    now[seeds] = 1
    return scene, now, xp.zeros(1, np.int32)


def reached_share(rounds, shape):
    """A guess of the share done: a path is mostly a few times as long as the volume's sides."""
    return rounds / (rounds + sum(shape))


def levels_of(scene, shape, gpu):
    """Levels (numpy, uint16) of a scene on the card."""
    return np.rint(gpu.get(scene) * np.float32(TOP_LEVEL)).astype(np.uint16).reshape(shape)
