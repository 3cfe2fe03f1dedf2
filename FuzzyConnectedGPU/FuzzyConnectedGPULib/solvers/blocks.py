"""The exact solver for the CPU: blocks are processed by all cores, then joined by their nodes.

A voxel's value is the weakest edge on its path to a seed in the maximum spanning forest of the
edges, so the forest of each block (`block_edges`, `block_trees`), built in the cache of one core,
can replace the block. Only few of its nodes and edges matter outside the block (4 % of the voxels
in noise, fewer elsewhere).
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress, usable_cores

from ..problem import Problem
from ..scene import TOP_LEVEL
from . import Solution, dial
from .block_edges import DEPTH, HEIGHT, WIDTH, Scratch, load_row
from .block_trees import find_root, trees_of_row
from .dial import affinity_tables

SMALL = 1 << 19  # voxels: below, the blocks' threads are not worth their start
# The queue gives up after 1 / 64 of the voxels; it has then cost a fifth of the blocks' time.
QUEUE_LIMIT = 64
POLL_INTERVAL = 0.1  # seconds between two progress callbacks, also while code is compiled
EDGES_PER_SLICE = 1 << 20  # of the nodes, between two progress callbacks
TREES, NODES = 0.9, 0.95  # shares of the progress when the blocks' trees and the nodes are done

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # nodes, other nodes, levels (uint16)


def solve_exact(problem: Problem, progress: Progress) -> Solution:
    """Levels by the bucket queue where few voxels are reached, else by blocks."""
    if problem.voxels.size < SMALL:
        return dial.solve(problem, progress)
    start = 0.0
    if problem.cut_level > 1 or problem.mask is not None:
        found = dial.solve_up_to(problem.voxels.size // QUEUE_LIMIT, problem, progress)
        if found is not None:
            return found
        start = 1 / QUEUE_LIMIT
    return solve(problem, progress.part(start, 1.0))


def solve(problem: Problem, progress: Progress) -> Solution:
    """Levels of the fuzzy scene by blocks."""
    trees, part = Trees(problem), progress.part(TREES, NODES)
    try:
        trees.grow(progress.part(0.0, TREES))
        edges = trees.node_edges(problem.seeds, problem.first_seed_levels, part.part(0.0, 0.3))
        count = trees.node_count
        values = node_values(edges, count, part.part(0.3, 1.0))
        trees.write(values, progress.part(NODES, 1.0))
    finally:
        trees.shut_down()
    # There are two copies of the edges.
    return Solution(trees.levels, 0, trees.nbytes + 20 * edges[0].size + 7 * count)


class Trees:
    """The trees of all blocks: rows of blocks along I, each processed by one thread of a pool.

    `levels` (uint16, K, J, I) are each voxel's upper bound, at last its level; `node_numbers` its
    node in its block, from 1; `first_nodes` the number of the first node of each block, and of all.
    """

    first_nodes: np.ndarray

    def __init__(self, problem: Problem) -> None:
        self._problem, self._pool = problem, ThreadPoolExecutor(usable_cores())
        shape = problem.voxels.shape
        self.levels, self.node_numbers = np.empty(shape, np.uint16), np.empty(shape, np.uint16)
        self._columns = -(-shape[2] // WIDTH)
        self._rows = [(k, j) for k in range(0, shape[0], DEPTH) for j in range(0, shape[1], HEIGHT)]
        self._local = threading.local()
        self._scratches: list[Scratch] = []
        self._edges: list[list[np.ndarray]] = []

    def shut_down(self) -> None:
        """End the threads without waiting; a row that has begun ends in 0.05 s or once compiled."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays but the edges."""
        size = self.levels.nbytes + self.node_numbers.nbytes
        return size + sum(scratch.nbytes for scratch in self._scratches)

    @property
    def node_count(self) -> int:
        """Number of nodes of all blocks."""
        return int(self.first_nodes[-1])

    def _in_parallel(self, work: Callable[[int], Any], progress: Progress) -> list:
        """Results of `work` for the number of each row of blocks."""
        tasks = {self._pool.submit(work, number): number for number in range(len(self._rows))}
        found, waiting = [None] * len(tasks), set(tasks)
        while waiting:
            done, waiting = wait(waiting, POLL_INTERVAL, FIRST_COMPLETED)
            for task in done:
                found[tasks[task]] = task.result()
            progress.advance(1 - len(waiting) / len(tasks))
        return found

    def _scratch(self) -> Scratch:
        """The scratch buffers of this thread."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = Scratch(self._columns)
            self._scratches.append(self._local.scratch)
        return self._local.scratch

    def grow(self, progress: Progress) -> None:
        """Grow the trees of all blocks, and gather their nodes and edges."""
        seeds, tables = self._seeds_by_row(), tuple(affinity_tables(self._problem))
        rows = self._in_parallel(lambda n: self._grow_row(n, seeds[n], tables), progress)
        self.first_nodes = np.cumsum([0, *(n for counts, _ in rows for n in counts)])
        self._edges = [edges for _, edges in rows]
        for number, edges in enumerate(self._edges):
            for nodes in (edges[0], edges[1], edges[3]):
                nodes += np.int32(self.first_nodes[number * self._columns])

    def _seeds_by_row(self) -> list[np.ndarray]:
        """For each row of blocks the seeds' block and number in it, shape (n, 2)."""
        shape = self._problem.voxels.shape
        k, j, i = np.unravel_index(self._problem.seeds, shape)
        rows = k // DEPTH * -(-shape[1] // HEIGHT) + j // HEIGHT
        inside = (k % DEPTH * HEIGHT + j % HEIGHT) * WIDTH + i % WIDTH
        seeds = np.stack([i // WIDTH, inside], axis=1)
        order = np.lexsort((seeds[:, 0], rows))
        bounds = np.searchsorted(rows[order], np.arange(len(self._rows) + 1))
        return [seeds[order[a:b]] for a, b in pairwise(bounds)]

    def _grow_row(self, number: int, seeds: np.ndarray, tables: tuple) -> tuple:
        """Nodes of each block of a row, and its edges as of `Scratch.edges`."""
        problem, scratch, row = self._problem, self._scratch(), self._rows[number]
        mask = np.empty((0, 0, 0), np.uint8) if problem.mask is None else problem.mask
        load_row(problem.voxels, mask, row, *scratch.loaded)
        counts, floor = np.zeros(self._columns, np.int64), max(problem.cut_level, 1)
        inner, outer = trees_of_row(
            scratch.loaded, floor, tables, row, seeds, tuple(scratch.block), scratch.edges,
            counts, self.levels, self.node_numbers,
        )  # fmt: skip
        return counts, [a[:n].copy() for a, n in zip(scratch.edges, 3 * [inner] + 3 * [outer])]

    def nodes_of(self, voxels: np.ndarray) -> np.ndarray:
        """The nodes (int32) of voxels (flat indices); each of the seeds has one of its own."""
        found = np.empty(voxels.size, np.int32)
        nodes_of_voxels(voxels, self.node_numbers, self.first_nodes, found)
        return found

    def node_edges(self, seeds: np.ndarray, levels: np.ndarray, progress: Progress) -> Edges:
        """The edges between nodes, from the strongest down.

        One node more, the source, of the number `node_count`, has an edge of its level to each of
        the seeds (flat indices).
        """
        rows, self._edges = self._edges, []
        ends = self._in_parallel(lambda n: self.nodes_of(rows[n][4]), progress)
        within = [(row[0], row[1], row[2]) for row in rows]
        between = [(row[3], end, row[5]) for row, end in zip(rows, ends)]
        nodes = self.nodes_of(seeds)
        return sorted_by_level(
            [(np.full_like(nodes, self.node_count), nodes, levels), *within, *between]
        )

    def write(self, values: np.ndarray, progress: Progress) -> None:
        """Write the levels of all voxels by those of the nodes."""

        def write_row(number: int) -> None:
            first, table = number * self._columns, self._scratch().table
            first_nodes = self.first_nodes[first : first + self._columns + 1]
            voxels = self.levels, self.node_numbers, self._rows[number]
            write_values(*voxels, first_nodes, values, table)

        self._in_parallel(write_row, progress)


@njit(cache=True, nogil=True)
def nodes_of_voxels(voxels: Any, node_numbers: Any, first_nodes: Any, found: Any) -> None:
    """Write the nodes that voxels (flat indices) belong to."""
    _, height, width = node_numbers.shape
    flat = node_numbers.reshape(-1)
    rows, columns = -(-height // HEIGHT), -(-width // WIDTH)
    for n in range(voxels.size):
        voxel = voxels[n]
        k, j, i = voxel // (height * width), voxel // width % height, voxel % width
        block = (k // DEPTH * rows + j // HEIGHT) * columns + i // WIDTH
        found[n] = first_nodes[block] + flat[voxel] - 1


def sorted_by_level(lists: Sequence[Edges]) -> Edges:
    """The edges of all lists in one, from the strongest down (counting sort)."""
    offsets = np.zeros(TOP_LEVEL + 2, np.int64)
    for _, _, levels in lists:
        counts = np.bincount(levels, minlength=TOP_LEVEL + 1)
        offsets[1:] += counts[::-1]
    offsets = np.cumsum(offsets)
    total, kind = int(offsets[-1]), lists[0][0].dtype
    edges = np.empty(total, kind), np.empty(total, kind), np.empty(total, np.uint16)
    for some in lists:
        scatter_by_level(some, offsets, edges)
    return edges


@njit(cache=True, nogil=True)
def scatter_by_level(edges: Edges, offsets: np.ndarray, sorted_edges: Edges) -> None:
    """Scatter edges; `offsets`: for each level from the highest, the place of its next edge."""
    nodes, others, levels = edges
    sorted_nodes, sorted_others, sorted_levels = sorted_edges
    for n in range(levels.size):
        step = TOP_LEVEL - levels[n]
        at = offsets[step]
        offsets[step] = at + 1
        sorted_nodes[at] = nodes[n]
        sorted_others[at] = others[n]
        sorted_levels[at] = levels[n]


def node_values(edges: Edges, source: int, progress: Progress) -> np.ndarray:
    """The level (uint16) of each node from the source, the last one, by sorted edges."""
    total = edges[0].size
    parent = np.arange(source + 1, dtype=edges[0].dtype)
    connected, values = np.zeros(source + 1, np.uint8), np.zeros(source + 1, np.uint16)
    connected[source], values[source] = 1, TOP_LEVEL
    for first in range(0, total, EDGES_PER_SLICE):
        last = min(first + EDGES_PER_SLICE, total)
        connect_nodes(edges, first, last, parent, connected, values)
        progress.advance(last / total)
    spread_values(parent, values)
    return values


@njit(cache=True, nogil=True)
def connect_nodes(
    edges: Edges, first: int, last: int, parent: Any, connected: Any, values: Any
) -> None:
    """Connect nodes along the edges `first` to `last`, which descend in level.

    Nodes that meet before they are connected with a seed have the same value; they get it when one
    of them meets a node that is.
    """
    nodes, others, levels = edges
    for n in range(first, last):
        here, there = find_root(parent, nodes[n]), find_root(parent, others[n])
        if here == there:
            continue
        if not connected[here] and not connected[there]:
            parent[there] = here
        elif not connected[there]:
            connected[there] = 1
            values[there] = levels[n]
        elif not connected[here]:
            connected[here] = 1
            values[here] = levels[n]


@njit(cache=True, nogil=True)
def spread_values(parent: np.ndarray, values: np.ndarray) -> None:
    """Give every node the value of its union-find root."""
    for node in range(parent.size):
        values[node] = values[find_root(parent, node)]


@njit(cache=True, nogil=True)
def write_values(
    levels: Any, node_numbers: Any, row: Any, first_nodes: Any, values: Any, table: Any
) -> None:
    """Write the values of the voxels of a row of blocks, bounded by what `levels` holds.

    `first_nodes`: of the blocks of the row, and of the block after it. `table` is scratch.
    """
    k0, j0 = row
    depth, height, width = levels.shape
    table[0] = 0
    for block in range(first_nodes.size - 1):
        first = first_nodes[block]
        for node in range(first_nodes[block + 1] - first):
            table[node + 1] = values[first + node]
        i0 = block * WIDTH
        for k in range(k0, min(k0 + DEPTH, depth)):
            for j in range(j0, min(j0 + HEIGHT, height)):
                for i in range(i0, min(i0 + WIDTH, width)):
                    levels[k, j, i] = min(levels[k, j, i], table[node_numbers[k, j, i]])
