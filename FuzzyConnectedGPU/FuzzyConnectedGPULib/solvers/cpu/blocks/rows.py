"""A row of blocks along I: from its voxels to nodes, and the edges between them."""

from collections.abc import Iterator

import numpy as np
from numba import njit

from ..affinity_levels import AffinityTables
from .components import hook_voxels
from .edge_list import list_edges, sort_edges
from .edges import (
    cut_off,
    edge_levels,
    load_region,
    strong_along_i,
    strong_along_j,
    strong_along_k,
)
from .scratch import PLANE, ROW, WIDTH, BlockBuffers, LoadedRow, RowEdges
from .trees import clear_voxels, grow_trees, make_seed_nodes, write_voxels


class RowGraph:
    """Nodes and edges of one row of blocks.

    Attributes
    ----------
    counts : ndarray of int
        Number of nodes of each block.
    outer_voxels : ndarray, int64
        Voxels that the edges to later blocks lead to.
    outer_to : ndarray, int32, or None
        Their nodes, once they are known.
    """

    def __init__(self, counts: np.ndarray, edges: list[np.ndarray]) -> None:
        self.counts = counts
        inner_from, inner_to, inner_levels, outer_from, self.outer_voxels, outer_levels = edges
        self._inner, self._outer_from = (inner_from, inner_to), outer_from
        self.outer_to: np.ndarray | None = None
        self.edge_levels = inner_levels, outer_levels

    def shift(self, first: np.int32) -> None:
        """Number the nodes from `first` on."""
        for nodes in (*self._inner, self._outer_from):
            nodes += first

    def edges(self) -> Iterator[tuple]:
        """Nodes, other nodes and levels, within blocks and between them."""
        yield *self._inner, self.edge_levels[0]
        yield self._outer_from, self.outer_to, self.edge_levels[1]


@njit(cache=True, nogil=True)
def find_edges(
    buffers: BlockBuffers, loaded: LoadedRow, i0: int, floor: int, tables: AffinityTables
) -> bool:
    """Write the edges that a block's widest paths need; False if it has no valid voxel."""
    region, along, strong = buffers.region, buffers.along, buffers.strong
    if load_region(loaded, i0, region, buffers.valid) == 0:
        return False
    edge_levels(region, 1, floor, tables, along[0])
    edge_levels(region, ROW, floor, tables, along[1])
    edge_levels(region, PLANE, floor, tables, along[2])
    cut_off(along[0], along[1], along[2], buffers.valid)
    strong_along_i(along[0], along[1], along[2], strong[0])
    strong_along_j(along[0], along[1], along[2], strong[1])
    strong_along_k(along[0], along[1], along[2], strong[2])
    return True


@njit(cache=True, nogil=True)
def trees_of_row(
    loaded_row: tuple,
    floor: int,
    affinity_tables: tuple,
    row: tuple[int, int],
    seeds: np.ndarray,
    block_buffers: tuple,
    row_edges: tuple,
    counts: np.ndarray,
    levels: np.ndarray,
    node_numbers: np.ndarray,
) -> tuple[int, int]:
    """Grow the trees of a row of blocks.

    `LoadedRow`, `AffinityTables`, `BlockBuffers` and `RowEdges` are passed as plain tuples: numba
    determines the type of a named tuple anew at each call, which takes 0.3 ms.

    Returns
    -------
    inner, outer : int
        Number of edges within the blocks and between them.
    """
    loaded, tables = LoadedRow(*loaded_row), AffinityTables(*affinity_tables)
    buffers, edges = BlockBuffers(*block_buffers), RowEdges(*row_edges)
    _, height, width = levels.shape
    strides = np.array([1, width, width * height])
    inner, outer, first_node, next_seed = 0, 0, 0, 0
    for block in range(counts.size):
        corner = (row[0], row[1], block * WIDTH)
        if not find_edges(buffers, loaded, corner[2], floor, tables):
            clear_voxels(corner, levels, node_numbers)
            continue
        first_seed = next_seed
        while next_seed < seeds.shape[0] and seeds[next_seed, 0] == block:
            next_seed += 1
        block_seeds = seeds[first_seed:next_seed, 1]
        hook_voxels(buffers.strong, block_seeds, buffers.parent, buffers.limit)
        count = list_edges(buffers.strong, buffers.parent, buffers.edges)
        sort_edges(buffers.edges, count, buffers.spare, buffers.offsets)
        nodes = make_seed_nodes(block_seeds, buffers)
        origin = (corner[0] * height + corner[1]) * width + corner[2]
        nodes, inner, outer = grow_trees(
            buffers, count, nodes, first_node, origin, strides, edges, inner, outer
        )
        write_voxels(buffers, corner, levels, node_numbers)
        counts[block] = nodes
        first_node += nodes
    return inner, outer
