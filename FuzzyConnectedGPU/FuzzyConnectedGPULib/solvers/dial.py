"""Widest paths by a bucket queue (Dial 1969), on the CPU: the reference for every other solver.

Buckets, one for each level, are emptied from the highest level down, so a voxel leaves its bucket
with its final value and is expanded once. A bucket is a chain of chunks from one pool: entries that
are neighbours in a bucket are neighbours in memory.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ..affinity import TOP_LEVEL
from ..problem import Problem
from . import Solution
from .grid import NEIGHBOUR_COUNT, Grid, grid_of, neighbour, voxel_level

DONE, PAUSED, POOL_USED_UP = 0, 1, 2
VOXELS_PER_SLICE = 1 << 16  # expanded between two progress callbacks: under 0.1 s
CHUNK = 62  # entries; with its link and count a chunk fills 256 bytes of 4-byte entries
LINK, COUNT, ENTRIES = 0, 1, 2  # columns of the pool
SPARE_CHUNKS = 64  # of the first pool, which grows by half when it is used up
LEVEL, FREE_CHUNK, FRESH_CHUNK, EXPANDED = 0, 1, 2, 3  # counters of `LevelQueue.state`


class LevelQueue(NamedTuple):
    """First chunk of each level (-1: none), the pool of chunks, and counters."""

    heads: np.ndarray
    pool: np.ndarray
    state: np.ndarray


def solve(problem: Problem, progress: Progress) -> Solution:
    """Levels of the fuzzy scene."""
    solution = solve_up_to(problem.voxels.size, problem, progress)
    assert solution is not None  # no voxel is expanded twice
    return solution


def solve_up_to(limit: int, problem: Problem, progress: Progress) -> Solution | None:
    """As `solve`, but None if more than `limit` voxels have to be expanded."""
    grid = grid_of(problem)
    size = problem.voxels.size
    levels = np.zeros(size, np.uint16)
    seed_levels = problem.first_seed_levels.astype(np.int64)
    index = np.int32 if size < 2**31 else np.int64
    heads = np.full(TOP_LEVEL + 1, -1, index)
    chunks = seed_levels.size // CHUNK + np.unique(seed_levels).size + SPARE_CHUNKS
    pool = np.empty((chunks, CHUNK + ENTRIES), index)
    queue = LevelQueue(heads, pool, np.array([TOP_LEVEL, -1, 0, 0], np.int64))
    peak_bytes = levels.nbytes + heads.nbytes + pool.nbytes
    push_seeds(problem.seeds, seed_levels, levels, queue)
    while True:
        status = expand(grid, levels, queue, VOXELS_PER_SLICE)
        if status == DONE:
            return Solution(levels.reshape(problem.voxels.shape), 0, peak_bytes)
        if status == POOL_USED_UP:
            old = queue.pool
            pool = np.empty((len(old) * 3 // 2, CHUNK + ENTRIES), index)
            pool[: len(old)] = old
            peak_bytes = max(peak_bytes, levels.nbytes + heads.nbytes + pool.nbytes + old.nbytes)
            queue = queue._replace(pool=pool)
        progress.advance(queue.state[EXPANDED] / size)
        if queue.state[EXPANDED] > limit:
            return None


@njit(cache=True)
def push(level: int, voxel: int, heads: np.ndarray, pool: np.ndarray, state: np.ndarray) -> None:
    """Add a voxel to a bucket."""
    head = heads[level]
    if head < 0 or pool[head, COUNT] == CHUNK:
        chunk = state[FREE_CHUNK]
        if chunk >= 0:
            state[FREE_CHUNK] = pool[chunk, LINK]
        else:
            chunk = state[FRESH_CHUNK]
            state[FRESH_CHUNK] += 1
        pool[chunk, LINK] = head
        pool[chunk, COUNT] = 0
        heads[level] = chunk
        head = chunk
    pool[head, ENTRIES + pool[head, COUNT]] = voxel
    pool[head, COUNT] += 1


@njit(cache=True)
def pop(level: int, heads: np.ndarray, pool: np.ndarray, state: np.ndarray) -> int:
    """Remove a voxel from a bucket; -1 if it is empty."""
    head = heads[level]
    while head >= 0 and pool[head, COUNT] == 0:
        heads[level] = pool[head, LINK]
        pool[head, LINK] = state[FREE_CHUNK]
        state[FREE_CHUNK] = head
        head = heads[level]
    if head < 0:
        return -1
    pool[head, COUNT] -= 1
    return pool[head, ENTRIES + pool[head, COUNT]]


@njit(cache=True)
def push_seeds(
    seeds: np.ndarray, seed_levels: np.ndarray, levels: np.ndarray, queue: LevelQueue
) -> None:
    """Put those seeds in their buckets that are above what is known of them."""
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
