"""From thin voxels to a graph: ends and junctions become nodes, the voxels between them chains.

The 26-adjacency of voxels, with all its cliques filled, has the topology of the voxels' union.
Contracting what is contractible preserves it, so the graph has as many cycles as the object.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from FuzzyVesselCoreLib.progress import Progress

from .curve_skeleton import Branch, Node, component_numbers, node_kind

MIN_RING = 4  # voxels; three that are neighbours meet in a corner
# Of a voxel's neighbours: across faces first, then edges, corners.
BLOCK = np.array(list(np.ndindex(3, 3, 3))) - 1
STEPS = BLOCK[np.argsort(np.abs(BLOCK).sum(axis=1), kind="stable")][1:]

Chain = tuple[int, list[int], int]
Edge = tuple[int, int]


def topology(voxels: np.ndarray) -> tuple[int, int]:
    """Components and Euler characteristic of voxels (n, 3) that touch at faces, edges, corners."""
    if not len(voxels):
        return 0, 0
    return component_count(voxels[np.lexsort(voxels.T[::-1])]), _characteristic(voxels)


def component_count(voxels: np.ndarray) -> int:
    """The components of voxels (n, 3) in ascending order of K, J, I."""
    if not len(voxels):
        return 0
    return max(component_numbers(len(voxels), np.stack(neighbour_pairs(voxels), axis=1)))


def _characteristic(voxels):
    """Corners - edges + faces - cubes of the union of the voxels' closed cubes."""
    low = 2 * voxels.min(axis=0) - 1
    _, rows, width = 2 * voxels.max(axis=0) + 2 - low
    cells = (2 * voxels[:, None] + BLOCK - low) @ np.array([rows * width, width, 1])
    signs = (-1) ** (1 + np.abs(BLOCK).sum(axis=1))  # of cubes, faces, edges, corners
    _, first = np.unique(cells, return_index=True)
    return int(signs[first % len(BLOCK)].sum())


