"""The exact solver for the CPU: blocks are worked on by all cores, then joined by their nodes.

A voxel's value is the weakest edge on its way to a seed in the maximum spanning forest of the
edges, so the forest of each block, made in the cache of one core, can stand for the block. Of it
only few nodes and edges matter outside of the block (4 % of the voxels in noise, less elsewhere).
"""

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import pairwise

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.threads import usable_cores

from ...affinity.gaussian_affinity import TOP_LEVEL
from . import block_nodes
from .block_edges import (
    ARRAY,
    DEPTH,
    HEIGHT,
    MOST_EDGES,
    PLANE,
    ROW,
    VOXELS,
    WIDTH,
    cut_off,
    edge_levels,
    listed_edges,
    load_region,
    load_row,
    sort_edges,
    strong_along_i,
    strong_along_j,
    strong_along_k,
)
from .block_trees import grow_trees, hook_voxels, make_nodes, write_nothing, write_voxels

LOOK = 0.1  # seconds between two looks at the progress callback, also while code is compiled
EDGES_A_SLICE = 1 << 20  # of the nodes, between two looks at the progress callback
MOST_OUTER = HEIGHT * WIDTH + DEPTH * WIDTH + DEPTH * HEIGHT  # edges that lead on from a block
TREES, NODES = 0.9, 0.95  # shares of the progress when the blocks' trees and the nodes are done


def solve(problem, report):
    """Levels of the fuzzy scene; parameters and results as in `dial.solve`."""
    run, pool = Run(problem), ThreadPoolExecutor(usable_cores())
    try:
        run.grow_trees(pool, lambda share: report(TREES * share))
        run.connect_nodes(pool, lambda share: report(TREES + (NODES - TREES) * share))
        run.give_values(pool, lambda share: report(NODES + (1 - NODES) * share))
    finally:
        # Nobody waits: a row of blocks that has begun ends in 0.05 s, or once it is compiled.
        pool.shutdown(wait=False, cancel_futures=True)
    return run.levels, 0, run.peak_bytes


