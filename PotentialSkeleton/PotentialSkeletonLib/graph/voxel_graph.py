"""From thin voxels to a graph: ends and junctions become nodes, the voxels between them branches.

The 26-adjacency of voxels, with all its cliques filled, has the topology of the voxels' union.
Contracting what is contractible keeps it, so the graph has as many cycles as the object.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .voxel_adjacency import chains_from, cycle_count, homotopy_edges, lie_between, neighbours

MIN_RING = 4  # voxels; three that are neighbours meet in a corner

Chain = tuple[int, list[int], int]


class VoxelGraph:
    """Nodes and chains of a thin set of voxels.

    Parameters
    ----------
    voxels : ndarray of int, (n, 3)
        K, J, I, in ascending order.
    progress : Progress

    Attributes
    ----------
    nodes : list of list of int
        Voxels (indices) of each node.
    chains : list of (int, list of int, int)
        First node, the voxels between, last node.
    """

    def __init__(self, voxels: np.ndarray, progress: Progress) -> None:
        self.voxels = voxels
        self._progress = progress
        self._others, self._ends = neighbours(voxels)
        self._adjacent, self._upto = self._others.tolist(), [0, *self._ends.tolist()]
        self.nodes: list[list[int]] = []
        self.chains: list[Chain] = []
        self.node_of = np.full(len(voxels), -1, np.int64)
        for step in (self._make_nodes, self._make_chains, self._make_loops, self._join_chains):
            progress.check()
            step()
        progress.check()

    def neighbours(self, voxel: int) -> list[int]:
        """The neighbours of a voxel: those across faces first, then edges, corners."""
        return self._adjacent[self._upto[voxel] : self._upto[voxel + 1]]

    def _make_nodes(self) -> None:
        """Each connected component of voxels that do not lie between two others is a node."""
        between = lie_between(self.voxels, self._others, self._ends)
        ends = np.flatnonzero(~between).tolist()
        is_between = between.tolist()
        for first in ends:
            if self.node_of[first] >= 0:
                continue
            self._progress.check()
            members = self._component(first, is_between)
            if len(members) < MIN_RING or cycle_count(self.voxels[members]) == 0:
                self._add_node(members)
            else:
                self._expand(members)

    def _component(self, first: int, is_between: Sequence[bool]) -> list[int]:
        members, waiting = {first}, [first]
        while waiting:
            for other in self.neighbours(waiting.pop()):
                if not is_between[other] and other not in members:
                    members.add(other)
                    waiting.append(other)
        return sorted(members)

    def _add_node(self, voxels: Sequence[int]) -> None:
        self.node_of[voxels] = len(self.nodes)
        self.nodes.append(list(voxels))

    def _expand(self, members: Sequence[int]) -> None:
        """A component with holes: each voxel a node, joined by a tree and one edge a hole."""
        for voxel in members:
            self._add_node([voxel])
        for a, b in homotopy_edges(self.voxels, members, self.neighbours):
            self.chains.append((int(self.node_of[a]), [], int(self.node_of[b])))

    def _make_chains(self) -> None:
        own = np.array([voxel for voxels in self.nodes for voxel in voxels], np.int64)
        self._add_chains(own)

    def _make_loops(self) -> None:
        """A loop without junctions gets a node at its first voxel."""
        in_chain = self.node_of >= 0
        in_chain[[voxel for _, chain, _ in self.chains for voxel in chain]] = True
        while not in_chain.all():
            voxel = int(np.argmin(in_chain))
            self._progress.check()
            self._add_node([voxel])
            self._add_chains(np.array([voxel]))
            in_chain[[voxel, *self.chains[-1][1]]] = True

    def _add_chains(self, own: np.ndarray) -> None:
        """Add the chains that begin at some voxels of nodes, each once."""
        voxels, ends, nodes = chains_from(own, self.node_of, self._others, self._ends)
        voxels = voxels.tolist()
        for (first, last), (start, end) in zip(nodes.tolist(), pairwise([0, *ends.tolist()])):
            self._progress.check()
            self.chains.append((first, voxels[start:end], last))

    def _join_chains(self) -> None:
        """A node that two different chains meet at is none; so a single voxel of `_expand`."""
        ends: list[list[int]] = [[] for _ in self.nodes]
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

    def _path_through(self, node: int, before: Sequence[int], after: Sequence[int]) -> list[int]:
        """Shortest path inside a node's voxels between two chains."""
        inside = set(self.nodes[node])
        if not before or not after or len(inside) == 1:
            return self.nodes[node][:1]
        goal = inside.intersection(self.neighbours(after[0]))
        paths = [[voxel] for voxel in self.neighbours(before[-1]) if voxel in inside]
        seen = {path[0] for path in paths}
        while paths:
            path = paths.pop(0)
            if path[-1] in goal:
                return path
            for voxel in self.neighbours(path[-1]):
                if voxel in inside and voxel not in seen:
                    seen.add(voxel)
                    paths.append([*path, voxel])
        return self.nodes[node][:1]


def _directed(chain: Chain, node: int, at_end: bool) -> Chain:
    first, voxels, last = chain
    if (last if at_end else first) == node:
        return chain
    return last, voxels[::-1], first
