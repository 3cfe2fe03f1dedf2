"""The maximum spanning forest of a block, and the nodes by which it meets other blocks.

Each voxel first hooks onto the neighbour along its best edge (Boruvka's first round): it has the
value of its component, but at most the level of its best edge. Then the edges between components
are processed from the strongest down (Kruskal). Two components that meet before any edge led out of
the block from them have one value. A component with an edge out of the block, or with a seed, is a
node: its value is found later, in the graph of all blocks' nodes. A component that meets a node
along an edge of level L is attached to it: it has the node's value, but at most L.
"""

from typing import Any

import numpy as np
from numba import njit

from ..scene import TOP_LEVEL
from .block_edges import (
    DEPTH,
    FIRST,
    FROM_BEFORE,
    HEIGHT,
    PLANE,
    ROW,
    VOXELS,
    WIDTH,
    BlockBuffers,
    find_edges,
    list_edges,
    sort_edges,
)
from .dial import AffinityTables

JUMPS = 2  # pointer jumps of all voxels; most then point to their root
FIRST_NODE = np.uint32(VOXELS)  # in `parent`: from here on nodes, below it voxels
# Bits of a voxel's number that are all set where an edge along the axis leaves the block; for edges
# from before the block, always.
LEAVING = np.array([WIDTH - 1, (HEIGHT - 1) * WIDTH, (DEPTH - 1) * HEIGHT * WIDTH, 0], np.uint32)
STEPS = np.array([1, WIDTH, HEIGHT * WIDTH, 0], np.uint32)


@njit(cache=True, nogil=True)
def trees_of_row(
    loaded: tuple, floor: int, affinity: tuple, row: tuple, seeds: Any, block_buffers: tuple,
    edges: tuple, counts: Any, levels: Any, node_numbers: Any,
) -> tuple[int, int]:  # fmt: skip
    """Grow the trees of a row of blocks; returns how many edges lie within blocks and between them.

    Of each voxel the node in its block (from 1, 0: none) and the upper bound of its value are
    written, and `counts`, the nodes of each block. `AffinityTables` and `BlockBuffers` come as
    plain tuples: numba determines the type of a named tuple anew at each call, 0.3 ms.
    """
    tables, block = AffinityTables(*affinity), BlockBuffers(*block_buffers)
    _, height, width = levels.shape
    strides = np.array([1, width, width * height])
    inner, outer, first_node, next_seed = 0, 0, 0, 0
    for number in range(counts.size):
        k0, j0, i0 = row[0], row[1], number * WIDTH
        if not find_edges(block, loaded, i0, floor, tables):
            levels[k0 : k0 + DEPTH, j0 : j0 + HEIGHT, i0 : i0 + WIDTH] = 0
            node_numbers[k0 : k0 + DEPTH, j0 : j0 + HEIGHT, i0 : i0 + WIDTH] = 0
            continue
        first_seed = next_seed
        while next_seed < seeds.shape[0] and seeds[next_seed, 0] == number:
            next_seed += 1
        own_seeds = seeds[first_seed:next_seed, 1]
        hook_voxels(block.strong, own_seeds, block.parent, block.limit)
        count = list_edges(block.strong, block.parent, block.edges)
        sort_edges(block.edges, count, block.spare, block.offsets)
        for node in range(own_seeds.size):
            block.parent[own_seeds[node]] = VOXELS + node
            block.limit[own_seeds[node]] = TOP_LEVEL
            block.node_parent[node] = node
        origin = (k0 * height + j0) * width + i0
        nodes, inner, outer = grow_trees(
            block, count, own_seeds.size, first_node, origin, strides, edges, inner, outer
        )
        write_voxels(block, (k0, j0, i0), levels, node_numbers)
        counts[number] = nodes
        first_node += nodes
    return inner, outer


@njit(cache=True, nogil=True)
def hook_voxels(strong: Any, seeds: Any, parent: Any, limit: Any) -> None:
    """Hook every voxel onto the neighbour along its best edge, whose level is its `limit`.

    Seeds (numbers of voxels) are not hooked, nor are voxels whose best edge leads out of the block.
    """
    for k in range(DEPTH):
        for j in range(HEIGHT):
            row = (k * HEIGHT + j) * WIDTH
            find_best_neighbours(strong[0], strong[1], strong[2], k, j, parent, limit, row)
    for voxel in seeds:
        parent[voxel] = voxel
    for voxel in range(VOXELS):
        other = parent[voxel]
        is_first = (parent[other] == voxel) & (voxel < other)
        parent[voxel] = voxel if is_first else other
    for _ in range(JUMPS):
        for voxel in range(VOXELS):
            parent[voxel] = parent[parent[voxel]]