def neighbour_pairs(voxels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All ordered pairs of 26-adjacent voxels (n, 3), which are in ascending order of K, J, I."""
    low = voxels.min(axis=0) - 1
    _, rows, width = voxels.max(axis=0) + 2 - low
    strides = np.array([rows * width, width, 1])
    flat = (voxels - low) @ strides
    wanted = flat[:, None] + STEPS @ strides
    at = np.searchsorted(flat, wanted).clip(0, len(flat) - 1)
    own, side = np.nonzero(flat[at] == wanted)
    return own, at[own, side]


class VoxelGraph:
    """Nodes and chains of a thin set of voxels (n, 3; K, J, I, ascending).

    `nodes` are lists of voxels (indices), `chains` first node, the voxels between, last node.
    """

    def __init__(self, voxels: np.ndarray, progress: Progress) -> None:
        self.voxels = voxels
        self._neighbours: list[list[int]] = [[] for _ in voxels]
        for own, other in zip(*(side.tolist() for side in neighbour_pairs(voxels))):
            self._neighbours[own].append(other)
        self.nodes: list[list[int]] = []
        self.chains: list[Chain] = []
        self._node_of = [-1] * len(voxels)
        self._taken = [False] * len(voxels)
        for step in (self._make_nodes, self._make_chains, self._join_chains):
            progress.check()
            step()

    def _lies_between(self, voxel: int) -> bool:
        """Whether a voxel has two neighbours that are no neighbours of each other."""
        near = self._neighbours[voxel]
        return len(near) == 2 and near[0] not in self._neighbours[near[1]]

    def _make_nodes(self) -> None:
        """Each connected component of voxels that do not lie between two others is a node."""
        between = [self._lies_between(voxel) for voxel in range(len(self.voxels))]
        for first in range(len(self.voxels)):
            if between[first] or self._node_of[first] >= 0:
                continue
            found, waiting = {first}, [first]
            while waiting:
                new = {n for n in self._neighbours[waiting.pop()] if not between[n]} - found
                found |= new
                waiting += new
            members = sorted(found)
            if len(members) < MIN_RING or _characteristic(self.voxels[members]) == 1:
                self._add_node(members)
            else:
                self._expand(members)

    def _add_node(self, voxels: Iterable[int]) -> None:
        for voxel in voxels:
            self._node_of[voxel] = len(self.nodes)
            self._taken[voxel] = True
        self.nodes.append(list(voxels))

    def _expand(self, members: Sequence[int]) -> None:
        """A component with holes: each voxel a node, joined by a tree and one edge a hole."""
        for voxel in members:
            self._add_node([voxel])
        for a, b in homotopy_edges(self.voxels, members, self._neighbours):
            self.chains.append((self._node_of[a], [], self._node_of[b]))

    def _make_chains(self) -> None:
        """Chains from node to node; a loop without junctions gets a node at its first voxel."""
        for voxels in list(self.nodes):
            for voxel in voxels:
                self._add_chains(voxel)
        for voxel in range(len(self.voxels)):
            if not self._taken[voxel]:
                self._add_node([voxel])
                self._add_chains(voxel)

    def _add_chains(self, start: int) -> None:
        """Add the chains that begin beside a voxel of a node, each once."""
        for voxel in self._neighbours[start]:
            if self._taken[voxel]:
                continue
            before, chain = start, []
            while self._node_of[voxel] < 0:
                self._taken[voxel] = True
                chain.append(voxel)
                one, other = self._neighbours[voxel]
                before, voxel = voxel, other if one == before else one
            self.chains.append((self._node_of[start], chain, self._node_of[voxel]))

    def _join_chains(self) -> None:
        """Join two different chains that meet at a node: that is no junction."""
        ends: list[list[int]] = [[] for _ in self.nodes]
        for number, (first, _, last) in enumerate(self.chains):
            ends[first].append(number)
            ends[last].append(number)
        chains, gone = dict(enumerate(self.chains)), set()
        for node, meeting in enumerate(ends):
            if len(meeting) != 2 or meeting[0] == meeting[1]:
                continue
            stays, goes = sorted(meeting)
            first, before, _ = _directed(chains[stays], node, at_end=True)
            _, after, last = _directed(chains.pop(goes), node, at_end=False)
            chains[stays] = (first, before + self._path_through(node, before, after) + after, last)
            gone.add(node)
            ends[last] = [stays if number == goes else number for number in ends[last]]
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
        goal = inside.intersection(self._neighbours[after[0]])
        paths = [[voxel] for voxel in self._neighbours[before[-1]] if voxel in inside]
        seen = {path[0] for path in paths}
        while paths:
            path = paths.pop(0)
            if path[-1] in goal:
                return path
            for voxel in self._neighbours[path[-1]]:
                if voxel in inside and voxel not in seen:
                    seen.add(voxel)
                    paths.append([*path, voxel])
        return self.nodes[node][:1]


def _directed(chain: Chain, node: int, at_end: bool) -> Chain:
    first, voxels, last = chain
    if (last if at_end else first) == node:
        return chain
    return last, voxels[::-1], first


def homotopy_edges(
    voxels: np.ndarray, members: Sequence[int], neighbours: Sequence[Sequence[int]]
) -> list[Edge]:
    """Edges between member voxels that make a graph with as many cycles as the members have.

    A spanning tree, and those other edges whose cycles are not sums of triangles (mod 2).
    """
    inside = set(members)
    adjacent = {a: {b for b in neighbours[a] if b in inside} for a in members}
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
    part: dict[int, set[int]] = {}
    tree: list[Edge] = []
    others: list[Edge] = []
    for a, b in edges:
        one, other = part.setdefault(a, {a}), part.setdefault(b, {b})
        if one is other:
            others.append((a, b))
            continue
        tree.append((a, b))
        one |= other
        part.update(dict.fromkeys(other, one))
    return tree, others


# ---- From the voxels of a component to nodes and smooth branches with radii

SMOOTHING_PASSES = 4  # of (1, 2, 1) / 4 over a branch: a Gaussian of 1.4 points
SAME_POSITION = 1e-3  # voxels
ON_FACE = 1e-6  # voxels from the face between two voxels


def skeleton_graph(
    voxels: np.ndarray,
    positions: np.ndarray,
    mask: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    gpu: Any = None,
) -> tuple[list[Node], list[Branch]]:
    """Nodes and branches of the thin voxels (n, 3), ascending, of one component (bool, K, J, I).

    `positions` (n, 3) are where the skeleton passes in each voxel. Radii are found on the device.
    """
    graph = VoxelGraph(voxels, progress)
    places = _node_positions(graph, positions, mask)
    curves = _branch_points(graph, positions, places, mask)
    progress.check()
    found = radius_at(np.concatenate([places, *curves]), mask, spacing, gpu)
    own, *radii = np.split(found, np.cumsum([len(places), *map(len, curves)])[:-1])
    branches = [
        Branch(points, radius, first, last, 1)
        for (first, _, last), points, radius in zip(graph.chains, curves, radii)
    ]
    ends = [node for first, _, last in graph.chains for node in (first, last)]
    degrees = np.bincount(np.array(ends, int), minlength=len(places)).tolist()
    nodes = [
        Node(place, node_kind(degree, True), float(radius), 1)
        for place, degree, radius in zip(places, degrees, own)
    ]
    return nodes, branches


def _node_positions(graph: VoxelGraph, positions: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Position of each node: the mean of its voxels' positions if that is inside the object."""
    places = np.array([positions[members].sum(axis=0) / len(members) for members in graph.nodes])
    for number in np.flatnonzero(~is_inside(places, mask)):
        own = positions[graph.nodes[number]]
        places[number] = own[np.argmin(((own - places[number]) ** 2).sum(axis=1))]
    return places


def _branch_points(
    graph: VoxelGraph, positions: np.ndarray, nodes: np.ndarray, mask: np.ndarray
) -> list[np.ndarray]:
    """Points (n, 3) in voxels of each chain, from node to node, smooth and in the object."""
    if not graph.chains:
        return []
    rough = [
        np.concatenate([nodes[[first]], positions[chain].reshape(-1, 3), nodes[[last]]])
        for first, chain, last in graph.chains
    ]
    rough_points = np.concatenate(rough)
    points = rough_points.copy()
    last = np.cumsum([*map(len, rough)]) - 1
    is_end = np.zeros(len(points), bool)
    is_end[last] = is_end[[0, *last[:-1] + 1]] = True
    inner = np.flatnonzero(~is_end)
    for _ in range(SMOOTHING_PASSES):
        points[inner] = (points[inner - 1] + 2 * points[inner] + points[inner + 1]) / 4
    outside = ~is_inside(points, mask)
    points[outside] = rough_points[outside]
    # Of points at one position the first stays, but where a branch ends its end.
    stays = np.linalg.norm(np.diff(points, axis=0, prepend=np.nan), axis=1) > SAME_POSITION
    stays[last[~stays[last]] - 1] = False
    stays |= is_end
    return np.split(points[stays], np.cumsum(stays)[last[:-1]])


def is_inside(points: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Whether each point (n, 3) lies in voxels of the object; between voxels, in all of them."""
    low = np.ceil(points - 0.5 - ON_FACE).astype(np.int64)
    high = np.floor(points + 0.5 + ON_FACE).astype(np.int64)
    inside = np.ones(len(points), bool)
    for corner in np.ndindex(2, 2, 2):
        other = np.where(corner, high, low)
        some = np.flatnonzero(inside & ((other != low).any(axis=1) | (not any(corner))))
        at = other[some]
        within = np.logical_and.reduce((at >= 0) & (at < mask.shape), axis=1)
        within[within] = mask[tuple(at[within].T)] != 0
        inside[some] = within
    return inside


# ---- Radii: distances from points inside an object to its border, in mm
# The border is where the nearest voxel centres outside are. On the axis of a round tube of any
# direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
# would be right between flat walls along the grid only.


PAIRS_AT_ONCE = 1 << 23  # of a point and a voxel, on a device


def radius_at(
    points: np.ndarray, mask: np.ndarray, spacing: Sequence[float], gpu: Any = None
) -> np.ndarray:
    """Distance (mm) of each point (n, 3), in voxels, to the nearest voxel centre outside an object.

    The object (bool) does not touch the array's border. The nearest voxel outside has one of the
    object at a face: else a step towards the point would be nearer. The device measures all pairs,
    the CPU has a tree; the same numbers.
    """
    xp, put = (np, np.asarray) if gpu is None else (gpu.xp, gpu.put)
    points, flat = points * np.asarray(spacing), put(mask).reshape(-1)
    near = xp.zeros(mask.size, bool)
    for step in (1, mask.shape[2], mask.shape[1] * mask.shape[2]):
        near[step:] |= flat[:-step]
        near[:-step] |= flat[step:]
    shell = xp.stack((near & ~flat).reshape(mask.shape).nonzero(), axis=1)
    shell = shell * put(np.array(spacing))
    if gpu is None:
        tree = cKDTree(shell, balanced_tree=False, compact_nodes=False)
        return tree.query(points, workers=-1)[0]
    at_once = max(1, PAIRS_AT_ONCE // len(shell))
    # Squares, not powers: CUDA's need not be the nearest numbers.
    least = [
        sum(xp.square(part[:, None] - all_) for part, all_ in zip(group.T, shell.T)).min(axis=1)
        for group in xp.split(put(points), [*range(at_once, len(points), at_once)])
    ]
    return gpu.get(xp.sqrt(xp.concatenate(least)))
