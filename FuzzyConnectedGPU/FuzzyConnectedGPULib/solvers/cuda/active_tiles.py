"""The exact CUDA solver: tiles that may still change are visited until none is left."""

from pathlib import Path
from time import perf_counter

import numpy as np

KERNELS = Path(__file__).with_name("active_tiles.cu")
VOXEL_NAMES = {
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "float32": "float",
}
SIDE, THREADS = 8, 64
BLOCKS = 4096  # more than any card holds at a time; each takes further tiles of a long list
# Rounds are launched in batches: the host looks at the progress between two batches.
SHORTEST_BATCH, LONGEST_BATCH = 0.01, 0.04  # seconds


def solve(problem, report, gpu):
    """Levels of the fuzzy scene.

    Parameters
    ----------
    problem : Problem
    report : callable
        Called with the share of the tiles that were reached; raises to cancel.
    gpu : CudaDevice

    Returns
    -------
    levels : ndarray, shape (K, J, I), uint16
    rounds : int
        Kernel launches, in batches, until no tile was active.
    """
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    report(0.0)
    levels, rounds = propagate(problem, voxels, mask, report, gpu)
    return gpu.get(levels), rounds


def propagate(problem, voxels, mask, report, gpu):
    """Levels on the card, from the problem's voxels and mask (or None) on the card."""
    xp, shape = gpu.xp, problem.voxels.shape
    defines = (f"VOXEL={VOXEL_NAMES[problem.voxels.dtype.name]}",)
    visit = gpu.kernel(KERNELS, "visit_active_tiles", defines)
    levels = xp.zeros(shape, np.uint16)
    first, tile_count = seed_tiles(problem.seeds, shape)
    lists, listed = xp.empty(2 * tile_count, np.int32), xp.zeros(tile_count, np.int32)
    counts = xp.zeros(4, np.int32)
    seeds = gpu.put(problem.seeds), np.int32(problem.seeds.size), levels
    tiles = gpu.put(first), np.int32(first.size), lists, counts, listed
    begin = gpu.kernel(KERNELS, "begin", defines)
    begin((-(-problem.seeds.size // THREADS),), (THREADS,), (*seeds, *tiles))
    fixed = (
        voxels,
        np.uintp(0) if mask is None else mask,
        levels,
        *(np.int32(n) for n in shape),
        gpu.put(problem.affinity.coefficients()),
        np.int32(problem.cut_level),
        lists,
        counts,
        listed,
    )
    blocks = (min(tile_count, BLOCKS),)
    rounds, batch = 0, 4
    while True:
        start = perf_counter()
        for _ in range(batch):
            visit(blocks, (THREADS,), (*fixed, np.int32(rounds)))
            rounds += 1
        now = gpu.get(counts)
        if now[rounds % 3] == 0:
            return levels, rounds
        report(min(now[3] / tile_count, 0.99))
        seconds = perf_counter() - start
        if seconds < SHORTEST_BATCH:
            batch *= 2
        elif seconds > LONGEST_BATCH:
            batch = max(batch // 2, 1)


def seed_tiles(seeds, shape):
    """Tiles that hold a seed (int32, each once), and the number of all tiles."""
    tiles = [-(-n // SIDE) for n in shape]
    k, j, i = (coordinate // SIDE for coordinate in np.unravel_index(seeds, shape))
    return np.unique((k * tiles[1] + j) * tiles[2] + i).astype(np.int32), int(np.prod(tiles))
