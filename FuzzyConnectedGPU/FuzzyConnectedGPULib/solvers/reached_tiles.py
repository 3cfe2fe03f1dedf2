"""Which tiles the seeds may reach above the cut, found without any affinity.

An edge above the cut has both voxels near the affinity's mean. Where such voxels hang together
with no seed, every level is 0, and contraction leaves out the tiles that hold nothing else.
"""

from pathlib import Path

import numpy as np

from ..affinity import TOP_LEVEL
from .active_tiles import VOXEL_NAMES

KERNELS = Path(__file__).with_name("kernels") / "reached_tiles.cu"
THREADS = 256
TILES_A_BLOCK, WORDS_A_TILE, RUNS_A_TILE = THREADS // 32, 32, 512  # as in reached_tiles.cu
# What float32 adds to the affinity's exponent, to its deviation and to the mean: more than enough
EXPONENT_MARGIN, SHARE_MARGIN, MEAN_MARGIN = 2e-6, 1e-3, 1e-6


def reached_tiles(problem, voxels, mask, seeds, tile_count, gpu):
    """Numbers of the tiles that a path from a seed may reach.

    Parameters
    ----------
    problem : Problem
    voxels, mask, seeds : arrays on the card
        The mask may be a null pointer.
    tile_count : int
        Tiles as in tile_place.cuh.
    gpu : CudaDevice

    Returns
    -------
    array, uint32, or None
        None: any tile, as far as can be said without affinities.
    """
    interval = open_interval(problem)
    if interval is None or tile_count * RUNS_A_TILE >= 2**32:
        return None
    xp, tiles = gpu.xp, np.uint32(tile_count)
    shape = tuple(np.int32(n) for n in problem.voxels.shape)
    rows = xp.empty(tile_count * WORDS_A_TILE, np.uint32)
    parent = xp.empty(tile_count * RUNS_A_TILE + 1, np.uint32)
    listed, count = xp.empty(tile_count, np.uint32), xp.zeros(1, np.uint32)

    defines = (f"VOXEL={VOXEL_NAMES[problem.voxels.dtype.name]}",)

    def run(name, threads, *arguments):
        gpu.kernel(KERNELS, name, defines)((-(-threads // THREADS),), (THREADS,), arguments)

    threads = 32 * tile_count
    run("join_runs", threads, voxels, mask, *shape, *interval, tiles, rows, parent)
    run("join_tiles", threads, rows, *shape, tiles, parent)
    run("join_seeds", seeds.size, seeds, np.uint32(seeds.size), rows, *shape[1:], tiles, parent)
    run("list_reached", threads, rows, parent, tiles, listed, count)
    return listed[: int(gpu.get(count)[0])]


def open_interval(problem):
    """Lowest and highest intensity (float32) of a voxel that may have an edge above the cut.

    With the deviations a and b of two voxels from the mean, and the factors s and d of the
    affinity's two Gaussians, the exponent is ``(s * (a + b) / 2)**2 + (d * (a - b))**2``, of which
    no b makes less than ``a**2 / (1 / s**2 + 1 / (4 * d**2))``.

    Returns
    -------
    (float32, float32) or None
        None where there is no cut, or no bound.
    """
    mean, s, d, _, _, weighted, bright, dark = problem.affinity.coefficients().astype(float)
    if problem.cut_level == 0 or weighted:
        return None
    exponent = np.log(TOP_LEVEL / (problem.cut_level - 0.5)) + EXPONENT_MARGIN
    reach = np.sqrt(exponent * (s**-2 + d**-2 / 4)) * (1 + SHARE_MARGIN) + MEAN_MARGIN * abs(mean)
    lowest = -np.inf if dark else mean - reach
    highest = np.inf if bright else mean + reach
    if problem.voxels.dtype.kind != "f":
        limits = np.iinfo(problem.voxels.dtype)
        if lowest <= limits.min and highest >= limits.max:
            return None
    return np.float32(lowest), np.float32(highest)
