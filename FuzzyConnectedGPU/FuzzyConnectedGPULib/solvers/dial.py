"""A problem as the compiled loops of the CPU read it: affinity of two voxels, and neighbours."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ..affinity import HALF, bell
from ..problem import Problem
from ..scene import TOP_LEVEL
from ..solvers import Solution

NEIGHBOUR_COUNT = 6
ZERO = np.float32(0)
compiled_bell = njit(bell, cache=True)


class AffinityTables(NamedTuple):
    """The look-up tables of `Problem.tables`, and `GaussianAffinity.coefficients`."""

    sums: np.ndarray
    differences: np.ndarray
    lowest_sum: int
    coefficients: np.ndarray


class Grid(NamedTuple):
    """Voxels and mask (of size 0: none), flat; K, J, I; the lowest level that counts; tables."""

    voxels: np.ndarray
    mask: np.ndarray
    shape: np.ndarray
    floor: int
    tables: AffinityTables


def affinity_tables(problem: Problem) -> AffinityTables:
    """The affinity of a problem as compiled code reads it."""
    return AffinityTables(*problem.tables, problem.affinity.coefficients())


def grid_of(problem: Problem) -> Grid:
    """The arrays of a problem that the compiled queues read."""
    mask = np.empty(0, np.uint8) if problem.mask is None else problem.mask.ravel()
    shape = np.array(problem.voxels.shape)
    floor = max(problem.cut_level, 1)
    return Grid(problem.voxels.ravel(), mask, shape, floor, affinity_tables(problem))


@njit(cache=True)
def computed_level(first: Any, second: Any, coefficients: np.ndarray) -> Any:
    """Level from the intensities; the same bits as `GaussianAffinity.levels`."""
    first, second = np.float32(first), np.float32(second)
    deviation = (first + second) * HALF - coefficients[0]
    if coefficients[6] != ZERO:
        deviation = min(deviation, ZERO)
    if coefficients[7] != ZERO:
        deviation = max(deviation, ZERO)
    sum_term = coefficients[3] * compiled_bell(deviation * coefficients[1])
    difference_term = coefficients[4] * compiled_bell(abs(first - second) * coefficients[2])
    if coefficients[5] != ZERO:
        return np.int64(np.rint(sum_term + difference_term))
    return np.int64(np.rint(sum_term * difference_term))


@njit(cache=True)
def voxel_level(
    first: Any, second: Any, sums: Any, differences: Any, lowest_sum: int, coefficients: Any
) -> Any:
    """Level from the tables of an integer volume, or computed where they are empty.

    The tables are unpacked by the caller: taking arrays out of a tuple costs as much as the rest.
    """
    if sums.size == 0:
        return computed_level(first, second, coefficients)
    a, b = np.int64(first), np.int64(second)
    sum_term, difference_term = sums[a + b - lowest_sum], differences[abs(a - b)]
    if coefficients[5] != ZERO:
        return np.int64(np.rint(sum_term + difference_term))
    return np.int64(np.rint(sum_term * difference_term))


@njit(cache=True)
def neighbour(voxel: int, side: int, shape: np.ndarray) -> int:
    """Flat index of the neighbour on `side` (-I, +I, -J, +J, -K, +K); -1 outside the volume."""
    row, plane = shape[2], shape[1] * shape[2]
    if side == 0:
        return voxel - 1 if voxel % row > 0 else -1
    if side == 1:
        return voxel + 1 if voxel % row < row - 1 else -1
    if side == 2:
        return voxel - row if voxel % plane >= row else -1
    if side == 3:
        return voxel + row if voxel % plane < plane - row else -1
    if side == 4:
        return voxel - plane if voxel >= plane else -1
    return voxel + plane if voxel < plane * (shape[0] - 1) else -1


# ---- the solver
# Buckets, one for each level, are emptied from the highest level down, so a voxel leaves its bucket
# with its final value and is expanded once. A bucket is a chain of chunks from one pool: entries
# that are neighbours in a bucket are neighbours in memory.

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
