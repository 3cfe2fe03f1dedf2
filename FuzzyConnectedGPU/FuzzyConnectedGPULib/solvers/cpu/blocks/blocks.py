"""The exact solver for the CPU: blocks are processed by all cores, then joined by their nodes.

A voxel's value is the weakest edge on its path to a seed in the maximum spanning forest of the
edges, so the forest of each block, built in the cache of one core, can replace the block. Only few
of its nodes and edges matter outside the block (4 % of the voxels in noise, fewer elsewhere).
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import usable_cores

from ....affinity import TOP_LEVEL
from ....problem import Problem
from ...interface import Solution
from ..affinity_levels import affinity_tables
from . import nodes
from .edges import load_row
from .nodes import Edges
from .rows import RowGraph, trees_of_row
from .scratch import DEPTH, HEIGHT, WIDTH, Scratch

POLL_INTERVAL = 0.1  # seconds between two progress callbacks, also while code is compiled
EDGES_PER_SLICE = 1 << 20  # of the nodes, between two progress callbacks
TREES, NODES = 0.9, 0.95  # shares of the progress when the blocks' trees and the nodes are done


def solve(problem: Problem, progress: Progress) -> Solution:
    """Levels of the fuzzy scene; see `interface.Solver`."""
    run = Run(problem)
    run.solve(progress)
    return Solution(run.levels, 0, run.peak_bytes)


class Run:
    """One run: rows of blocks along I, each processed by one thread of the pool."""

    def __init__(self, problem: Problem, pool: ThreadPoolExecutor | None = None) -> None:
        self._problem, self._pool = problem, pool or ThreadPoolExecutor(usable_cores())
        self._tables = affinity_tables(problem)
        shape = problem.voxels.shape
        self.levels = np.empty(shape, np.uint16)
        self.node_numbers = np.empty(shape, np.uint16)
        self._mask = np.empty((0, 0, 0), np.uint8) if problem.mask is None else problem.mask
        self.columns = -(-shape[2] // WIDTH)
        self.rows = [(k, j) for k in range(0, shape[0], DEPTH) for j in range(0, shape[1], HEIGHT)]
        self._seeds = self._seeds_by_row()
        self._local = threading.local()
        self._scratches: list[Scratch] = []
        self._graphs: list[RowGraph] = []
        self._edge_bytes = 0

    def solve(self, progress: Progress) -> None:
        """Write the levels of all voxels."""
        try:
            self.grow_trees(progress.part(0.0, TREES))
            self.connect_nodes(progress.part(TREES, NODES))
            self.write_values(progress.part(NODES, 1.0))
        finally:
            self.shut_down()

    @property
    def peak_bytes(self) -> int:
        """The most memory that was held at a time."""
        size = self.levels.nbytes + self.node_numbers.nbytes + self._edge_bytes
        return size + sum(scratch.nbytes for scratch in self._scratches)

    def shut_down(self) -> None:
        """End the threads without waiting; a row that has begun ends in 0.05 s or once compiled."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _seeds_by_row(self) -> list[np.ndarray]:
        """For each row of blocks the seeds' block and number in it, shape (n, 2)."""
        shape = self._problem.voxels.shape
        k, j, i = np.unravel_index(self._problem.seeds, shape)
        rows = k // DEPTH * -(-shape[1] // HEIGHT) + j // HEIGHT
        inside = (k % DEPTH * HEIGHT + j % HEIGHT) * WIDTH + i % WIDTH
        seeds = np.stack([i // WIDTH, inside], axis=1)
        order = np.lexsort((seeds[:, 0], rows))
        bounds = np.searchsorted(rows[order], np.arange(len(self.rows) + 1))
        return [seeds[order[a:b]] for a, b in pairwise(bounds)]

    def _scratch(self) -> Scratch:
        """The scratch buffers of this thread."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = Scratch(self.columns)
            self._scratches.append(self._local.scratch)
        return self._local.scratch

    def _in_parallel(self, work: Callable[[int], Any], progress: Progress) -> list:
        """Results of `work` for the number of each row of blocks."""
        tasks = {self._pool.submit(work, number): number for number in range(len(self.rows))}
        found, waiting = [None] * len(tasks), set(tasks)
        while waiting:
            done, waiting = wait(waiting, POLL_INTERVAL, FIRST_COMPLETED)
            for task in done:
                found[tasks[task]] = task.result()
            progress.advance(1 - len(waiting) / len(tasks))
        return found

    def grow_trees(self, progress: Progress) -> None:
        """Grow the trees of all blocks, and gather their nodes and edges."""
        graphs = self._in_parallel(self._trees_of_row, progress)
        firsts = np.cumsum([0] + [graph.counts.sum() for graph in graphs])
        for graph, first in zip(graphs, firsts):
            graph.shift(np.int32(first))
        counts = np.concatenate([graph.counts for graph in graphs])
        self.first_nodes = np.concatenate([[0], np.cumsum(counts)])
        self._graphs = graphs

    def _trees_of_row(self, number: int) -> RowGraph:
        problem, scratch = self._problem, self._scratch()
        counts = np.zeros(self.columns, np.int64)
        seeds, row = self._seeds[number], self.rows[number]
        load_row(problem.voxels, self._mask, row, scratch.loaded)
        floor = max(problem.cut_level, 1)
        loaded, tables = tuple(scratch.loaded), tuple(self._tables)
        buffers = seeds, tuple(scratch.block), tuple(scratch.row)
        result = counts, self.levels, self.node_numbers
        inner, outer = trees_of_row(loaded, floor, tables, row, *buffers, *result)
        return RowGraph(counts, scratch.copied_edges(inner, outer))

    def connect_nodes(self, progress: Progress) -> None:
        """Find the value of every node.

        One node more, the source, has an edge of a seed's level to each seed.
        """
        source = self.node_count
        seeds = self.seed_nodes()
        to_seeds = np.full_like(seeds, source), seeds, self._problem.first_seed_levels
        edges = self.node_edges(progress.part(0.0, 0.3), [to_seeds])
        total = edges[0].size
        parent, connected = np.arange(source + 1, dtype=np.int32), np.zeros(source + 1, np.uint8)
        self._values = np.zeros(source + 1, np.uint16)
        connected[source] = 1
        self._values[source] = TOP_LEVEL
        self._edge_bytes = 20 * total + 7 * source  # there are two copies of the edges
        for first in range(0, total, EDGES_PER_SLICE):
            last = min(first + EDGES_PER_SLICE, total)
            nodes.connect_nodes(edges, first, last, parent, connected, self._values)
            progress.advance(0.3 + 0.7 * last / total)
        nodes.spread_values(parent, self._values)

    @property
    def node_count(self) -> int:
        """Number of nodes of all blocks, once the trees have grown."""
        return int(self.first_nodes[-1])

    def seed_nodes(self) -> np.ndarray:
        """The node of each of the problem's seeds (int32); no two seeds have the same."""
        found = np.empty(self._problem.seeds.size, np.int32)
        nodes.nodes_of_voxels(self._problem.seeds, self.node_numbers, self.first_nodes, found)
        return found

    def node_edges(self, progress: Progress, further: Sequence[Edges] = ()) -> Edges:
        """The edges between nodes and those given, from the strongest down; frees the graphs."""
        self._in_parallel(self._find_ends, progress)
        graphs, self._graphs = self._graphs, []
        return nodes.sorted_by_level([*further, *(some for g in graphs for some in g.edges())])

    def _find_ends(self, number: int) -> None:
        graph = self._graphs[number]
        graph.outer_to = np.empty(graph.outer_voxels.size, np.int32)
        found = graph.outer_to
        nodes.nodes_of_voxels(graph.outer_voxels, self.node_numbers, self.first_nodes, found)

    def write_values(self, progress: Progress) -> None:
        """Write the value of every voxel."""
        self._in_parallel(self.write_row, progress)

    def write_row(self, number: int) -> None:
        """Write the values of a row of blocks."""
        first, row, table = number * self.columns, self.rows[number], self._scratch().table
        first_nodes = self.first_nodes[first : first + self.columns + 1]
        voxels = self.levels, self.node_numbers, row
        nodes.write_values(*voxels, first_nodes, self._values, table)
