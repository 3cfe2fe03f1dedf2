"""Owners by the weakest voxel of a path, over 26 neighbours: the paths of the contrast model.

The level of an edge is the lower one of its two voxels' levels. Voxels are processed from the
highest level down, so that each meets the voxels that are at least as high: the edges descend in
level, and `node_owners` needs no list of them.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from ..affinity.levels import TOP_LEVEL
from .disputed import indices_of, neighbour
from .groups import DISPUTED, NOBODY
from .node_owners import Forests, connect, first_forests, spread_values

VOXELS_PER_SLICE = 1 << 19  # between two progress callbacks


def _sides() -> np.ndarray:
    steps = [np.array(step) - 1 for step in np.ndindex(3, 3, 3)][14:]
    return np.array([side for step in steps for side in (step, -step)])


SIDES = _sides()  # to the 26 neighbours, opposite ones side by side


def solve(
    capacities: np.ndarray, points: np.ndarray, owners: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Levels of all groups together, and the owner of each voxel.

    Parameters
    ----------
    capacities : ndarray, shape (K, J, I), uint16
        Level of each voxel; no path passes 0.
    points, owners : ndarray, shape (n,), int64 and uint8
        Flat indices of the points of all groups, and their groups.
    progress : Progress

    Returns
    -------
    levels, owners : ndarray, shape (K, J, I), uint16 and uint8
        As of `owners_by_blocks.solve`.
    """
    shape, flat = np.array(capacities.shape), capacities.reshape(-1)
    voxels = np.flatnonzero(flat)
    voxels = voxels[np.argsort(TOP_LEVEL - flat[voxels], kind="stable")]
    node_of = np.full(flat.size, -1, np.int32)
    node_of[voxels] = np.arange(voxels.size, dtype=np.int32)
    inside = node_of[points] >= 0
    forests = first_forests(voxels.size, node_of[points[inside]], owners[inside])
    for first in range(0, voxels.size, VOXELS_PER_SLICE):
        last = min(first + VOXELS_PER_SLICE, voxels.size)
        _connect_voxels(voxels, first, last, flat, node_of, shape, SIDES, forests)
        progress.advance(last / voxels.size)
    spread_values(forests)
    _, best, _, other, owner = forests
    levels, found = np.zeros(flat.size, np.uint16), np.zeros(flat.size, np.uint8)
    levels[voxels] = best
    found[voxels] = np.where(best > other, owner, np.where(best > 0, DISPUTED, NOBODY))
    levels[points], found[points] = TOP_LEVEL, owners
    return levels.reshape(capacities.shape), found.reshape(capacities.shape)


@njit(cache=True, nogil=True)
def _connect_voxels(
    voxels: np.ndarray,
    begin: int,
    end: int,
    capacities: np.ndarray,
    node_of: np.ndarray,
    shape: np.ndarray,
    sides: np.ndarray,
    forests: Forests,
) -> None:
    first_parent, first_level, second_parent, second_level, owner = forests
    for node in range(begin, end):
        voxel = voxels[node]
        level, position = capacities[voxel], indices_of(voxel, shape)
        for side in range(sides.shape[0]):
            other = neighbour(position, side, sides, shape)
            if other >= 0 and 0 <= node_of[other] < node:
                connect(
                    node, node_of[other], level,
                    first_parent, first_level, second_parent, second_level, owner,
                )  # fmt: skip


def optimal_edges(capacities: np.ndarray, levels: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """For each disputed voxel the sides of `SIDES` from which optimal edges lead to it.

    Returns
    -------
    ndarray, uint32, shape (K, J, I)
        Bit n: from the neighbour on side n.
    """
    edges = np.zeros(levels.shape, np.uint32)
    reach = np.minimum(levels, capacities).reshape(-1)  # of paths that continue from a voxel
    flat = edges.reshape(-1)
    _find_edges(reach, levels.reshape(-1), owners.reshape(-1), np.array(levels.shape), SIDES, flat)
    return edges


@njit(cache=True, nogil=True)
def _find_edges(
    reach: np.ndarray,
    levels: np.ndarray,
    owners: np.ndarray,
    shape: np.ndarray,
    sides: np.ndarray,
    edges: np.ndarray,
) -> None:
    for voxel in range(owners.size):
        if owners[voxel] != DISPUTED:
            continue
        position = indices_of(voxel, shape)
        for side in range(sides.shape[0]):
            other = neighbour(position, side, sides, shape)
            if other >= 0 and reach[other] >= levels[voxel]:
                edges[voxel] |= np.uint32(1) << np.uint32(side)
