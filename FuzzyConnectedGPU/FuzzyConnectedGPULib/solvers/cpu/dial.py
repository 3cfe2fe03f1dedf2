"""Widest paths by a bucket queue (Dial 1969), on the CPU: the reference for every other solver.

Buckets are emptied from the highest level down, so a voxel leaves its bucket with its final value
and is expanded once.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ...affinity import TOP_LEVEL
from ...problem import Problem
from ..interface import Solution
from .affinity_levels import voxel_level
from .level_queue import EXPANDED, FRESH_CHUNK, LEVEL, LevelQueue, grown, new_queue, pop, push
from .neighbours import NEIGHBOUR_COUNT, Grid, grid_of, neighbour

DONE, PAUSED, POOL_USED_UP = 0, 1, 2
VOXELS_PER_SLICE = 1 << 16  # expanded between two progress callbacks: under 0.1 s


def solve(problem: Problem, progress: Progress) -> Solution:
    """Levels of the fuzzy scene; see `interface.Solver`."""
    solution = solve_up_to(problem.voxels.size, problem, progress)
    assert solution is not None  # no voxel is expanded twice
    return solution


def solve_up_to(limit: int, problem: Problem, progress: Progress) -> Solution | None:
    """As `solve`, but None if more than `limit` voxels have to be expanded."""
    grid = grid_of(problem)
    levels = first_levels(problem)
    seed_levels = problem.first_seed_levels.astype(np.int64)
    used_levels = np.unique(seed_levels).size
    queue = new_queue(TOP_LEVEL, seed_levels.size, levels.size, used_levels)
    peak_bytes = levels.nbytes + queue.heads.nbytes + queue.pool.nbytes
    push_seeds(problem.seeds, seed_levels, levels, queue)
    while True:
        status = expand(grid, levels, queue, VOXELS_PER_SLICE)
        if status == DONE:
            return Solution(levels.reshape(problem.voxels.shape), 0, peak_bytes)
        if status == POOL_USED_UP:
            larger = grown(queue)
            held = levels.nbytes + queue.heads.nbytes + queue.pool.nbytes + larger.pool.nbytes
            peak_bytes = max(peak_bytes, held)
            queue = larger
        progress.advance(queue.state[EXPANDED] / levels.size)
        if queue.state[EXPANDED] > limit:
            return None


def first_levels(problem: Problem) -> np.ndarray:
    """Levels before the first step (flat), without the seeds."""
    if problem.start is None:
        return np.zeros(problem.voxels.size, np.uint16)
    return problem.start.ravel().copy()


@njit(cache=True)
def push_seeds(
    seeds: np.ndarray, seed_levels: np.ndarray, levels: np.ndarray, queue: LevelQueue
) -> None:
    """Put those seeds in their buckets that are above what is known of them.

    With the scene of some of the seeds only the other seeds are expanded: a voxel that none of
    their paths raises keeps its level, and is not visited.
    """
    heads, pool, state = queue
    for n in range(seeds.size):
        if seed_levels[n] > levels[seeds[n]]:
            levels[seeds[n]] = seed_levels[n]
            push(seed_levels[n], seeds[n], heads, pool, state)


@njit(cache=True, nogil=True)
def expand(grid: Grid, levels: np.ndarray, queue: LevelQueue, budget: int) -> int:
    """Expand up to `budget` voxels in descending order of their levels."""
    voxels, mask, shape, floor, tables = grid
    sums, differences, lowest_sum, coefficients = tables
    heads, pool, state = queue
    while state[LEVEL] >= floor:
        level = state[LEVEL]
        if pool.shape[0] - state[FRESH_CHUNK] < NEIGHBOUR_COUNT:
            return POOL_USED_UP
        voxel = pop(level, heads, pool, state)
        if voxel < 0:
            state[LEVEL] -= 1
            continue
        if levels[voxel] != level:
            continue  # it was pushed again with a higher level, and expanded there
        state[EXPANDED] += 1
        for side in range(NEIGHBOUR_COUNT):
            other = neighbour(voxel, side, shape)
            if other < 0 or levels[other] >= level or (mask.size and not mask[other]):
                continue
            affinity = voxel_level(
                voxels[voxel], voxels[other], sums, differences, lowest_sum, coefficients
            )
            if affinity < floor:
                continue
            reached = min(affinity, level)
            if reached > levels[other]:
                levels[other] = reached
                push(reached, other, heads, pool, state)
        budget -= 1
        if budget == 0:
            return PAUSED
    return DONE
