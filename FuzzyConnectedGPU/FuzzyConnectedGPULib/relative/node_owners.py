"""Of each node the best group, its level, and the level of the best other group.

Edges are taken from the strongest down (Kruskal). Two forests of the nodes grow: one of components
that no group reaches yet, and one of components that at most one group reaches. A component leaves
its forest, with the level of the edge, when that is no longer so.
"""

import numpy as np
from numba import njit

from ..affinity.gaussian_affinity import TOP_LEVEL
from ..solvers.cpu.block_edges import DEPTH, HEIGHT, WIDTH
from ..solvers.cpu.block_trees import root_of
from .groups import DISPUTED, NOBODY


def first_forests(count, seed_nodes, seed_owners):
    """Both forests before the first edge.

    Returns
    -------
    first_parent, first_level : ndarray, int32 and uint16, shape (count,)
        The forest of what no group reaches; the level at which a root left it, or 0.
    second_parent, second_level : ndarray, int32 and uint16, shape (count,)
        The same of what at most one group reaches.
    owner : ndarray, uint8, shape (count,)
        The group of a root of the second forest, or `NOBODY`.
    """
    first_parent, first_level = np.arange(count, dtype=np.int32), np.zeros(count, np.uint16)
    second_parent, second_level = first_parent.copy(), np.zeros(count, np.uint16)
    owner = np.full(count, NOBODY, np.uint8)
    first_level[seed_nodes] = TOP_LEVEL
    owner[seed_nodes] = seed_owners
    return first_parent, first_level, second_parent, second_level, owner


@njit(cache=True, nogil=True)
def connect_nodes(
    nodes, others, levels, begin, end,
    first_parent, first_level, second_parent, second_level, owner,
):  # fmt: skip
    """Take the edges `begin` to `end`, which fall in level."""
    for n in range(begin, end):
        connect(
            nodes[n], others[n], levels[n],
            first_parent, first_level, second_parent, second_level, owner,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def connect(
    node, other, level, first_parent, first_level, second_parent, second_level, owner
):  # fmt: skip
    """Take one edge, whose level is not above those before it."""
    here, there = root_of(second_parent, node), root_of(second_parent, other)
    if here == there or (second_level[here] and second_level[there]):
        return  # in the first forest they are one, too, or have both left it
    first_here, first_there = root_of(first_parent, node), root_of(first_parent, other)
    if not first_level[first_here] and not first_level[first_there]:
        first_parent[first_there] = first_here
    elif not first_level[first_there]:
        first_level[first_there] = level
    elif not first_level[first_here]:
        first_level[first_here] = level
    if second_level[here]:
        second_level[there] = level
    elif second_level[there]:
        second_level[here] = level
    elif owner[here] and owner[there] and owner[here] != owner[there]:
        second_level[here] = second_level[there] = level
    else:
        second_parent[there] = here
        owner[here] = max(owner[here], owner[there])


@njit(cache=True, nogil=True)
def spread_values(first_parent, first_level, second_parent, second_level, owner):
    """Give every node what its roots have."""
    for node in range(owner.size):
        first_level[node] = first_level[root_of(first_parent, node)]
        root = root_of(second_parent, node)
        second_level[node] = second_level[root]
        owner[node] = owner[root]


@njit(cache=True, nogil=True)
def give_values(
    levels, owners, node_numbers, k0, j0, first_nodes, first_level, second_level, owner
):
    """Give the voxels of a row of blocks their level, at most what `levels` holds, and owner.

    `first_nodes`: of the blocks of the row, and of the block after it.
    """
    depth, height, width = levels.shape
    for block in range(first_nodes.size - 1):
        before = np.int64(first_nodes[block]) - 1
        i0 = block * WIDTH
        for k in range(k0, min(k0 + DEPTH, depth)):
            for j in range(j0, min(j0 + HEIGHT, height)):
                for i in range(i0, min(i0 + WIDTH, width)):
                    number = node_numbers[k, j, i]
                    if number == 0:
                        levels[k, j, i] = 0
                        owners[k, j, i] = NOBODY
                        continue
                    most, node = levels[k, j, i], before + number
                    best, other = min(most, first_level[node]), min(most, second_level[node])
                    levels[k, j, i] = best
                    if best > other:
                        owners[k, j, i] = owner[node]
                    else:
                        owners[k, j, i] = DISPUTED if best else NOBODY
