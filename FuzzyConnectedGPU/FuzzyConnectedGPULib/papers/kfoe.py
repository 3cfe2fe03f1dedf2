"""kFOE: the serial first-in-first-out queue of Udupa and Samarasekera 1996 (papers, section 1.3).

A voxel that leaves the queue takes the best value that its neighbours offer; if that is better than
its own, its neighbours enter the queue. A voxel is processed again whenever a better path reaches
it, which is what makes this solver slow.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ..problem import Problem
from ..solvers import Solution
from ..solvers.grid import NEIGHBOUR_COUNT, Grid, grid_of, neighbour, voxel_level

VOXELS_PER_SLICE = 1 << 17
HEAD, LENGTH, SET = 0, 1, 2  # counters of `RingQueue.state`


class RingQueue(NamedTuple):
    """Each voxel is in the queue at most once, so a ring of the volume's size never overflows."""

    ring: np.ndarray
    waiting: np.ndarray
    state: np.ndarray


def solve(problem: Problem, progress: Progress) -> Solution:
    """Levels of the fuzzy scene."""
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
