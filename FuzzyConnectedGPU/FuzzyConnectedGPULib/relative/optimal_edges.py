"""Optimal edges into disputed voxels, on the CPU: those by which a voxel gets its level."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import usable_cores

from ..problem import Problem
from ..solvers.cpu.affinity_levels import voxel_level
from ..solvers.cpu.neighbours import NEIGHBOUR_COUNT, Grid, grid_of, neighbour
from .groups import DISPUTED

# Steps along K, J, I to the neighbour on each side, in the order of `neighbours`.
SIDES = np.array([(0, 0, -1), (0, 0, 1), (0, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 0, 0)])
PLANES_PER_TASK = 4  # processed by one thread at a time


def optimal_edges(
    problem: Problem, levels: np.ndarray, owners: np.ndarray, progress: Progress
) -> np.ndarray:
    """For each disputed voxel the sides from which optimal edges lead to it.

    Parameters
    ----------
    problem : Problem
    levels, owners : ndarray, shape (K, J, I), uint16 and uint8
        By relative connectedness; see `owners_by_blocks.solve`.
    progress : Progress
        Checked from time to time.

    Returns
    -------
    ndarray, uint8, shape (K, J, I)
        Bit n: from the neighbour on side n of `neighbours`. 0 where no voxel is disputed.
    """
    edges = np.zeros(owners.shape, np.uint8)
    volume = grid_of(problem), levels.reshape(-1), owners.reshape(-1)
    plane, depth = owners[0].size, owners.shape[0]
    pool = ThreadPoolExecutor(usable_cores())
    try:
        begins = range(0, depth, PLANES_PER_TASK)
        ends = (min(begin + PLANES_PER_TASK, depth) for begin in begins)
        tasks = [
            pool.submit(_find_edges, *volume, plane * begin, plane * end, edges.reshape(-1))
            for begin, end in zip(begins, ends)
        ]
        for task in tasks:
            task.result()
            progress.check()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return edges


@njit(cache=True, nogil=True)
def _find_edges(
    grid: Grid, levels: np.ndarray, owners: np.ndarray, begin: int, end: int, edges: np.ndarray
) -> None:
    voxels, shape = grid.voxels, grid.shape
    sums, differences, lowest_sum, coefficients = grid.tables
    for voxel in range(begin, end):
        if owners[voxel] != DISPUTED:
            continue
        level, sides = levels[voxel], 0
        for side in range(NEIGHBOUR_COUNT):
            other = neighbour(voxel, side, shape)
            if other < 0 or levels[other] < level:
                continue
            affinity = voxel_level(
                voxels[voxel], voxels[other], sums, differences, lowest_sum, coefficients
            )
            if affinity >= level:
                sides |= 1 << side
        edges[voxel] = sides
