"""The 26-adjacency of thin voxels: neighbours, chains between nodes, and edges of homotopy."""

from collections.abc import Callable, Sequence

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.voxels.topology.sparse import adjacent_pairs, sparse_topology

Edge = tuple[int, int]


def _ranks() -> np.ndarray:
    """Return in which order a voxel's neighbours come, by their places in the block of 27."""
    steps = np.array(list(np.ndindex(3, 3, 3))) - 1
    return np.argsort(np.argsort(np.abs(steps).sum(axis=1), kind="stable"))


RANKS = _ranks()


def neighbours(voxels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of all voxels (n, 3), one voxel's after the other's, and where each one's end.

    Those across faces come first, then edges, corners. The voxels are in ascending order.
    """
    if not len(voxels):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    voxels = voxels - voxels.min(axis=0) + 1
    _, rows, width = voxels.max(axis=0) + 2
    plane = rows * width
    later, earlier, side = adjacent_pairs(voxels @ np.array([plane, width, 1]), width, plane)
    own, others = np.concatenate([later, earlier]), np.concatenate([earlier, later])
    rank = RANKS[np.concatenate([side, 26 - side])]
    order = np.argsort(own * len(RANKS) + rank)
    return others[order], np.cumsum(np.bincount(own, minlength=len(voxels)))


def lie_between(voxels: np.ndarray, others: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Whether each voxel has two neighbours that are no neighbours of each other; bool (n,)."""
    pairs = np.flatnonzero(np.diff(ends, prepend=0) == 2)
    first, second = voxels[others[ends[pairs] - 2]], voxels[others[ends[pairs] - 1]]
    between = np.zeros(len(voxels), bool)
    between[pairs] = np.abs(first - second).max(axis=1) > 1
    return between


@compiled
def chains_from(
    own: np.ndarray, node_of: np.ndarray, others: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chains of voxels without a node that begin beside some voxels of nodes.

    Returns
    -------
    voxels : ndarray of int
        Of all chains, one after the other.
    chain_ends : ndarray of int, (n,)
        Where each chain ends among them.
    nodes : ndarray of int, (n, 2)
        Where it begins and ends.
    """
    voxels, chain_ends = np.empty(node_of.size, np.int64), np.empty(node_of.size, np.int64)
    nodes, taken = np.empty((node_of.size, 2), np.int64), np.zeros(node_of.size, np.bool_)
    count = chains = 0
    for start in own:
        for n in range(ends[start - 1] if start else 0, ends[start]):
            before, voxel = start, others[n]
            if node_of[voxel] >= 0 or taken[voxel]:
                continue
            while node_of[voxel] < 0:
                taken[voxel] = True
                voxels[count] = voxel
                count += 1
                # It has two neighbours.
                a, b = others[ends[voxel] - 2], others[ends[voxel] - 1]
                before, voxel = voxel, b if a == before else a
            chain_ends[chains] = count
            nodes[chains, 0], nodes[chains, 1] = node_of[start], node_of[voxel]
            chains += 1
    return voxels[:count], chain_ends[:chains], nodes[:chains]


def cycle_count(voxels: np.ndarray) -> int:
    """Independent cycles of a set of voxels (n, 3)."""
    topology = sparse_topology(voxels)
    return topology.components - topology.characteristic


def homotopy_edges(
    voxels: np.ndarray, members: Sequence[int], neighbours: Callable[[int], Sequence[int]]
) -> list[Edge]:
    """Edges between member voxels that make a graph with as many cycles as the members have.

    A spanning tree, and those other edges whose cycles are not sums of triangles (mod 2).
    """
    inside = set(members)
    adjacent = {a: {b for b in neighbours(a) if b in inside} for a in members}
    edges = sorted(
        ((a, b) for a in members for b in adjacent[a] if a < b),
        key=lambda edge: (int(((voxels[edge[0]] - voxels[edge[1]]) ** 2).sum()), edge),
    )
    tree, others = _spanning_tree(edges)
    bit = {edge: 1 << n for n, edge in enumerate(others)}  # the longest edges are the highest bits
    pivots: dict[int, int] = {}
    for a, b in edges:
        for c in adjacent[a] & adjacent[b]:
            if c < b:
                continue  # each triangle once
            row = bit.get((a, b), 0) ^ bit.get((b, c), 0) ^ bit.get((a, c), 0)
            while row and row.bit_length() in pivots:
                row ^= pivots[row.bit_length()]
            if row:
                pivots[row.bit_length()] = row
    return tree + [edge for edge in others if bit[edge].bit_length() not in pivots]


def _spanning_tree(edges: Sequence[Edge]) -> tuple[list[Edge], list[Edge]]:
    """The edges that join separate components, in their order, and the other edges."""
    parent: dict[int, int] = {}

    def root(voxel: int) -> int:  # union-find with path halving
        while parent.setdefault(voxel, voxel) != voxel:
            parent[voxel] = parent[parent[voxel]]
            voxel = parent[voxel]
        return voxel

    tree: list[Edge] = []
    others: list[Edge] = []
    for a, b in edges:
        first, second = root(a), root(b)
        (others if first == second else tree).append((a, b))
        parent[max(first, second)] = min(first, second)
    return tree, others
