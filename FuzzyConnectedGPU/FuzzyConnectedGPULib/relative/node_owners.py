"""The best group of each node, its level, and the level of the best other group.

Edges are processed from the strongest down (Kruskal). Two forests of the nodes grow: one of
components that no group reaches yet, and one of components that at most one group reaches. A
component leaves its forest, with the level of the edge, when that is no longer so.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..affinity.levels import TOP_LEVEL
from ..solvers.cpu.blocks.scratch import DEPTH, HEIGHT, WIDTH
from ..solvers.cpu.blocks.trees import find_root
from .groups import DISPUTED, NOBODY


class Forests(NamedTuple):
    """Both forests of the nodes.

    Attributes
    ----------
    first_parent, first_level : ndarray, int32 and uint16, shape (count,)
        The forest of what no group reaches; the level at which a root left it, or 0.
    second_parent, second_level : ndarray, int32 and uint16, shape (count,)
        The same of what at most one group reaches.
    owner : ndarray, uint8, shape (count,)
        The group of a root of the second forest, or `NOBODY`.
    """

    first_parent: np.ndarray
    first_level: np.ndarray
    second_parent: np.ndarray
    second_level: np.ndarray
    owner: np.ndarray


def first_forests(count: int, seed_nodes: np.ndarray, seed_owners: np.ndarray) -> Forests:
    """Both forests before the first edge."""
    first_parent, first_level = np.arange(count, dtype=np.int32), np.zeros(count, np.uint16)
    second_parent, second_level = first_parent.copy(), np.zeros(count, np.uint16)
    owner = np.full(count, NOBODY, np.uint8)
    first_level[seed_nodes] = TOP_LEVEL
    owner[seed_nodes] = seed_owners
    return Forests(first_parent, first_level, second_parent, second_level, owner)


@njit(cache=True, nogil=True)
def connect_nodes(
    edges: tuple[np.ndarray, np.ndarray, np.ndarray], begin: int, end: int, forests: Forests
) -> None:
    """Process the edges `begin` to `end` (nodes, other nodes, levels), which descend in level."""
    nodes, others, levels = edges
    first_parent, first_level, second_parent, second_level, owner = forests
    for n in range(begin, end):
        connect(
            nodes[n], others[n], levels[n],
            first_parent, first_level, second_parent, second_level, owner,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def connect(
    node: Any,
    other: Any,
    level: Any,
    first_parent: np.ndarray,
    first_level: np.ndarray,
    second_parent: np.ndarray,
    second_level: np.ndarray,
    owner: np.ndarray,
) -> None:
    """Process one edge, whose level is not above those before it.

    `Forests` are unpacked by the caller: taking arrays out of a tuple costs as much as the rest.
    """
    here, there = find_root(second_parent, node), find_root(second_parent, other)
    if here == there or (second_level[here] and second_level[there]):
        return  # in the first forest they are one, too, or have both left it
    first_here, first_there = find_root(first_parent, node), find_root(first_parent, other)
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
def spread_values(forests: Forests) -> None:
    """Give every node the values of its roots."""
    first_parent, first_level, second_parent, second_level, owner = forests
    for node in range(owner.size):
        first_level[node] = first_level[find_root(first_parent, node)]
        root = find_root(second_parent, node)
        second_level[node] = second_level[root]
        owner[node] = owner[root]


@njit(cache=True, nogil=True)
def write_values(
    levels: np.ndarray,
    owners: np.ndarray,
    node_numbers: np.ndarray,
    row: tuple[int, int],
    first_nodes: np.ndarray,
    forests: tuple,
) -> None:
    """Write level, bounded by what `levels` holds, and owner of the voxels of a row of blocks.

    `first_nodes`: of the blocks of the row, and of the block after it.
    """
    k0, j0 = row
    _, first_level, _, second_level, owner = forests
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
                    bound, node = levels[k, j, i], before + number
                    best, other = (
                        min(bound, first_level[node]),
                        min(bound, second_level[node]),
                    )
                    levels[k, j, i] = best
                    if best > other:
                        owners[k, j, i] = owner[node]
                    else:
                        owners[k, j, i] = DISPUTED if best else NOBODY
