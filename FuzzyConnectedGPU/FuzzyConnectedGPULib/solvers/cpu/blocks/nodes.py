"""The graph of all blocks' nodes: its edges from the strongest down, then the voxels' values."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from ....affinity import TOP_LEVEL
from .scratch import DEPTH, HEIGHT, WIDTH
from .trees import find_root

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # nodes, other nodes (int32), levels (uint16)


@njit(cache=True, nogil=True)
def nodes_of_voxels(
    voxels: np.ndarray, node_numbers: np.ndarray, first_nodes: np.ndarray, found: np.ndarray
) -> None:
    """Write the nodes that voxels (flat indices) belong to.

    Parameters
    ----------
    voxels : ndarray of int
    node_numbers : ndarray, uint16, shape (K, J, I)
        Number of each voxel's node in its block, from 1.
    first_nodes : ndarray of int
        Number of the first node of each block.
    found : ndarray, int32
    """
    _, height, width = node_numbers.shape
    flat = node_numbers.reshape(-1)
    rows, columns = -(-height // HEIGHT), -(-width // WIDTH)
    for n in range(voxels.size):
        voxel = voxels[n]
        k, j, i = voxel // (height * width), voxel // width % height, voxel % width
        block = (k // DEPTH * rows + j // HEIGHT) * columns + i // WIDTH
        found[n] = first_nodes[block] + flat[voxel] - 1


def sorted_by_level(lists: Sequence[Edges]) -> Edges:
    """The edges of all lists in one, from the strongest down."""
    offsets = np.zeros(TOP_LEVEL + 2, np.int64)
    for _, _, levels in lists:
        count_by_level(levels, offsets)
    offsets = np.cumsum(offsets)
    total = int(offsets[-1])
    edges = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.uint16)
    for some in lists:
        scatter_by_level(some, offsets, edges)
    return edges


@njit(cache=True, nogil=True)
def count_by_level(levels: np.ndarray, counts: np.ndarray) -> None:
    """Count edges: those of level 65535 in counts[1], those of level 65534 in counts[2], ..."""
    for n in range(levels.size):
        counts[TOP_LEVEL - levels[n] + 1] += 1


@njit(cache=True, nogil=True)
def scatter_by_level(
    edges: Edges,
    offsets: np.ndarray,
    sorted_edges: Edges,
) -> None:
    """Scatter edges (nodes, other nodes, levels) in descending order of level (counting sort).

    `offsets`: for each level, counted from the highest, the position of its next edge.
    """
    nodes, others, levels = edges
    sorted_nodes, sorted_others, sorted_levels = sorted_edges
    for n in range(levels.size):
        step = TOP_LEVEL - levels[n]
        at = offsets[step]
        offsets[step] = at + 1
        sorted_nodes[at] = nodes[n]
        sorted_others[at] = others[n]
        sorted_levels[at] = levels[n]


@njit(cache=True, nogil=True)
def connect_nodes(
    edges: Edges,
    first: int,
    last: int,
    parent: np.ndarray,
    connected: np.ndarray,
    values: np.ndarray,
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
    levels: np.ndarray,
    node_numbers: np.ndarray,
    row: tuple[int, int],
    first_nodes: np.ndarray,
    values: np.ndarray,
    table: np.ndarray,
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
