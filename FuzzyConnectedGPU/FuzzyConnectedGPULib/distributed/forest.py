"""Maximum spanning forests between some of a graph's vertices, and widest paths from its source."""

from typing import Any

import numpy as np
from numba import njit

from ..affinity import TOP_LEVEL
from ..solvers.block_trees import find_root
from ..solvers.blocks import Edges, connect_nodes, spread_values

NOWHERE = -1  # in `kept`: a vertex that is not kept


def spanning_forest(edges: Edges, kept: np.ndarray) -> Edges:
    """The forest between the kept vertices, with the widest path of every two of them.

    Edges are processed from the strongest down (Kruskal). A component remembers one kept vertex;
    where two components that have one meet, these two vertices get an edge of the same level. So
    at each level the kept vertices are connected by the forest exactly if they are by the edges.

    Parameters
    ----------
    edges : Edges
        From the strongest down; see `sorted_by_level`.
    kept : ndarray, int32, shape (vertices,)
        The number that each vertex gets, or `NOWHERE`.

    Returns
    -------
    Edges
        By the new numbers, from the strongest down; fewer than kept vertices.

    Examples
    --------
    >>> edges = np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.array([9, 5], np.uint16)
    >>> [part.tolist() for part in spanning_forest(edges, np.array([0, -1, 1], np.int32))]
    [[0], [1], [5]]
    """
    room = max(int(np.count_nonzero(kept != NOWHERE)) - 1, 0)
    forest = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint16)
    parent = np.arange(kept.size, dtype=np.int32)
    count = _join(*edges, parent, kept.copy(), *forest)
    first, second, levels = (part[:count].copy() for part in forest)
    return first, second, levels


@njit(cache=True, nogil=True)
def _join(
    nodes: np.ndarray,
    others: np.ndarray,
    levels: np.ndarray,
    parent: np.ndarray,
    kept: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    forest_levels: np.ndarray,
) -> Any:
    count = 0
    for n in range(levels.size):
        here, there = find_root(parent, nodes[n]), find_root(parent, others[n])
        if here == there:
            continue
        parent[there] = here
        if kept[here] >= 0 and kept[there] >= 0:
            first[count], second[count] = kept[here], kept[there]
            forest_levels[count] = levels[n]
            count += 1
        kept[here] = max(kept[here], kept[there])
    return count


def levels_from(source: int, edges: Edges, count: int) -> np.ndarray:
    """Level of the widest path from a vertex to each of `count` vertices.

    The edges descend in level. 0 where there is no path.

    Examples
    --------
    >>> edges = np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.array([9, 5], np.uint16)
    >>> levels_from(0, edges, 3).tolist()
    [65535, 9, 5]
    """
    parent, connected = np.arange(count, dtype=np.int32), np.zeros(count, np.uint8)
    levels = np.zeros(count, np.uint16)
    connected[source], levels[source] = 1, TOP_LEVEL
    connect_nodes(edges, 0, edges[0].size, parent, connected, levels)
    spread_values(parent, levels)
    return levels