@njit(cache=True, nogil=True)
def find_best_neighbours(
    along_i: Any, along_j: Any, along_k: Any, k: int, j: int, parent: Any, limit: Any, row: int
) -> None:
    """For a row of voxels the level of the best edge, and the voxel of the block that it leads to.

    Among equal levels the last edge by axis and position is the best, so that no cycle can form.
    The axes are three arguments: from one array the loop would not be vectorized.
    """
    at = FIRST + (k + 1) * PLANE + (j + 1) * ROW + 1
    plane = HEIGHT * WIDTH
    below = np.int32(-plane if k > 0 else 0)
    above = np.int32(plane if k < DEPTH - 1 else 0)
    before = np.int32(-WIDTH if j > 0 else 0)
    behind = np.int32(WIDTH if j < HEIGHT - 1 else 0)
    for i in range(WIDTH):
        x = at + i
        best, step = along_k[x], above
        other = along_k[x - PLANE]
        step = below if other > best else step
        best = max(best, other)
        other = along_j[x]
        step = behind if other > best else step
        best = max(best, other)
        other = along_j[x - ROW]
        step = before if other > best else step
        best = max(best, other)
        other = along_i[x]
        step = np.int32(1) if other > best else step
        best = max(best, other)
        other = along_i[x - 1]
        step = np.int32(-1) if other > best else step
        best = max(best, other)
        limit[row + i] = best
        parent[row + i] = np.uint16(row + i + (step if best > 0 else 0))
    if parent[row] == np.uint16(row - 1):
        parent[row] = row
    if parent[row + WIDTH - 1] == row + WIDTH:
        parent[row + WIDTH - 1] = row + WIDTH - 1


@njit(cache=True, nogil=True)
def component_root(parent: np.ndarray, voxel: Any) -> Any:
    """The voxel that represents a voxel's component; compresses the path."""
    above = np.uint32(parent[voxel])
    while above != voxel and above < FIRST_NODE:
        next_above = np.uint32(parent[above])
        if next_above >= FIRST_NODE:
            return above
        parent[voxel] = next_above
        voxel = next_above
        above = np.uint32(parent[voxel])
    return voxel


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
    block: BlockBuffers, count: int, nodes: int, first_node: int, origin: int, strides: Any,
    edges: tuple, inner: int, outer: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Join the components of a block along its sorted edges (Kruskal).

    `count` edges; `nodes` were made before; `first_node` is the number of the block's first node in
    its row of blocks, `origin` the flat index of its first voxel; `inner` and `outer` of `edges`
    have been written before. Returns nodes, inner and outer.
    """
    parent, limit, node_parent = block.parent, block.limit, block.node_parent
    inner_from, inner_to, inner_level, outer_from, outer_to, outer_level = edges
    for n in range(count):
        edge = block.edges[n]
        level = np.uint16(np.uint32(TOP_LEVEL) - (edge >> np.uint32(16)))
        axis, voxel = (edge >> np.uint32(14)) & np.uint32(3), edge & np.uint32(VOXELS - 1)
        component = component_root(parent, voxel)
        node = np.uint32(parent[component])
        if (voxel & LEAVING[axis]) == LEAVING[axis]:
            if node < FIRST_NODE:
                node = FIRST_NODE + np.uint32(nodes)
                parent[component] = node
                node_parent[nodes] = nodes
                nodes += 1
            if axis != FROM_BEFORE:
                v = np.int64(voxel)
                k, j, i = v // (HEIGHT * WIDTH), v // WIDTH % HEIGHT, v % WIDTH
                offset = i * strides[0] + j * strides[1] + k * strides[2]
                outer_from[outer] = first_node + np.int64(node - FIRST_NODE)
                outer_to[outer] = origin + offset + strides[axis]
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


@njit(cache=True, nogil=True)
def write_voxels(block: BlockBuffers, corner: tuple, levels: Any, node_numbers: Any) -> None:
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
