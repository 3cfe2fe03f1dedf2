"""Widest paths by a bucket queue (Dial 1969), on the CPU: the reference for every other solver.

Buckets are emptied from the highest level down, so a voxel leaves its bucket with its final value
and is expanded once.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ...affinity.levels import TOP_LEVEL
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
    levels, seeds = first_levels(problem)
    queue = new_queue(TOP_LEVEL, seeds.size, levels.size)
    peak_bytes = levels.nbytes + queue.heads.nbytes + queue.pool.nbytes
    push_seeds(seeds, levels, queue)
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


def first_levels(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Levels before the first step (flat), and the seeds to expand.

    With the scene of some of the seeds only the other seeds are expanded: a voxel that none of
    their paths raises keeps its level, and is not visited.
    """
    if problem.start is None:
        return np.zeros(problem.voxels.size, np.uint16), problem.seeds
    levels = problem.start.ravel().copy()
    return levels, problem.seeds[levels[problem.seeds] < TOP_LEVEL]


@njit(cache=True)
def push_seeds(seeds: np.ndarray, levels: np.ndarray, queue: LevelQueue) -> None:
    """Put the seeds in the highest bucket."""
    heads, pool, state = queue
    for seed in seeds:
        levels[seed] = TOP_LEVEL
        push(TOP_LEVEL, seed, heads, pool, state)


@njit(cache=True)
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
