"""The nodes of all blocks: their edges from the strongest down, then values for their voxels."""

from numba import njit

from ...affinity.gaussian_affinity import TOP_LEVEL
from .block_edges import DEPTH, HEIGHT, WIDTH
from .block_trees import root_of


@njit(cache=True, nogil=True)
def nodes_of_voxels(voxels, node_numbers, first_nodes, found):
    """Write the nodes that voxels (flat indices) hang on.

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


@njit(cache=True, nogil=True)
def count_by_level(levels, counts):
    """Count edges: those of level 65535 in counts[1], those of level 65534 in counts[2], ..."""
    for n in range(levels.size):
        counts[TOP_LEVEL - levels[n] + 1] += 1


@njit(cache=True, nogil=True)
def place_by_level(nodes, others, levels, next_place, sorted_nodes, sorted_others, sorted_levels):
    """Copy edges to their places by falling level.

    `next_place`: for each level, counted from the highest, where its next edge goes.
    """
    for n in range(levels.size):
        step = TOP_LEVEL - levels[n]
        at = next_place[step]
        next_place[step] = at + 1
        sorted_nodes[at] = nodes[n]
        sorted_others[at] = others[n]
        sorted_levels[at] = levels[n]


@njit(cache=True, nogil=True)
def connect_nodes(nodes, others, levels, first, last, parent, connected, values):
    """Connect nodes by the edges `first` to `last`, which fall in level.

    Nodes that are not yet connected with a seed and meet have the same value; they get it when one
    of them meets a node that is.
    """
    for n in range(first, last):
        here, there = root_of(parent, nodes[n]), root_of(parent, others[n])
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
def spread_values(parent, values):
    """Give every node the value of the one that stands for it."""
    for node in range(parent.size):
        values[node] = values[root_of(parent, node)]


@njit(cache=True, nogil=True)
def give_values(levels, node_numbers, k0, j0, first_nodes, values, table):
    """Give the voxels of a row of blocks their values, at most what `levels` holds.

    `first_nodes`: of the blocks of the row, and of the block after it.
    """
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
