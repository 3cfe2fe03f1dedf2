"""The 26-adjacency of thin voxels: neighbours, chains between nodes, and edges of homotopy."""

from collections.abc import Callable, Sequence

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.voxels.topology.sparse import sparse_topology

Edge = tuple[int, int]


def neighbours(voxels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of all voxels (n, 3), one voxel's after the other's, and where each one's end.

    Those across faces come first, then edges, corners.
    """
    steps = np.array([s for s in np.ndindex(3, 3, 3) if s != (1, 1, 1)]) - 1
    steps = steps[np.argsort(np.abs(steps).sum(axis=1), kind="stable")]
    if not len(voxels):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    voxels = voxels - voxels.min(axis=0) + 1
    size = voxels.max(axis=0) + 2
    strides = np.array([size[1] * size[2], size[2], 1])
    places = np.full((len(voxels), len(steps)), -1)
    return neighbours_at(voxels @ strides, steps @ strides, places)


@compiled
def neighbours_at(
    voxels: np.ndarray, offsets: np.ndarray, adjacent: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of ascending flat indices, in the order of the offsets, and where each one's
    end.

    `adjacent` (voxels, offsets) is -1 before, and is set to the places of the neighbours.
    """
    for side in range(offsets.size):
        at = 0
        for n in range(voxels.size):  # the others ascend, too
            other = voxels[n] + offsets[side]
            while at < voxels.size and voxels[at] < other:
                at += 1
            if at < voxels.size and voxels[at] == other:
                adjacent[n, side] = at
    others, ends = np.empty(adjacent.size, np.int64), np.empty(voxels.size, np.int64)
    count = 0
    for n in range(voxels.size):
        for other in adjacent[n]:
            if other >= 0:
                others[count] = other
                count += 1
        ends[n] = count
    return others[:count], ends


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
