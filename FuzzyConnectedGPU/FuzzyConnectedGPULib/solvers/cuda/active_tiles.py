"""The exact CUDA solver with the least memory: tiles that may still rise are visited."""

from pathlib import Path
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import pointer, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ..interface import Solution
from .affinity_struct import affinity_struct

KERNELS = Path(__file__).with_name("active_tiles.cu")
SIDE, THREADS = 8, 64
MAX_BLOCKS = 4096  # more than any GPU holds at a time; each visits further tiles of a long list
# Rounds are launched in batches; the host reports the progress between two batches.
MIN_BATCH_SECONDS, MAX_BATCH_SECONDS = 0.01, 0.04


def solve(problem: Problem, progress: Progress, gpu: CudaDevice) -> Solution:
    """Levels of the fuzzy scene; see `interface.CudaSolver`.

    The rounds are kernel launches, in batches, until no tile was active.
    """
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    progress.advance(0.0)
    levels, rounds = propagate(problem, voxels, mask, progress, gpu)
    return Solution(levels, rounds, gpu.peak_bytes)


def propagate(
    problem: Problem,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> tuple[DeviceArray, int]:
    """Levels on the device, from the problem's voxels and mask (or None) on the device."""
    xp, shape = gpu.xp, problem.voxels.shape
    defines = (voxel_macro(problem.voxels.dtype),)
    visit = gpu.kernel(KERNELS, "visit_active_tiles", defines)
    levels = xp.zeros(shape, np.uint16)
    first, tile_count = seed_tiles(problem.seeds, shape)
    lists, listed = xp.empty(2 * tile_count, np.int32), xp.zeros(tile_count, np.int32)
    counts = xp.zeros(4, np.int32)
    seed_levels = None if problem.seed_levels is None else gpu.put(problem.seed_levels)
    seeds = gpu.put(problem.seeds), pointer(seed_levels), np.int32(problem.seeds.size), levels
    tiles = gpu.struct(KERNELS, "TileLists", lists=lists, counts=counts, listed=listed)
    begin = gpu.kernel(KERNELS, "begin", defines)
    begin(
        (-(-problem.seeds.size // THREADS),),
        (THREADS,),
        (*seeds, gpu.put(first), np.int32(first.size), tiles),
    )
    size = dict(zip(("nk", "nj", "ni"), shape))
    volume = gpu.struct(KERNELS, "Volume", voxels=voxels, mask=mask, levels=levels, **size)
    args = volume, affinity_struct(gpu, KERNELS, problem.affinity, problem.cut_level), tiles
    blocks = (min(tile_count, MAX_BLOCKS),)
    rounds, batch = 0, 4
    while True:
        start = perf_counter()
        for _ in range(batch):
            visit(blocks, (THREADS,), (*args, np.int32(rounds)))
            rounds += 1
        state = gpu.get(counts)
        if state[rounds % 3] == 0:
            return levels, rounds
        progress.advance(min(state[3] / tile_count, 0.99))
        seconds = perf_counter() - start
        if seconds < MIN_BATCH_SECONDS:
            batch *= 2
        elif seconds > MAX_BATCH_SECONDS:
            batch = max(batch // 2, 1)


def seed_tiles(seeds: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Tiles that hold a seed (int32, each once), and the number of all tiles."""
    tiles = [-(-n // SIDE) for n in shape]
    k, j, i = (coordinate // SIDE for coordinate in np.unravel_index(seeds, shape))
    return np.unique((k * tiles[1] + j) * tiles[2] + i).astype(np.int32), int(np.prod(tiles))
