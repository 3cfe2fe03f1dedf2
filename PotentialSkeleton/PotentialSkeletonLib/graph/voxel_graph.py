"""From thin voxels to a graph: ends and junctions become nodes, the voxels between them branches.

The 26-adjacency of voxels, with all its cliques filled, has the topology of the voxels' union.
Contracting what is contractible keeps it, so the graph has as many cycles as the object.
"""

from itertools import pairwise

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.topology.sparse import sparse_topology

SMALLEST_RING = 4  # voxels; three that are neighbours meet in a corner


class VoxelGraph:
    """Nodes and chains of a thin set of voxels.

    Parameters
    ----------
    voxels : ndarray of int, (n, 3)
        K, J, I, in rising order.
    report : callable, optional
        Called often; raises to cancel.

    Attributes
    ----------
    nodes : list of list of int
        Voxels (indices) of each node.
    chains : list of (int, list of int, int)
        First node, the voxels between, last node.
    """

    def __init__(self, voxels, report=None):
        self.voxels = voxels
        self._report = report
        self._others, self._ends = _neighbours(voxels)
        self._beside, self._upto = self._others.tolist(), [0, *self._ends.tolist()]
        self.nodes, self.chains = [], []
        self.node_of = np.full(len(voxels), -1, np.int64)
        for step in (self._make_nodes, self._make_chains, self._make_loops, self._join_chains):
            self._look()
            step()
        self._look()

    def _make_nodes(self):
        """Every piece of voxels that do not simply lie between two others is a node."""
        between = _lie_between(self.voxels, self._others, self._ends)
        ends = np.flatnonzero(~between).tolist()
        between = between.tolist()
        for first in ends:
            if self.node_of[first] >= 0:
                continue
            self._look()
            piece = self._piece(first, between)
            if len(piece) < SMALLEST_RING or _cycles(self.voxels[piece]) == 0:
                self._add_node(piece)
            else:
                self._open_up(piece)

    def neighbours(self, voxel):
        """The neighbours of a voxel: those across faces first, then edges, corners."""
        return self._beside[self._upto[voxel] : self._upto[voxel + 1]]

    def _look(self):
        if self._report is not None:
            self._report()

    def _piece(self, first, between):
        piece, waiting = {first}, [first]
        while waiting:
            for other in self.neighbours(waiting.pop()):
                if not between[other] and other not in piece:
                    piece.add(other)
                    waiting.append(other)
        return sorted(piece)

    def _add_node(self, voxels):
        self.node_of[voxels] = len(self.nodes)
        self.nodes.append(list(voxels))

    def _open_up(self, piece):
        """A piece with holes: each voxel a node, joined by a tree and one edge a hole."""
        for voxel in piece:
            self._add_node([voxel])
        for a, b in _edges_of_homotopy(self.voxels, piece, self.neighbours):
            self.chains.append((int(self.node_of[a]), [], int(self.node_of[b])))

    def _make_chains(self):
        own = np.array([voxel for voxels in self.nodes for voxel in voxels], np.int64)
        self._add_chains(own)

    def _make_loops(self):
        """A loop without junctions gets a node at its first voxel."""
        in_chain = self.node_of >= 0
        in_chain[[voxel for _, chain, _ in self.chains for voxel in chain]] = True
        while not in_chain.all():
            voxel = int(np.argmin(in_chain))
            self._look()
            self._add_node([voxel])
            self._add_chains(np.array([voxel]))
            in_chain[[voxel, *self.chains[-1][1]]] = True

    def _add_chains(self, own):
        """Add the chains that begin at some voxels of nodes, each once."""
        voxels, ends, nodes = chains_from(own, self.node_of, self._others, self._ends)
        voxels = voxels.tolist()
        for (first, last), (start, end) in zip(nodes.tolist(), pairwise([0, *ends.tolist()])):
            self._look()
            self.chains.append((first, voxels[start:end], last))

    def _join_chains(self):
        """A node that two different chains meet at is none; a bare voxel of an opened piece too."""
        ends = [[] for _ in self.nodes]
        for number, (first, _, last) in enumerate(self.chains):
            ends[first].append(number)
            ends[last].append(number)
        chains = dict(enumerate(self.chains))
        gone = set()
        for node, meeting in enumerate(ends):
            if len(meeting) != 2 or meeting[0] == meeting[1]:
                continue
            kept, dropped = sorted(meeting)
            first, before, _ = _directed(chains[kept], node, at_end=True)
            _, after, last = _directed(chains.pop(dropped), node, at_end=False)
            chains[kept] = (first, before + self._path_through(node, before, after) + after, last)
            gone.add(node)
            ends[last] = [kept if number == dropped else number for number in ends[last]]
        number_of = np.cumsum([node not in gone for node in range(len(self.nodes))]) - 1
        self.nodes = [voxels for node, voxels in enumerate(self.nodes) if node not in gone]
        self.chains = [
            (int(number_of[first]), chain, int(number_of[last]))
            for first, chain, last in chains.values()
        ]

    def _path_through(self, node, before, after):
        """Shortest way inside a node's voxels between two chains."""
        inside = set(self.nodes[node])
        if not before or not after or len(inside) == 1:
            return self.nodes[node][:1]
        goal = inside.intersection(self.neighbours(after[0]))
        ways = [[voxel] for voxel in self.neighbours(before[-1]) if voxel in inside]
        seen = {way[0] for way in ways}
        while ways:
            way = ways.pop(0)
            if way[-1] in goal:
                return way
            for voxel in self.neighbours(way[-1]):
                if voxel in inside and voxel not in seen:
                    seen.add(voxel)
                    ways.append([*way, voxel])
        return self.nodes[node][:1]


