"""What one block can say of its voxels without the rest of the volume.

First every voxel hooks on its best neighbour (Boruvka). What hangs together is a piece: a voxel has
the value of its piece, but at most the level of its own best edge.

Then the edges between pieces are taken from the strongest down (Kruskal). Two pieces that meet
before any edge led out of the block from them have one value. A piece that an edge leads out of, or
that holds a seed, is a node: its value is found later, among the nodes of all blocks. A piece that
meets a node by an edge of level L hangs on it: it has the node's value, but at most L.
"""

import numpy as np
from numba import njit

from ...affinity.gaussian_affinity import TOP_LEVEL
from .block_edges import DEPTH, FIRST, FROM_BEFORE, HEIGHT, PLANE, ROW, VOXELS, WIDTH

# Which bits of a voxel's number are all set where an edge along the axis leaves the block; for
# edges from before the block, always.
LEAVING = np.array([WIDTH - 1, (HEIGHT - 1) * WIDTH, (DEPTH - 1) * HEIGHT * WIDTH, 0], np.uint32)
STEPS = np.array([1, WIDTH, HEIGHT * WIDTH, 0], np.uint32)
SHORTENINGS = 2  # of all voxels' ways to their pieces; most are then at their ends
FIRST_NODE = np.uint32(VOXELS)  # in `parent`: from here on nodes, below it voxels


@njit(cache=True, nogil=True)
def hook_voxels(strong, seeds, parent, limit):
    """Hook every voxel on the neighbour that its best edge leads to (Boruvka's first round).

    A voxel has the value of its piece, but at most the level of its best edge. Seeds (numbers of
    voxels) hook on nothing, nor do voxels whose best edge leads out of the block.

    Parameters
    ----------
    strong : ndarray, uint16, shape (3, ARRAY)
    seeds : ndarray of int
    parent : ndarray, uint16, shape (VOXELS,)
        Receives the voxel that stands for each voxel's piece.
    limit : ndarray, uint16, shape (VOXELS,)
        Receives the level of each voxel's best edge.
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
    for _ in range(SHORTENINGS):
        for voxel in range(VOXELS):
            parent[voxel] = parent[parent[voxel]]


@njit(cache=True, nogil=True)
def find_best_neighbours(along_i, along_j, along_k, k, j, parent, limit, row):
    """For a row of voxels the level of the best edge, and where it leads within the block.

    Among equal levels the last edge by axis and place is the best, so that no ring can close.
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
def make_nodes(seeds, parent, limit, node_parent):
    """Make the seeds nodes; returns how many there are."""
    for node in range(seeds.size):
        parent[seeds[node]] = VOXELS + node
        limit[seeds[node]] = TOP_LEVEL
        node_parent[node] = node
    return seeds.size


@njit(cache=True, nogil=True)
def piece_of(parent, voxel):
    """The voxel that stands for a voxel's piece; shortens the way on its walk."""
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
def root_of(parent, node):
    """The node that stands for all nodes which are connected with one."""
    above = parent[node]
    while above != node:
        parent[node] = parent[above]
        node = parent[above]
        above = parent[node]
    return node


@njit(cache=True, nogil=True)
def grow_trees(
    edges, count, parent, limit, node_parent, nodes, first_node, origin, strides,
    inner_from, inner_to, inner_level, inner, outer_from, outer_to, outer_level, outer,
):  # fmt: skip
    """Join the pieces of a block by its sorted edges.

    Parameters
    ----------
    edges, count
        From `listed_edges`, sorted.
    parent : ndarray, uint16
        For each voxel another one of its piece, itself, or `FIRST_NODE` + node.
    limit : ndarray, uint16
        The highest value of the piece that a voxel stands for, where it hangs on a node.
    node_parent : ndarray, int32
    nodes : int
        That there are already.
    first_node : int
        Number of the block's first node among those of its row of blocks.
    origin, strides
        Flat index of the block's first voxel in the volume; of steps along I, J, K.
    inner_*, outer_* : ndarrays
        Receive edges between two nodes of the block, and from a node to a voxel of a block
        further on; `inner` and `outer` of them are there already.

    Returns
    -------
    nodes, inner, outer : int
    """
    for n in range(count):
        edge = edges[n]
        level = np.uint16(np.uint32(TOP_LEVEL) - (edge >> np.uint32(16)))
        axis = (edge >> np.uint32(14)) & np.uint32(3)
        voxel = edge & np.uint32(VOXELS - 1)
        piece = piece_of(parent, voxel)
        node = np.uint32(parent[piece])
        if (voxel & LEAVING[axis]) == LEAVING[axis]:
            if node < FIRST_NODE:
                node = FIRST_NODE + np.uint32(nodes)
                parent[piece] = node
                node_parent[nodes] = nodes
                nodes += 1
            if axis != FROM_BEFORE:
                outer_from[outer] = first_node + np.int64(node - FIRST_NODE)
                outer_to[outer] = origin + place_of(voxel, strides) + strides[axis]
                outer_level[outer] = level
                outer += 1
            continue
        other = piece_of(parent, voxel + STEPS[axis])
        if piece == other:
            continue
        other_node = np.uint32(parent[other])
        if node < FIRST_NODE:
            parent[piece] = other if other_node < FIRST_NODE else other_node
            limit[piece] = level
        elif other_node < FIRST_NODE:
            parent[other] = node
            limit[other] = level
        elif node != other_node:
            here = root_of(node_parent, np.int64(node - FIRST_NODE))
            there = root_of(node_parent, np.int64(other_node - FIRST_NODE))
            if here != there:
                node_parent[there] = here
                inner_from[inner] = first_node + np.int64(node - FIRST_NODE)
                inner_to[inner] = first_node + np.int64(other_node - FIRST_NODE)
                inner_level[inner] = level
                inner += 1
    return nodes, inner, outer


@njit(cache=True, nogil=True)
def place_of(voxel, strides):
    """Flat distance in the volume from the block's first voxel."""
    voxel = np.int64(voxel)
    k, j, i = voxel // (HEIGHT * WIDTH), voxel // WIDTH % HEIGHT, voxel % WIDTH
    return i * strides[0] + j * strides[1] + k * strides[2]


@njit(cache=True, nogil=True)
def write_voxels(parent, limit, corner, levels, node_numbers):
    """Write each voxel's node (from 1, 0: none) and the highest value that it can get from it."""
    depth, height, width = levels.shape
    k0, j0, i0 = corner
    for k in range(min(DEPTH, depth - k0)):
        for j in range(min(HEIGHT, height - j0)):
            for i in range(min(WIDTH, width - i0)):
                voxel = np.uint32((k * HEIGHT + j) * WIDTH + i)
                piece = piece_of(parent, voxel)
                node = np.uint32(parent[piece])
                hangs = node >= FIRST_NODE
                most = min(limit[voxel], limit[piece])
                number = np.uint16(node - FIRST_NODE + np.uint32(1))
                node_numbers[k0 + k, j0 + j, i0 + i] = number if hangs else np.uint16(0)
                levels[k0 + k, j0 + j, i0 + i] = most if hangs else np.uint16(0)


@njit(cache=True, nogil=True)
def write_nothing(corner, levels, node_numbers):
    """Write that no voxel of a block hangs on a node."""
    k0, j0, i0 = corner
    levels[k0 : k0 + DEPTH, j0 : j0 + HEIGHT, i0 : i0 + WIDTH] = 0
    node_numbers[k0 : k0 + DEPTH, j0 : j0 + HEIGHT, i0 : i0 + WIDTH] = 0
