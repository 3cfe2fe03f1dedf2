"""kFOE: the serial first-in-first-out queue of Udupa and Samarasekera 1996 (papers, section 1.3).

A voxel that leaves the queue takes the best value that its neighbours offer; if that is better than
what it had, its neighbours enter the queue. A voxel is taken up again whenever a better path comes
by, which is what makes this solver slow.
"""

import numpy as np
from numba import njit

from ...affinity.gaussian_affinity import TOP_LEVEL
from .neighbours import neighbour, neighbour_count
from .voxel_affinity import voxel_level

VOXELS_A_SLICE = 1 << 17
HEAD, LENGTH, SET = 0, 1, 2


def solve(problem, report):
    """Levels of the fuzzy scene; parameters and results as in `dial.solve`."""
    voxels = problem.voxels
    levels = np.zeros(voxels.size, np.uint16)
    mask = np.empty(0, np.uint8) if problem.mask is None else problem.mask.ravel()
    tables = (*problem.tables, problem.affinity.coefficients())
    shape = np.array(voxels.shape)
    # Each voxel is in the queue at most once, so a ring of the volume's size never overflows.
    ring = np.empty(voxels.size, np.int32 if voxels.size < 2**31 else np.int64)
    waiting = np.zeros(voxels.size, np.uint8)
    state = np.zeros(3, np.int64)
    start(problem.seeds, levels, shape, ring, waiting, state)
    while state[LENGTH]:
        run(
            voxels.ravel(), mask, levels, shape, problem.cut_level, *tables,
            ring, waiting, state, VOXELS_A_SLICE,
        )  # fmt: skip
        # Values may still rise at the end: the share of voxels reached is the best guess there is.
        report(min(state[SET] / voxels.size, 0.99))
    return levels.reshape(voxels.shape), 0, levels.nbytes + ring.nbytes + waiting.nbytes


@njit(cache=True)
def start(seeds, levels, shape, ring, waiting, state):
    for seed in seeds:
        levels[seed] = TOP_LEVEL
    for seed in seeds:
        push_neighbours(seed, levels, shape, ring, waiting, state)


@njit(cache=True)
def push_neighbours(voxel, levels, shape, ring, waiting, state):
    for side in range(neighbour_count):
        other = neighbour(voxel, side, shape)
        if other >= 0 and not waiting[other] and levels[other] < levels[voxel]:
            waiting[other] = 1
            ring[(state[HEAD] + state[LENGTH]) % ring.size] = other
            state[LENGTH] += 1


@njit(cache=True)
def run(
    voxels, mask, levels, shape, cut_level, sum_table, difference_table, lowest_sum, coefficients,
    ring, waiting, state, budget,
):  # fmt: skip
    """Take up to `budget` voxels from the queue."""
    floor = max(cut_level, 1)
    while state[LENGTH] and budget:
        budget -= 1
        voxel = ring[state[HEAD]]
        state[HEAD] = (state[HEAD] + 1) % ring.size
        state[LENGTH] -= 1
        waiting[voxel] = 0
        if mask.size and not mask[voxel]:
            continue
        best = np.int64(levels[voxel])
        for side in range(neighbour_count):
            other = neighbour(voxel, side, shape)
            if other < 0 or levels[other] <= best:
                continue
            affinity = voxel_level(
                voxels[voxel], voxels[other], sum_table, difference_table, lowest_sum, coefficients
            )
            if affinity >= floor:
                best = max(best, min(np.int64(levels[other]), affinity))
        if best > levels[voxel]:
            state[SET] += levels[voxel] == 0
            levels[voxel] = best
            push_neighbours(voxel, levels, shape, ring, waiting, state)