def _directed(chain, node, at_end):
    first, voxels, last = chain
    if (last if at_end else first) == node:
        return chain
    return last, voxels[::-1], first


def _lie_between(voxels, others, ends):
    """Whether each voxel has two neighbours that are no neighbours of each other; bool (n,)."""
    pairs = np.flatnonzero(np.diff(ends, prepend=0) == 2)
    first, second = voxels[others[ends[pairs] - 2]], voxels[others[ends[pairs] - 1]]
    between = np.zeros(len(voxels), bool)
    between[pairs] = np.abs(first - second).max(axis=1) > 1
    return between


def _neighbours(voxels):
    """Neighbours of all voxels, one voxel's after the other's, and where each one's end.

    Those across faces come first, then edges, corners.
    """
    steps = np.array([s for s in np.ndindex(3, 3, 3) if s != (1, 1, 1)]) - 1
    steps = steps[np.argsort(np.abs(steps).sum(axis=1), kind="stable")]
    if not len(voxels):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    voxels = voxels - voxels.min(axis=0) + 1
    size = voxels.max(axis=0) + 2
    flat = voxels @ np.array([size[1] * size[2], size[2], 1])
    return neighbours_of(flat, steps @ np.array([size[1] * size[2], size[2], 1]))


@njit(cache=True)
def neighbours_of(voxels, offsets):
    """Neighbours of rising flat indices, in the order of the offsets, and where each one's end."""
    beside = np.full((voxels.size, offsets.size), -1, np.int64)
    for side in range(offsets.size):
        at = 0
        for n in range(voxels.size):  # the others rise, too
            other = voxels[n] + offsets[side]
            while at < voxels.size and voxels[at] < other:
                at += 1
            if at < voxels.size and voxels[at] == other:
                beside[n, side] = at
    others, ends = np.empty(beside.size, np.int64), np.empty(voxels.size, np.int64)
    count = 0
    for n in range(voxels.size):
        for other in beside[n]:
            if other >= 0:
                others[count] = other
                count += 1
        ends[n] = count
    return others[:count], ends


@njit(cache=True)
def chains_from(own, node_of, others, ends):
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
            nodes[chains] = node_of[start], node_of[voxel]
            chains += 1
    return voxels[:count], chain_ends[:chains], nodes[:chains]


def _cycles(voxels):
    found = sparse_topology(voxels)
    return found.components - found.characteristic


def _edges_of_homotopy(voxels, piece, neighbours):
    """Edges between voxels of a piece that make a graph with as many cycles as the piece.

    A spanning tree, and those other edges whose cycles are not sums of triangles (mod 2).
    """
    inside = set(piece)
    beside = {a: {b for b in neighbours(a) if b in inside} for a in piece}
    edges = sorted(
        ((a, b) for a in piece for b in beside[a] if a < b),
        key=lambda edge: (int(((voxels[edge[0]] - voxels[edge[1]]) ** 2).sum()), edge),
    )
    tree, others = _spanning_tree(edges)
    bit = {edge: 1 << n for n, edge in enumerate(others)}  # the longest edges are the highest bits
    pivots = {}
    for a, b in edges:
        for c in beside[a] & beside[b]:
            if c < b:
                continue  # each triangle once
            row = bit.get((a, b), 0) ^ bit.get((b, c), 0) ^ bit.get((a, c), 0)
            while row and row.bit_length() in pivots:
                row ^= pivots[row.bit_length()]
            if row:
                pivots[row.bit_length()] = row
    return tree + [edge for edge in others if bit[edge].bit_length() not in pivots]


def _spanning_tree(edges):
    """The edges that join what is apart, in their order, and the other edges."""
    parent = {}

    def root(voxel):
        while parent.setdefault(voxel, voxel) != voxel:
            parent[voxel] = parent[parent[voxel]]
            voxel = parent[voxel]
        return voxel

    tree, others = [], []
    for a, b in edges:
        first, second = root(a), root(b)
        (others if first == second else tree).append((a, b))
        parent[max(first, second)] = min(first, second)
    return tree, others
