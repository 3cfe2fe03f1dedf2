"""The systems that the CUDA-kFOE papers compare, to be read beside the papers.

`solve` is kFOE, the serial first-in-first-out queue of Udupa and Samarasekera 1996 (section 1.3).
`solve_cuda` (`cuda_kfoe.cu`) is CUDA-kFOE, Zhuge's two kernels with stored affinities, and
`solve_corrected` (`cuda_kfoe_corrected.cu`) the papers' own: one fused kernel, a look-up table, and
correction iterations in 0 to 6 directions. The two on CUDA write without atomic maxima, so that
updates are lost; `error_voxels` counts what is wrong in the end, as the papers' tables do.
"""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.kernels import int32s, pointer, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ..problem import Problem
from ..scene import TOP_LEVEL
from ..solvers import Solution
from ..solvers.contraction import affinity_record
from ..solvers.dial import NEIGHBOUR_COUNT, Grid, grid_of, neighbour, voxel_level

VOXELS_PER_SLICE = 1 << 17
HEAD, LENGTH, SET = 0, 1, 2  # counters of `RingQueue.state`


class RingQueue(NamedTuple):
    """Each voxel is in the queue at most once, so a ring of the volume's size never overflows."""

    ring: np.ndarray
    waiting: np.ndarray
    state: np.ndarray


def solve(problem: Problem, progress: Progress) -> Solution:
    """Levels of the fuzzy scene.

    A voxel that leaves the queue takes the best value that its neighbours offer; if that is better
    than its own, its neighbours enter the queue. A voxel is processed again whenever a better path
    reaches it, which is what makes this solver slow.
    """
    size, shape = problem.voxels.size, problem.voxels.shape
    levels = np.zeros(size, np.uint16)
    ring = np.empty(size, np.int32 if size < 2**31 else np.int64)
    queue = RingQueue(ring, np.zeros(size, np.uint8), np.zeros(3, np.int64))
    grid = grid_of(problem)
    levels[problem.seeds] = problem.first_seed_levels
    push_seeds(problem.seeds, levels, grid.shape, queue)
    while queue.state[LENGTH]:
        process(grid, levels, queue, VOXELS_PER_SLICE)
        # Values may still rise at the end: the share of voxels reached is only an estimate.
        progress.advance(min(queue.state[SET] / size, 0.99))
    peak_bytes = levels.nbytes + ring.nbytes + queue.waiting.nbytes
    return Solution(levels.reshape(shape), 0, peak_bytes)


@njit(cache=True)
def push_seeds(seeds: Any, levels: Any, shape: Any, queue: RingQueue) -> None:
    """Put the neighbours of the seeds in the queue."""
    ring, waiting, state = queue
    for seed in seeds:
        push_neighbours(seed, levels, shape, ring, waiting, state)


@njit(cache=True)
def push_neighbours(
    voxel: int, levels: Any, shape: Any, ring: Any, waiting: Any, state: Any
) -> None:
    """Put those neighbours of a voxel in the queue that are below it."""
    for side in range(NEIGHBOUR_COUNT):
        other = neighbour(voxel, side, shape)
        if other >= 0 and not waiting[other] and levels[other] < levels[voxel]:
            waiting[other] = 1
            ring[(state[HEAD] + state[LENGTH]) % ring.size] = other
            state[LENGTH] += 1


@njit(cache=True, nogil=True)
def process(grid: Grid, levels: Any, queue: RingQueue, budget: int) -> None:
    """Process up to `budget` voxels of the queue."""
    voxels, mask, shape, floor, tables = grid
    sums, differences, lowest_sum, coefficients = tables
    ring, waiting, state = queue
    while state[LENGTH] and budget:
        budget -= 1
        voxel = ring[state[HEAD]]
        state[HEAD] = (state[HEAD] + 1) % ring.size
        state[LENGTH] -= 1
        waiting[voxel] = 0
        if mask.size and not mask[voxel]:
            continue
        best = np.int64(levels[voxel])
        for side in range(NEIGHBOUR_COUNT):
            other = neighbour(voxel, side, shape)
            if other < 0 or levels[other] <= best:
                continue
            affinity = voxel_level(
                voxels[voxel], voxels[other], sums, differences, lowest_sum, coefficients
            )
            if affinity >= floor:
                best = max(best, min(np.int64(levels[other]), affinity))
        if best > levels[voxel]:
            state[SET] += levels[voxel] == 0
            levels[voxel] = best
            push_neighbours(voxel, levels, shape, ring, waiting, state)


# ---- on CUDA

KERNELS = Path(__file__).with_name("cuda_kfoe.cu")
CORRECTED = Path(__file__).with_name("cuda_kfoe_corrected.cu")
THREADS, BLOCK = 256, (16, 16, 1)
ROUNDS_PER_CHECK = 8  # between two looks at the flag that tells whether anything changed


def solve_cuda(problem: Problem, progress: Progress, gpu: CudaDevice) -> Solution:
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

    `corrections` are the iterations in each round: 2 in the experiments of both papers, 3 in the
    Chinese paper's theory; 0 leaves only the fused kernel. `directions` is how many of the 6
    neighbours are corrected (English paper, table 2), in the order -I, +I, -J, +J, -K, +K.
    `InputError` for other numbers.
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