class Run:
    """One run: rows of blocks along I, each worked on by one thread."""

    def __init__(self, problem):
        self._problem = problem
        shape = problem.voxels.shape
        self.levels = np.empty(shape, np.uint16)
        self._node_numbers = np.empty(shape, np.uint16)
        self._mask = np.empty((0, 0, 0), np.uint8) if problem.mask is None else problem.mask
        self._columns = -(-shape[2] // WIDTH)
        self._rows = [(k, j) for k in range(0, shape[0], DEPTH) for j in range(0, shape[1], HEIGHT)]
        self._seeds = self._seeds_by_row()
        self._local, self._scratches = threading.local(), []
        self._edge_bytes = 0

    @property
    def peak_bytes(self):
        """The most that was held at a time."""
        size = self.levels.nbytes + self._node_numbers.nbytes + self._edge_bytes
        return size + sum(scratch.nbytes for scratch in self._scratches)

    def _seeds_by_row(self):
        """For each row of blocks the seeds' block and number in it, shape (n, 2)."""
        shape = self._problem.voxels.shape
        k, j, i = np.unravel_index(self._problem.seeds, shape)
        rows = k // DEPTH * -(-shape[1] // HEIGHT) + j // HEIGHT
        inside = (k % DEPTH * HEIGHT + j % HEIGHT) * WIDTH + i % WIDTH
        places = np.stack([i // WIDTH, inside], axis=1)
        order = np.lexsort((places[:, 0], rows))
        bounds = np.searchsorted(rows[order], np.arange(len(self._rows) + 1))
        return [places[order[a:b]] for a, b in pairwise(bounds)]

    def _scratch(self):
        """The working memory of this thread."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = Scratch(self._columns)
            self._scratches.append(self._local.scratch)
        return self._local.scratch

    def _in_parallel(self, pool, work, report):
        """What `work` returns for the number of each row of blocks."""
        tasks = {pool.submit(work, number): number for number in range(len(self._rows))}
        found, waiting = [None] * len(tasks), set(tasks)
        while waiting:
            done, waiting = wait(waiting, LOOK, FIRST_COMPLETED)
            for task in done:
                found[tasks[task]] = task.result()
            report(1 - len(waiting) / len(tasks))
        return found

    def grow_trees(self, pool, report):
        """Grow the trees of all blocks, and gather their nodes and edges."""
        parts = self._in_parallel(pool, self._trees_of_row, report)
        firsts = np.cumsum([0] + [part.counts.sum() for part in parts])
        for part, first in zip(parts, firsts):
            part.shift(np.int32(first))
        counts = np.concatenate([part.counts for part in parts])
        self._first_nodes = np.concatenate([[0], np.cumsum(counts)])
        self._parts = parts

    def _trees_of_row(self, number):
        problem, scratch = self._problem, self._scratch()
        counts = np.zeros(self._columns, np.int64)
        seed_places = self._seeds[number]
        row = self._rows[number]
        load_row(problem.voxels, self._mask, *row, *scratch.loaded)
        inner, outer = trees_of_row(
            *scratch.loaded, max(problem.cut_level, 1), *problem.tables,
            problem.affinity.coefficients(), row, seed_places, *scratch.of_block,
            *scratch.of_row, counts, self.levels, self._node_numbers,
        )  # fmt: skip
        seeds = seed_nodes(seed_places[:, 0], np.cumsum(counts) - counts)
        return Part(counts, seeds, *scratch.taken(inner, outer))

    def connect_nodes(self, pool, report):
        """Find the value of every node."""
        self._in_parallel(pool, self._find_ends, lambda share: report(0.3 * share))
        seeds = np.concatenate([part.seeds for part in self._parts])
        edges = self._sorted_edges(lambda: report(0.3))
        total, count = edges[0].size, int(self._first_nodes[-1])
        parent, connected = np.arange(count, dtype=np.int32), np.zeros(count, np.uint8)
        self._values = np.zeros(count, np.uint16)
        connected[seeds] = 1
        self._values[seeds] = TOP_LEVEL
        self._edge_bytes = 20 * total + 7 * count  # the edges are there twice
        for first in range(0, total, EDGES_A_SLICE):
            last = min(first + EDGES_A_SLICE, total)
            block_nodes.connect_nodes(*edges, first, last, parent, connected, self._values)
            report(0.3 + 0.7 * last / total)
        block_nodes.spread_values(parent, self._values)

    def _sorted_edges(self, look):
        """Nodes, other nodes and levels of all edges by falling level; the parts are given up."""
        parts, self._parts = self._parts, None
        places = np.zeros(TOP_LEVEL + 2, np.int64)
        for part in parts:
            for levels in part.edge_levels:
                block_nodes.count_by_level(levels, places)
        places = np.cumsum(places)
        total = int(places[-1])
        edges = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.uint16)
        for part in parts:
            for nodes, others, levels in part.edges():
                block_nodes.place_by_level(nodes, others, levels, places, *edges)
            look()
        return edges

    def _find_ends(self, number):
        part = self._parts[number]
        part.outer_to = np.empty(part.outer_voxels.size, np.int32)
        block_nodes.nodes_of_voxels(
            part.outer_voxels, self._node_numbers, self._first_nodes, part.outer_to
        )

    def give_values(self, pool, report):
        """Write the value of every voxel."""
        self._in_parallel(pool, self._values_of_row, report)

    def _values_of_row(self, number):
        first = number * self._columns
        block_nodes.give_values(
            self.levels, self._node_numbers, *self._rows[number],
            self._first_nodes[first : first + self._columns + 1], self._values,
            self._scratch().table,
        )  # fmt: skip


class Scratch:
    """Working memory of one thread: of a block in its cache, and for what a row of blocks gives."""

    def __init__(self, columns):
        around = DEPTH + 2, HEIGHT + 2, columns * WIDTH + 2
        self.loaded = np.empty(around, np.float32), np.empty(around, np.uint8)
        self.of_block = (
            np.zeros(ARRAY, np.float32),  # intensities of the region
            np.zeros(ARRAY, np.uint8),  # where there are any
            np.zeros((3, ARRAY), np.uint16),  # levels of the edges along I, J, K
            np.zeros((3, ARRAY), np.uint16),  # of those that matter
            np.empty(MOST_EDGES + 1, np.uint32),
            np.empty(MOST_EDGES + 1, np.uint32),
            np.empty((2, 256), np.int32),
            np.zeros(VOXELS + 1, np.uint16),
            np.empty(VOXELS, np.uint16),
            np.empty(VOXELS, np.int32),
        )
        inner, outer = columns * VOXELS, columns * MOST_OUTER
        self.of_row = (
            *(np.empty(inner, np.int32), np.empty(inner, np.int32), np.empty(inner, np.uint16)),
            *(np.empty(outer, np.int32), np.empty(outer, np.int64), np.empty(outer, np.uint16)),
        )
        self.table = np.empty(VOXELS + 1, np.uint16)

    @property
    def nbytes(self):
        """Bytes of all arrays."""
        arrays = (*self.loaded, *self.of_block, *self.of_row, self.table)
        return sum(array.nbytes for array in arrays)

    def taken(self, inner, outer):
        """Copies of what the last row of blocks gave."""
        return [a[:n].copy() for a, n in zip(self.of_row, 3 * [inner] + 3 * [outer])]


class Part:
    """Nodes and edges of one row of blocks."""

    def __init__(self, counts, seeds, inner_from, inner_to, inner_levels, outer_from, outer_voxels,
                 outer_levels):  # fmt: skip
        self.counts, self.seeds = counts, seeds
        self._inner = inner_from, inner_to
        self._outer_from, self.outer_voxels, self.outer_to = outer_from, outer_voxels, None
        self.edge_levels = inner_levels, outer_levels

    def shift(self, first):
        """Number the nodes from `first` on."""
        for nodes in (self.seeds, *self._inner, self._outer_from):
            nodes += first

    def edges(self):
        """Nodes, other nodes and levels, within blocks and between them."""
        yield *self._inner, self.edge_levels[0]
        yield self._outer_from, self.outer_to, self.edge_levels[1]


def seed_nodes(blocks, first_of_block):
    """Number of the node of each seed, from the blocks that the seeds lie in, which rise."""
    rank = np.arange(blocks.size) - np.searchsorted(blocks, blocks)
    return (first_of_block[blocks] + rank).astype(np.int32)


@njit(cache=True, nogil=True)
def trees_of_row(
    intensities, valid, floor, sum_table, difference_table, lowest_sum, coefficients, row, seeds,
    region, region_valid, along, strong, edges, spare, places, parent, limit, node_parent,
    inner_from, inner_to, inner_level, outer_from, outer_to, outer_level,
    counts, levels, node_numbers,
):  # fmt: skip
    """Grow the trees of a row of blocks.

    Returns
    -------
    inner, outer : int
        How many edges there are within the blocks and between them.
    """
    _, height, width = levels.shape
    strides = np.array([1, width, width * height])
    inner, outer, first_node, next_seed = 0, 0, 0, 0
    tables = (sum_table, difference_table, lowest_sum, coefficients)
    for block in range(counts.size):
        corner = (row[0], row[1], block * WIDTH)
        if load_region(intensities, valid, corner[2], region, region_valid) == 0:
            write_nothing(corner, levels, node_numbers)
            continue
        edge_levels(region, 1, floor, *tables, along[0])
        edge_levels(region, ROW, floor, *tables, along[1])
        edge_levels(region, PLANE, floor, *tables, along[2])
        cut_off(along[0], along[1], along[2], region_valid)
        strong_along_i(along[0], along[1], along[2], strong[0])
        strong_along_j(along[0], along[1], along[2], strong[1])
        strong_along_k(along[0], along[1], along[2], strong[2])
        first_seed = next_seed
        while next_seed < seeds.shape[0] and seeds[next_seed, 0] == block:
            next_seed += 1
        seeds_here = seeds[first_seed:next_seed, 1]
        hook_voxels(strong, seeds_here, parent, limit)
        count = listed_edges(strong, parent, edges)
        sort_edges(edges, count, spare, places)
        nodes = make_nodes(seeds_here, parent, limit, node_parent)
        origin = (corner[0] * height + corner[1]) * width + corner[2]
        nodes, inner, outer = grow_trees(
            edges, count, parent, limit, node_parent, nodes, first_node, origin, strides,
            inner_from, inner_to, inner_level, inner, outer_from, outer_to, outer_level, outer,
        )  # fmt: skip
        write_voxels(parent, limit, corner, levels, node_numbers)
        counts[block] = nodes
        first_node += nodes
    return inner, outer
