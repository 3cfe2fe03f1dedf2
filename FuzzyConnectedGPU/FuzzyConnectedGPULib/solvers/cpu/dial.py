"""Widest paths by a bucket queue (Dial 1969), on the CPU: the reference for every other solver.

There is one bucket for each affinity level. Buckets are emptied from the highest down, so a voxel
leaves its bucket with its final value and is expanded once. A bucket is a chain of blocks from one
pool: entries that lie together in a bucket lie together in memory.
"""

import numpy as np
from numba import njit

from ...affinity.gaussian_affinity import TOP_LEVEL
from .neighbours import neighbour, neighbour_count
from .voxel_affinity import voxel_level

BLOCK = 62  # entries of a block; with its chain and count it fills 256 bytes of 4-byte entries
CHAIN, COUNT, ENTRIES = 0, 1, 2
SPARE_BLOCKS = 64  # of the first pool, which grows by half where it is spent
DONE, PAUSED, POOL_SPENT = 0, 1, 2
VOXELS_A_SLICE = 1 << 16  # expansions between two looks at the progress callback: under 0.1 s

# Where the run stands, kept in one array between slices.
LEVEL, FREE_BLOCK, FRESH_BLOCK, EXPANDED = 0, 1, 2, 3


def solve(problem, report, most=None):
    """Levels of the fuzzy scene.

    Parameters
    ----------
    problem : Problem
    report : callable
        Called with the share of voxels done; raises to cancel.
    most : int, optional
        Give up after so many voxels, and return None.

    Returns
    -------
    levels : ndarray, shape (K, J, I), uint16
    rounds : int
        0: a queue has no rounds.
    peak_bytes : int
    """
    voxels = problem.voxels
    levels, seeds = first_levels(problem)
    mask = np.empty(0, np.uint8) if problem.mask is None else problem.mask.ravel()
    tables = (*problem.tables, problem.affinity.coefficients())
    index = np.int32 if voxels.size < 2**31 else np.int64
    heads = np.full(TOP_LEVEL + 1, -1, index)
    pool = np.empty((seeds.size // BLOCK + SPARE_BLOCKS, BLOCK + ENTRIES), index)
    state = np.array([TOP_LEVEL, -1, 0, 0], np.int64)
    peak_bytes = levels.nbytes + heads.nbytes + pool.nbytes
    push_seeds(seeds, levels, heads, pool, state)
    while True:
        status = expand(
            voxels.ravel(), mask, levels, np.array(voxels.shape), problem.cut_level, *tables,
            heads, pool, state, VOXELS_A_SLICE,
        )  # fmt: skip
        if status == DONE:
            return levels.reshape(voxels.shape), 0, peak_bytes
        if status == POOL_SPENT:
            larger = np.empty((pool.shape[0] * 3 // 2, BLOCK + ENTRIES), index)
            larger[: pool.shape[0]] = pool
            held = levels.nbytes + heads.nbytes + pool.nbytes + larger.nbytes
            peak_bytes = max(peak_bytes, held)
            pool = larger
        report(state[EXPANDED] / voxels.size)
        if most is not None and state[EXPANDED] > most:
            return None


def first_levels(problem):
    """Levels before the first step (flat), and the seeds to go out from.

    From the scene of some of the seeds only the other seeds go out: a voxel that none of their
    paths raises keeps its level, and is not visited.
    """
    if problem.start is None:
        return np.zeros(problem.voxels.size, np.uint16), problem.seeds
    levels = problem.start.ravel().copy()
    return levels, problem.seeds[levels[problem.seeds] < TOP_LEVEL]


@njit(cache=True)
def push_seeds(seeds, levels, heads, pool, state):
    for seed in seeds:
        levels[seed] = TOP_LEVEL
        push(TOP_LEVEL, seed, heads, pool, state)


@njit(cache=True)
def push(level, voxel, heads, pool, state):
    head = heads[level]
    if head < 0 or pool[head, COUNT] == BLOCK:
        block = state[FREE_BLOCK]
        if block >= 0:
            state[FREE_BLOCK] = pool[block, CHAIN]
        else:
            block = state[FRESH_BLOCK]
            state[FRESH_BLOCK] += 1
        pool[block, CHAIN] = head
        pool[block, COUNT] = 0
        heads[level] = block
        head = block
    pool[head, ENTRIES + pool[head, COUNT]] = voxel
    pool[head, COUNT] += 1


@njit(cache=True)
def pop(level, heads, pool, state):
    """Take a voxel out of a bucket; -1 if it is empty."""
    head = heads[level]
    while head >= 0 and pool[head, COUNT] == 0:
        heads[level] = pool[head, CHAIN]
        pool[head, CHAIN] = state[FREE_BLOCK]
        state[FREE_BLOCK] = head
        head = heads[level]
    if head < 0:
        return -1
    pool[head, COUNT] -= 1
    return pool[head, ENTRIES + pool[head, COUNT]]


@njit(cache=True)
def expand(
    voxels, mask, levels, shape, cut_level, sum_table, difference_table, lowest_sum, coefficients,
    heads, pool, state, budget,
):  # fmt: skip
    """Expand up to `budget` voxels in falling order of their levels."""
    floor = max(cut_level, 1)
    while state[LEVEL] >= floor:
        level = state[LEVEL]
        if pool.shape[0] - state[FRESH_BLOCK] < 6:
            return POOL_SPENT
        voxel = pop(level, heads, pool, state)
        if voxel < 0:
            state[LEVEL] -= 1
            continue
        if levels[voxel] != level:
            continue  # it was pushed again with a higher level, and expanded there
        state[EXPANDED] += 1
        for side in range(neighbour_count):
            other = neighbour(voxel, side, shape)
            if other < 0 or levels[other] >= level or (mask.size and not mask[other]):
                continue
            affinity = voxel_level(
                voxels[voxel], voxels[other], sum_table, difference_table, lowest_sum, coefficients
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
