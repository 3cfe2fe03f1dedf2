"""Relative connectedness on the CPU: the forest of blocks, once for all groups."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from FuzzyVesselCoreLib.threads import usable_cores

from ..solvers.cpu import block_nodes, blocks
from ..solvers.cpu.blocks import EDGES_A_SLICE, NODES, TREES
from . import node_owners


def solve(problem, owners, report):
    """Levels of all groups together, and who has each voxel.

    Parameters
    ----------
    problem : Problem
        Its seeds are the points of all groups.
    owners : ndarray, uint8
        Group of each of its seeds.
    report : callable
        Called with the share that is done; raises to cancel.

    Returns
    -------
    levels : ndarray, shape (K, J, I), uint16
        The largest connectedness over all groups.
    owners : ndarray, shape (K, J, I), uint8
        `NOBODY`, a group, or `DISPUTED`.
    peak_bytes : int
    """
    run, pool = _Run(problem, owners), ThreadPoolExecutor(usable_cores())
    try:
        run.grow_trees(pool, lambda share: report(TREES * share))
        run.connect_nodes(pool, lambda share: report(TREES + (NODES - TREES) * share))
        run.give_values(pool, lambda share: report(NODES + (1 - NODES) * share))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # as in `blocks.solve`
    run.owners.reshape(-1)[problem.seeds] = owners
    return run.levels, run.owners, run.peak_bytes


class _Run(blocks.Run):
    """The run of one object, with two levels and an owner a node instead of one level."""

    def __init__(self, problem, owners):
        super().__init__(problem)
        self._seed_owners = owners
        self.owners = np.empty(problem.voxels.shape, np.uint8)

    @property
    def peak_bytes(self):
        """The most that was held at a time."""
        return super().peak_bytes + self.owners.nbytes

    def connect_nodes(self, pool, report):
        """Find both levels and the owner of every node."""
        self._in_parallel(pool, self._find_ends, lambda share: report(0.3 * share))
        edges = self._sorted_edges(lambda: report(0.3))
        total, count = edges[0].size, int(self._first_nodes[-1])
        seed_nodes = np.empty(self._problem.seeds.size, np.int32)
        block_nodes.nodes_of_voxels(
            self._problem.seeds, self._node_numbers, self._first_nodes, seed_nodes
        )
        forests = node_owners.first_forests(count, seed_nodes, self._seed_owners)
        self._edge_bytes = 20 * total + 15 * count  # the edges are there twice
        for first in range(0, total, EDGES_A_SLICE):
            last = min(first + EDGES_A_SLICE, total)
            node_owners.connect_nodes(*edges, first, last, *forests)
            report(0.3 + 0.7 * last / total)
        node_owners.spread_values(*forests)
        self._nodes = forests[1], forests[3], forests[4]

    def _values_of_row(self, number):
        first = number * self._columns
        node_owners.give_values(
            self.levels, self.owners, self._node_numbers, *self._rows[number],
            self._first_nodes[first : first + self._columns + 1], *self._nodes,
        )  # fmt: skip
