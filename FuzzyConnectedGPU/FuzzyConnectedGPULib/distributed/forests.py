"""Spanning forests of a block's face voxels, from the trees that `solvers.blocks` grows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ..affinity import TOP_LEVEL
from ..problem import Problem
from ..solvers import blocks
from ..solvers.block_trees import find_root


def face_forest(problem: Problem, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The forest's edges: ends (int32, n, 2) and levels (uint16); see the package's docstring.

    An end is the place of a face voxel in `inside` (flat indices, sorted), or their count for the
    source.
    """
    run = blocks.Run(replace(problem, seeds=np.union1d(inside, problem.seeds)))
    try:
        run.grow_trees(Progress())
        seeds = run.nodes_of(problem.seeds)
        levels = np.full(seeds.size, TOP_LEVEL, np.uint16)
        edges = run.node_edges(Progress(), [(np.full_like(seeds, run.node_count), seeds, levels)])
    finally:
        run.shut_down()
    numbers = np.full(run.node_count + 1, -1, np.int32)
    numbers[run.nodes_of(inside)] = np.arange(inside.size)
    numbers[-1] = inside.size
    return _spanning_forest(*edges, numbers)


@njit(cache=True, nogil=True)
def _spanning_forest(nodes: Any, others: Any, levels: Any, numbers: Any) -> Any:
    """Edges between numbered nodes (-1: none), from sorted edges between all of them (Kruskal).

    Afterwards `numbers` has those of the components.
    """
    parent = np.arange(numbers.size).astype(np.int32)
    most = np.count_nonzero(numbers >= 0)
    ends, found, count = np.empty((most, 2), np.int32), np.empty(most, np.uint16), 0
    for n in range(levels.size):
        one, other = find_root(parent, nodes[n]), find_root(parent, others[n])
        if one == other:
            continue
        if numbers[one] >= 0 and numbers[other] >= 0:
            ends[count, 0], ends[count, 1], found[count] = numbers[one], numbers[other], levels[n]
            count += 1
        parent[other] = one
        numbers[one] = max(numbers[one], numbers[other])
    return ends[:count], found[:count]
