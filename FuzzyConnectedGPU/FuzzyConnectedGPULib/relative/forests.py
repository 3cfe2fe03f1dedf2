"""Relative connectedness: the best group of each voxel, its level, and that of the best other one.

Edges are processed from the strongest down (Kruskal). Two forests grow: one of components that no
group reaches yet, and one of components that at most one group reaches. A component leaves its
forest, with the level of the edge, when that is no longer so. By affinity the edges are those that
`solvers.blocks` leaves; by contrast each voxel meets the 26 neighbours that are at least as high.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ..affinity import TOP_LEVEL
from ..problem import Problem
from ..solvers import blocks
from ..solvers.block_edges import DEPTH, HEIGHT, WIDTH
from ..solvers.block_trees import find_root
from .disputed import indices_of
from .groups import DISPUTED, NOBODY

VOXELS_PER_SLICE = EDGES_PER_SLICE = 1 << 19  # between two progress callbacks


class Forests(NamedTuple):
    """Parents (int32) in both forests, the level (uint16) at which a root left each, or 0, and the
    group (uint8) of a root of the second one.
    """

    first_parent: np.ndarray
    first_level: np.ndarray
    second_parent: np.ndarray
    second_level: np.ndarray
    owner: np.ndarray


def _new_forests(count: int, seeds: np.ndarray, owners: np.ndarray) -> Forests:
    parent, levels = np.arange(count, dtype=np.int32), np.zeros(count, np.uint16)
    found = Forests(parent, levels, parent.copy(), levels.copy(), np.zeros(count, np.uint8))
    found.first_level[seeds] = TOP_LEVEL
    found.owner[seeds] = owners
    return found


@njit(cache=True, nogil=True)
def _connect(
    node: Any, other: Any, level: Any, first_parent: Any, first_level: Any, second_parent: Any,
    second_level: Any, owner: Any,
) -> None:  # fmt: skip
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
def _spread(forests: Forests) -> None:
    """Give every node the values of its roots."""
    first_parent, first_level, second_parent, second_level, owner = forests
    for node in range(owner.size):
        first_level[node] = first_level[find_root(first_parent, node)]
        root = find_root(second_parent, node)
        second_level[node], owner[node] = second_level[root], owner[root]


# ---- by affinity


def by_affinity(
    problem: Problem, seed_owners: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray, int]:
    """Levels (uint16) of all groups together, owner (uint8) of each voxel, and the memory needed.

    The problem's seeds are the points of all groups, `seed_owners` the group of each.
    """
    run = _Run(problem, seed_owners)
    run.solve(progress)
    run.owners.reshape(-1)[problem.seeds] = seed_owners
    return run.levels, run.owners, run.peak_bytes + run.owners.nbytes


class _Run(blocks.Run):
    """`blocks`, with two levels and an owner of each node instead of one level."""

    def __init__(self, problem: Problem, seed_owners: np.ndarray) -> None:
        super().__init__(problem)
        self._seed_owners, self.owners = seed_owners, np.empty(problem.voxels.shape, np.uint8)

    def connect_nodes(self, progress: Progress) -> None:
        edges = self.node_edges(progress.part(0.0, 0.3))
        total = edges[0].size
        forests = _new_forests(self.node_count, self.seed_nodes(), self._seed_owners)
        for first in range(0, total, EDGES_PER_SLICE):
            last = min(first + EDGES_PER_SLICE, total)
            _connect_edges(*edges, first, last, forests)
            progress.advance(0.3 + 0.7 * last / total)
        _spread(forests)
        self._nodes = tuple(forests)

    def write_row(self, number: int) -> None:
        first = number * self.columns
        first_nodes = self.first_nodes[first : first + self.columns + 1]
        row = self.rows[number]
        _write_row(self.levels, self.owners, self.node_numbers, row, first_nodes, self._nodes)


@njit(cache=True, nogil=True)
def _connect_edges(nodes: Any, others: Any, levels: Any, begin: int, end: int, forests: Any) -> Any:
    a, b, c, d, e = forests
    for n in range(begin, end):
        _connect(nodes[n], others[n], levels[n], a, b, c, d, e)


@njit(cache=True, nogil=True)
def _write_row(
    levels: Any, owners: Any, node_numbers: Any, row: Any, first_nodes: Any, forests: Any
) -> None:
    """Write level, bounded by what `levels` holds, and owner of the voxels of a row of blocks."""
    k0, j0 = row
    _, first_level, _, second_level, owner = forests
    depth, height, width = levels.shape
    for block in range(first_nodes.size - 1):
        before, i0 = np.int64(first_nodes[block]) - 1, block * WIDTH
        for k in range(k0, min(k0 + DEPTH, depth)):
            for j in range(j0, min(j0 + HEIGHT, height)):
                for i in range(i0, min(i0 + WIDTH, width)):
                    number = node_numbers[k, j, i]
                    if number == 0:
                        levels[k, j, i], owners[k, j, i] = 0, NOBODY
                        continue
                    bound, node = levels[k, j, i], before + number
                    best = min(bound, first_level[node])
                    levels[k, j, i] = best
                    if best > min(bound, second_level[node]):
                        owners[k, j, i] = owner[node]
                    else:
                        owners[k, j, i] = DISPUTED if best else NOBODY


# ---- by contrast


def by_contrast(
    capacities: np.ndarray, points: np.ndarray, groups: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Levels of all groups together, and the owner of each voxel, as of `by_affinity`.

    The level of an edge is the lower one of its voxels' `capacities` (uint16, K, J, I); no path
    passes 0. `points` are flat indices, `groups` the group of each.
    """
    shape, flat = capacities.shape, capacities.reshape(-1)
    voxels = np.flatnonzero(flat)
    voxels = voxels[np.argsort(TOP_LEVEL - flat[voxels], kind="stable")]
    number_of = np.zeros(flat.size, np.int32)  # of a voxel's node, from 1
    number_of[voxels] = np.arange(1, voxels.size + 1, dtype=np.int32)
    inside = number_of[points] > 0
    forests = _new_forests(voxels.size, number_of[points[inside]] - 1, groups[inside])
    for first in range(0, voxels.size, VOXELS_PER_SLICE):
        last = min(first + VOXELS_PER_SLICE, voxels.size)
        _connect_voxels(voxels, first, last, flat, number_of, shape, forests)
        progress.advance(last / voxels.size)
    _spread(forests)
    _, best, _, other, owner = forests
    levels, owners = np.zeros(flat.size, np.uint16), np.zeros(flat.size, np.uint8)
    levels[voxels] = best
    owners[voxels] = np.where(best > other, owner, np.where(best > 0, DISPUTED, NOBODY))
    levels[points], owners[points] = TOP_LEVEL, groups
    return levels.reshape(shape), owners.reshape(shape)


@njit(cache=True, nogil=True)
def _connect_voxels(
    voxels: Any, begin: int, end: int, capacities: Any, number_of: Any, shape: Any, forests: Any
) -> None:
    a, b, c, d, e = forests
    for node in range(begin, end):
        voxel, level = voxels[node], capacities[voxels[node]]
        k, j, i = indices_of(voxel, shape)
        here = node  # its root in the second forest
        for plane in range(max(k - 1, 0), min(k + 2, shape[0])):
            for row in range(max(j - 1, 0), min(j + 2, shape[1])):
                first = (plane * shape[1] + row) * shape[2]
                for at in range(first + max(i - 1, 0), first + min(i + 2, shape[2])):
                    other = number_of[at] - 1
                    if 0 <= other < node and find_root(c, other) != here:
                        _connect(node, other, level, a, b, c, d, e)
                        here = find_root(c, node)
