"""The maximum spanning forest of a block, and the nodes by which it meets other blocks.

After Boruvka's first round (`components`) a voxel has the value of its component, but at most the
level of its best edge. Then the edges between components are processed from the strongest down
(Kruskal). Two components that meet before any edge led out of the block from them have one value. A
component with an edge out of the block, or with a seed, is a node: its value is found later, in the
graph of all blocks' nodes. A component that meets a node along an edge of level L is attached to
it: it has the node's value, but at most L.
"""

from typing import Any

import numpy as np
from numba import njit

from ....affinity import TOP_LEVEL
from .components import FIRST_NODE, component_root
from .edge_list import FROM_BEFORE
from .scratch import DEPTH, HEIGHT, VOXELS, WIDTH, BlockBuffers, RowEdges

# Bits of a voxel's number that are all set where an edge along the axis leaves the block; for edges
# from before the block, always.
LEAVING = np.array([WIDTH - 1, (HEIGHT - 1) * WIDTH, (DEPTH - 1) * HEIGHT * WIDTH, 0], np.uint32)
STEPS = np.array([1, WIDTH, HEIGHT * WIDTH, 0], np.uint32)


@njit(cache=True, nogil=True)
def make_seed_nodes(seeds: np.ndarray, block: BlockBuffers) -> int:
    """Make the seeds nodes; returns their number."""
    for node in range(seeds.size):
        block.parent[seeds[node]] = VOXELS + node
        block.limit[seeds[node]] = TOP_LEVEL
        block.node_parent[node] = node
    return seeds.size


@njit(cache=True, nogil=True)
def find_root(parent: np.ndarray, node: Any) -> Any:
    """The union-find root of a node; halves the path."""
    above = parent[node]
    while above != node:
        parent[node] = parent[above]
        node = parent[above]
        above = parent[node]
    return node


@njit(cache=True, nogil=True)
def grow_trees(
    block: BlockBuffers,
    count: int,
    nodes: int,
    first_node: int,
    origin: int,
    strides: np.ndarray,
    row: RowEdges,
    inner: int,
    outer: int,
) -> tuple[int, int, int]:
    """Join the components of a block along its sorted edges (Kruskal).

    Parameters
    ----------
    block : BlockBuffers
        `edges` has been sorted; `parent`, `limit` and `node_parent` are updated.
    count : int
        Number of edges.
    nodes : int
        Number of nodes made before.
    first_node : int
        Number of the block's first node among those of its row of blocks.
    origin, strides
        Flat index of the block's first voxel in the volume; strides along I, J, K.
    row : RowEdges
        Receives edges; `inner` and `outer` of them have been written before.

    Returns
    -------
    nodes, inner, outer : int
    """
    parent, limit, node_parent = block.parent, block.limit, block.node_parent
    inner_from, inner_to, inner_level, outer_from, outer_to, outer_level = row
    for n in range(count):
        level, axis, voxel = parts_of(block.edges[n])
        component = component_root(parent, voxel)
        node = np.uint32(parent[component])
        if (voxel & LEAVING[axis]) == LEAVING[axis]:
            if node < FIRST_NODE:
                node = FIRST_NODE + np.uint32(nodes)
                parent[component] = node
                node_parent[nodes] = nodes
                nodes += 1
            if axis != FROM_BEFORE:
                outer_from[outer] = first_node + np.int64(node - FIRST_NODE)
                outer_to[outer] = origin + offset_of(voxel, strides) + strides[axis]
                outer_level[outer] = level
                outer += 1
            continue
        other = component_root(parent, voxel + STEPS[axis])
        if component == other:
            continue
        other_node = np.uint32(parent[other])
        if node < FIRST_NODE:
            parent[component] = other if other_node < FIRST_NODE else other_node
            limit[component] = level
        elif other_node < FIRST_NODE:
            parent[other] = node
            limit[other] = level
        elif node != other_node:
            here = find_root(node_parent, np.int64(node - FIRST_NODE))
            there = find_root(node_parent, np.int64(other_node - FIRST_NODE))
            if here != there:
                node_parent[there] = here
                inner_from[inner] = first_node + np.int64(node - FIRST_NODE)
                inner_to[inner] = first_node + np.int64(other_node - FIRST_NODE)
                inner_level[inner] = level
                inner += 1
    return nodes, inner, outer


@njit(cache=True, nogil=True, inline="always")
def parts_of(edge: Any) -> tuple[Any, Any, Any]:
    """Level, axis and first voxel of an edge, which is one number."""
    level = np.uint16(np.uint32(TOP_LEVEL) - (edge >> np.uint32(16)))
    return level, (edge >> np.uint32(14)) & np.uint32(3), edge & np.uint32(VOXELS - 1)


@njit(cache=True, nogil=True)
def offset_of(voxel: Any, strides: np.ndarray) -> Any:
    """Flat offset in the volume from the block's first voxel."""
    voxel = np.int64(voxel)
    k, j, i = voxel // (HEIGHT * WIDTH), voxel // WIDTH % HEIGHT, voxel % WIDTH
    return i * strides[0] + j * strides[1] + k * strides[2]


@njit(cache=True, nogil=True)
def write_voxels(
    block: BlockBuffers,
    corner: tuple[int, int, int],
    levels: np.ndarray,
    node_numbers: np.ndarray,
) -> None:
    """Write each voxel's node (from 1, 0: none) and the upper bound of its value."""
    parent, limit = block.parent, block.limit
    depth, height, width = levels.shape
    k0, j0, i0 = corner
    for k in range(min(DEPTH, depth - k0)):
        for j in range(min(HEIGHT, height - j0)):
            for i in range(min(WIDTH, width - i0)):
                voxel = np.uint32((k * HEIGHT + j) * WIDTH + i)
                root = component_root(parent, voxel)
                node = np.uint32(parent[root])
                has_node = node >= FIRST_NODE
                bound = min(limit[voxel], limit[root])
                number = np.uint16(node - FIRST_NODE + np.uint32(1))
                node_numbers[k0 + k, j0 + j, i0 + i] = number if has_node else np.uint16(0)
                levels[k0 + k, j0 + j, i0 + i] = bound if has_node else np.uint16(0)


@njit(cache=True, nogil=True)
def clear_voxels(
    corner: tuple[int, int, int], levels: np.ndarray, node_numbers: np.ndarray
) -> None:
    """Write that no voxel of a block belongs to a node."""
    k0, j0, i0 = corner
    levels[k0 : k0 + DEPTH, j0 : j0 + HEIGHT, i0 : i0 + WIDTH] = 0
    node_numbers[k0 : k0 + DEPTH, j0 : j0 + HEIGHT, i0 : i0 + WIDTH] = 0
