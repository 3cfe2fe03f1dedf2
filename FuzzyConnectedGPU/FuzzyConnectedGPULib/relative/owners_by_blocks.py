"""Relative connectedness on the CPU: the forest of blocks, once for all groups."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import usable_cores

from ..problem import Problem
from ..solvers.cpu.blocks import blocks
from ..solvers.cpu.blocks.blocks import EDGES_PER_SLICE, NODES, TREES
from . import node_owners


def solve(
    problem: Problem, owners: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray, int]:
    """Levels of all groups together, and the owner of each voxel.

    Parameters
    ----------
    problem : Problem
        Its seeds are the points of all groups.
    owners : ndarray, uint8
        Group of each of its seeds.
    progress : Progress

    Returns
    -------
    levels : ndarray, shape (K, J, I), uint16
        The largest connectedness over all groups.
    owners : ndarray, shape (K, J, I), uint8
        `NOBODY`, a group, or `DISPUTED`.
    peak_bytes : int
    """
    run = _Run(problem, ThreadPoolExecutor(usable_cores()), owners)
    try:
        run.grow_trees(progress.part(0.0, TREES))
        run.connect_nodes(progress.part(TREES, NODES))
        run.write_values(progress.part(NODES, 1.0))
    finally:
        run.shut_down()
    run.owners.reshape(-1)[problem.seeds] = owners
    return run.levels, run.owners, run.peak_bytes


class _Run(blocks.Run):
    """The run of one object, with two levels and an owner per node instead of one level."""

    def __init__(self, problem: Problem, pool: ThreadPoolExecutor, owners: np.ndarray) -> None:
        super().__init__(problem, pool)
        self._seed_owners = owners
        self.owners = np.empty(problem.voxels.shape, np.uint8)

    @property
    def peak_bytes(self) -> int:
        """The most memory that was held at a time."""
        return super().peak_bytes + self.owners.nbytes

    def connect_nodes(self, progress: Progress) -> None:
        """Find both levels and the owner of every node."""
        edges = self.node_edges(progress.part(0.0, 0.3))
        total, count = edges[0].size, self.node_count
        forests = node_owners.first_forests(count, self.seed_nodes(), self._seed_owners)
        self._edge_bytes = 20 * total + 15 * count  # there are two copies of the edges
        for first in range(0, total, EDGES_PER_SLICE):
            last = min(first + EDGES_PER_SLICE, total)
            node_owners.connect_nodes(edges, first, last, forests)
            progress.advance(0.3 + 0.7 * last / total)
        node_owners.spread_values(forests)
        self._nodes = tuple(forests)  # as in `rows.trees_of_row`

    def _write_row(self, number: int) -> None:
        first, row = number * self._columns, self._rows[number]
        first_nodes = self._first_nodes[first : first + self._columns + 1]
        voxels = self.levels, self.owners, self._node_numbers
        node_owners.write_values(*voxels, row, first_nodes, self._nodes)
