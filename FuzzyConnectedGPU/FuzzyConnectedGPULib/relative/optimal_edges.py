"""Optimal edges into disputed voxels, on the CPU: those by which a voxel gets its level."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.threads import usable_cores

from ..solvers.cpu.neighbours import neighbour, neighbour_count
from ..solvers.cpu.voxel_affinity import voxel_level
from .groups import DISPUTED

# Steps along K, J, I to the neighbour on each side, in the order of `neighbours`.
SIDES = np.array([(0, 0, -1), (0, 0, 1), (0, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 0, 0)])
PLANES_A_PART = 4  # found by one thread at a time


def optimal_edges(problem, levels, owners, look):
    """For each disputed voxel the sides from which optimal edges lead to it.

    Parameters
    ----------
    problem : Problem
    levels, owners : ndarray, shape (K, J, I), uint16 and uint8
        By relative connectedness; see `owners_by_blocks.solve`.
    look : callable
        Called from time to time; raises to cancel.

    Returns
    -------
    ndarray, uint8, shape (K, J, I)
        Bit n: from the neighbour on side n of `neighbours`. 0 where no voxel is disputed.
    """
    edges = np.zeros(owners.shape, np.uint8)
    volume = (
        problem.voxels.reshape(-1), np.array(owners.shape), *problem.tables,
        problem.affinity.coefficients(), levels.reshape(-1), owners.reshape(-1),
    )  # fmt: skip
    plane, depth = owners[0].size, owners.shape[0]
    pool = ThreadPoolExecutor(usable_cores())
    try:
        parts = range(0, depth, PLANES_A_PART)
        ends = (min(part + PLANES_A_PART, depth) for part in parts)
        tasks = [
            pool.submit(_find_edges, *volume, plane * begin, plane * end, edges.reshape(-1))
            for begin, end in zip(parts, ends)
        ]
        for task in tasks:
            task.result()
            look()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return edges


@njit(cache=True, nogil=True)
def _find_edges(
    voxels, shape, sum_table, difference_table, lowest_sum, coefficients, levels, owners,
    begin, end, edges,
):  # fmt: skip
    for voxel in range(begin, end):
        if owners[voxel] != DISPUTED:
            continue
        level, sides = levels[voxel], 0
        for side in range(neighbour_count):
            other = neighbour(voxel, side, shape)
            if other < 0 or levels[other] < level:
                continue
            affinity = voxel_level(
                voxels[voxel], voxels[other], sum_table, difference_table, lowest_sum, coefficients
            )
            if affinity >= level:
                sides |= 1 << side
        edges[voxel] = sides
