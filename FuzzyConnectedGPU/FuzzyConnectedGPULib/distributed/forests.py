"""Spanning forests of a block's face voxels, and widest paths in the graph that joins them."""

import numpy as np
from numba import njit

from ..affinity import TOP_LEVEL
from ..solvers.grid import AffinityTables, voxel_level

NO_NODE = -1


@njit(cache=True, nogil=True)
def edge_levels(voxels: np.ndarray, mask: np.ndarray, floor: int, tables: AffinityTables):
    """Levels (uint16, 3 a voxel: to the next one along K, J, I; 0: none) and how many of each."""
    sums, differences, lowest_sum, coefficients = tables
    depth, height, width = voxels.shape
    steps = (height * width, width, 1)
    flat, inside = voxels.ravel(), mask.ravel()
    levels = np.zeros(3 * flat.size, np.uint16)
    counts = np.zeros(TOP_LEVEL + 1, np.int64)
    for k in range(depth):
        for j in range(height):
            for i in range(width):
                voxel = (k * height + j) * width + i
                if inside.size and not inside[voxel]:
                    continue
                last = (k + 1 == depth, j + 1 == height, i + 1 == width)
                for axis in range(3):
                    if last[axis]:
                        continue
                    other = voxel + steps[axis]
                    if inside.size and not inside[other]:
                        continue
                    level = voxel_level(
                        flat[voxel], flat[other], sums, differences, lowest_sum, coefficients
                    )
                    if level >= floor:
                        levels[3 * voxel + axis] = level
                        counts[level] += 1
    return levels, counts


@njit(cache=True, nogil=True)
def from_the_strongest(levels: np.ndarray, counts: np.ndarray, order: np.ndarray) -> None:
    """The numbers of the edges of a level above 0, sorted from the highest level down."""
    places = np.empty_like(counts)
    total = 0
    for level in range(counts.size - 1, 0, -1):
        places[level] = total
        total += counts[level]
    for edge in range(levels.size):
        level = levels[edge]
        if level:
            order[places[level]] = edge
            places[level] += 1


@njit(cache=True, nogil=True, inline="always")
def root_of(parent: np.ndarray, one: int) -> int:
    while parent[one] != one:
        parent[one] = parent[parent[one]]
        one = parent[one]
    return one


@njit(cache=True, nogil=True)
def spanning_forest(order, levels, steps, seeds, nodes, source):
    """The forest's edges: ends (numbers of nodes, `source` for the seeds), and levels.

    Parameters
    ----------
    order, levels : of `from_the_strongest` and `edge_levels`
    steps : ndarray of int64, (3,)
        From a voxel's flat index to the next one's along K, J, I.
    seeds : ndarray of int64
        Flat indices.
    nodes : ndarray of int32, (voxels,)
        The number of each face voxel, else -1; afterwards of each component.
    source : int
    """
    parent = np.arange(nodes.size).astype(np.int32)
    most = source + 1 + seeds.size
    ends, found = np.empty((most, 2), np.int32), np.empty(most, np.uint16)
    count = 0
    for n in range(seeds.size):
        if nodes[seeds[n]] >= 0:
            ends[count, 0], ends[count, 1], found[count] = nodes[seeds[n]], source, TOP_LEVEL
            count += 1
        parent[seeds[n]] = seeds[0]
    if seeds.size:
        nodes[seeds[0]] = source
    for n in range(order.size):
        edge = order[n]
        voxel = edge // 3
        one = root_of(parent, voxel)
        other = root_of(parent, voxel + steps[edge % 3])
        if one == other:
            continue
        if nodes[one] >= 0 and nodes[other] >= 0:
            ends[count, 0], ends[count, 1], found[count] = nodes[one], nodes[other], levels[edge]
            count += 1
        parent[other] = one
        nodes[one] = max(nodes[one], nodes[other])
    return ends[:count], found[:count]


@njit(cache=True, nogil=True)
def widest_levels(ends: np.ndarray, levels: np.ndarray, count: int, source: int) -> np.ndarray:
    """Levels (uint16) of all nodes of a graph, from the source.

    Edges are taken from the strongest down; the nodes of a component get the level of the edge by
    which it meets the source's.
    """
    counts = np.zeros(TOP_LEVEL + 1, np.int64)
    for level in levels:
        counts[level] += 1
    order = np.empty(levels.size - counts[0], np.int64)
    from_the_strongest(levels, counts, order)
    parent, following = np.arange(count), np.arange(count)  # the members of a component: a ring
    result = np.zeros(count, np.uint16)
    result[source] = TOP_LEVEL
    for n in range(order.size):
        edge = order[n]
        one, other = root_of(parent, ends[edge, 0]), root_of(parent, ends[edge, 1])
        if one == other:
            continue
        home = root_of(parent, source)
        if one == home or other == home:
            new = other if one == home else one
            node = new
            while True:
                result[node] = levels[edge]
                node = following[node]
                if node == new:
                    break
        parent[other] = one
        following[one], following[other] = following[other], following[one]
    return result
