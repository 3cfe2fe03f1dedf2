"""Disputed voxels: iterative relative connectedness, and the nearest group.

Both spread from the voxels that a group has, along optimal edges (see `relative`), into disputed
voxels only. The same search gives voxels that nobody has to the vessel that is the fewest steps
away.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from ..problem import Problem
from ..solvers.grid import grid_of, voxel_level
from .groups import DISPUTED, NOBODY

VOXELS_PER_CHECK = 1 << 16  # between two checks of the stop flag


def _sides_26() -> np.ndarray:
    steps = [np.array(step) - 1 for step in np.ndindex(3, 3, 3)][14:]
    return np.array([side for step in steps for side in (step, -step)])


# Steps along K, J, I to the neighbours; that of side n ^ 1 is opposite.
SIDES_6 = np.array([(0, 0, -1), (0, 0, 1), (0, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 0, 0)])
SIDES_26 = _sides_26()


class Edges(NamedTuple):
    """The optimal edges into some voxels.

    Attributes
    ----------
    targets : ndarray of int
        Flat indices of the voxels, ascending.
    bits : ndarray of unsigned integers
        Bit n of a voxel: from the neighbour on side n. The highest bit is free.
    sides : ndarray
    """

    targets: np.ndarray
    bits: np.ndarray
    sides: np.ndarray


def affinity_edges(problem: Problem, levels: np.ndarray, owners: np.ndarray) -> Edges:
    """Optimal edges into disputed voxels by affinity, over 6 neighbours."""
    voxels, _, _, _, tables = grid_of(problem)
    found = Edges(np.flatnonzero(owners == DISPUTED), np.zeros(owners.size, np.uint8), SIDES_6)

    def find(first: int, last: int) -> None:
        some = found._replace(targets=found.targets[first:last])
        _find_by_affinity(voxels, *tables, levels.reshape(-1), owners.shape, *some)

    in_parts(find, found.targets.size, found.targets.size)
    return found


def contrast_edges(
    capacities: np.ndarray, levels: np.ndarray, owners: np.ndarray, target: int = DISPUTED
) -> Edges:
    """Optimal edges by contrast, over 26 neighbours, into the voxels with the target for owner."""
    targets, bits = np.flatnonzero(owners == target), np.zeros(owners.size, np.uint32)
    found = Edges(targets, bits, SIDES_26)
    _find_by_contrast(capacities.reshape(-1), levels.reshape(-1), owners.shape, *found)
    return found


def iterate(edges: Edges, owners: np.ndarray, progress: Progress) -> Edges:
    """From relative to iterative relative connectedness: changes the owners.

    Returns the edges into the voxels that are disputed still.
    """
    found = _run(_spread, edges, owners, progress)
    left = found == DISPUTED
    edges.bits[edges.targets[~left]] = 0
    return edges._replace(targets=edges.targets[left])


def share_by_steps(edges: Edges, owners: np.ndarray, progress: Progress) -> np.ndarray:
    """Owners, with the group that is the fewest steps along optimal edges away for each of the
    edges' targets; `DISPUTED` where two are equally near.
    """
    shared = owners.copy()
    _run(_share, edges, shared, progress)
    return shared


def share_unowned(owners: np.ndarray, domain: np.ndarray, progress: Progress) -> np.ndarray:
    """Give voxels of a domain that nobody has to the vessel that is the fewest steps away.

    Parameters
    ----------
    owners : ndarray, uint8, shape (K, J, I)
    domain : ndarray of bool, same shape
        Steps over 26 neighbours stay in it.
    progress : Progress

    Returns
    -------
    ndarray, uint8, same shape
        `DISPUTED` where two vessels are equally near; `NOBODY` outside of the domain, and where
        no vessel is reached.

    Examples
    --------
    >>> owners = np.array([[[1, 0, 0, 2, 0, 0]]], np.uint8)
    >>> domain = np.array([[[True, True, True, True, True, False]]])
    >>> share_unowned(owners, domain, Progress()).tolist()
    [[[1, 1, 2, 2, 2, 0]]]
    """
    owners = np.where(domain, owners, NOBODY).astype(np.uint8)
    box = bounding_box(domain & (owners == NOBODY))
    if box is not None:
        box = tuple(slice(max(side.start - 1, 0), side.stop + 1) for side in box)
        part, inside = owners[box].copy(), domain[box].astype(np.uint16)
        outside = np.where(inside, part, DISPUTED).astype(np.uint8)  # no target
        edges = contrast_edges(inside, np.ones_like(inside), outside, NOBODY)
        _run(_share, edges, part, progress)
        owners[box] = part
    return owners


def _run(work: Any, edges: Edges, owners: np.ndarray, progress: Progress) -> np.ndarray:
    """Write the owners that a search finds for the targets; returns them."""
    targets, bits, sides = edges
    flat = owners.reshape(-1)  # of an array in C order: no copy
    found, listed = np.zeros(flat.size, np.uint8), np.empty(targets.size, np.int64)
    waiting = bits.dtype.type(1 << 8 * bits.itemsize - 1)  # flag: it is in the list
    progress.wait_for(work, targets, bits, flat, owners.shape, sides, waiting, found, listed)
    bits[targets] &= ~waiting
    flat[targets] = found[targets]
    return flat[targets]


@njit(cache=True, nogil=True)
def indices_of(voxel: Any, shape: Any) -> Any:
    """K, J, I of a flat index."""
    row = voxel // shape[2]
    return row // shape[1], row % shape[1], voxel % shape[2]


@njit(cache=True, nogil=True)
def neighbour(position: Any, side: int, sides: Any, shape: Any) -> int:
    """Flat index of the neighbour of a voxel (K, J, I) on a side; -1 outside the volume."""
    k, j = position[0] + sides[side, 0], position[1] + sides[side, 1]
    i = position[2] + sides[side, 2]
    inside = 0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]
    return (k * shape[1] + j) * shape[2] + i if inside else -1


@njit(cache=True, nogil=True)
def joined(one: Any, other: Any) -> Any:
    """The owner of a voxel that both owners reach."""
    if one == NOBODY:
        return other
    if other == NOBODY:
        return one
    return one if one == other else np.uint8(DISPUTED)


@njit(cache=True, nogil=True)
def _find_by_affinity(
    voxels: Any, sums: Any, differences: Any, lowest_sum: Any, coefficients: Any, levels: Any,
    shape: Any, targets: Any, bits: Any, sides: Any,
) -> None:  # fmt: skip
    for voxel in targets:
        level, position = levels[voxel], indices_of(voxel, shape)
        for side in range(sides.shape[0]):
            other = neighbour(position, side, sides, shape)
            if other < 0 or levels[other] < level:
                continue
            pair = voxels[voxel], voxels[other]
            if voxel_level(pair[0], pair[1], sums, differences, lowest_sum, coefficients) >= level:
                bits[voxel] |= 1 << side


@njit(cache=True, nogil=True)
def _find_by_contrast(
    capacities: Any, levels: Any, shape: Any, targets: Any, bits: Any, sides: Any
) -> None:
    for voxel in targets:
        level, position = levels[voxel], indices_of(voxel, shape)
        for side in range(sides.shape[0]):
            other = neighbour(position, side, sides, shape)
            if other >= 0 and levels[other] >= level and capacities[other] >= level:
                bits[voxel] |= np.uint32(1) << np.uint32(side)


@njit(cache=True, nogil=True)
def _settled_owner(voxel: Any, bits: Any, owners: Any, shape: Any, sides: Any) -> Any:
    """The owner that a voxel gets from neighbours that groups have."""
    owner, position = np.uint8(NOBODY), indices_of(voxel, shape)
    for side in range(sides.shape[0]):
        if bits[voxel] >> side & 1:
            other = owners[neighbour(position, side, sides, shape)]
            owner = owner if other == DISPUTED else joined(owner, other)
    return owner


@njit(cache=True, nogil=True)
def _spread(
    targets: Any, bits: Any, owners: Any, shape: Any, sides: Any, waiting: Any, found: Any,
    listed: Any, stop: Any,
) -> None:  # fmt: skip
    # The least solution: owners only ever rise (nobody < group < several), so that each voxel is
    # processed twice at most, in any order; here adjacent voxels are processed together.
    done = 0
    for first in targets:
        owner = _settled_owner(first, bits, owners, shape, sides)
        owner = joined(found[first], owner)
        if owner == found[first]:
            continue
        found[first] = owner
        listed[0], count = first, 1
        while count:
            done += 1
            if done % VOXELS_PER_CHECK == 0 and stop[0]:
                return
            count -= 1
            voxel = np.int64(listed[count])
            bits[voxel] &= ~waiting
            position = indices_of(voxel, shape)
            for side in range(sides.shape[0]):
                other = neighbour(position, side, sides, shape)
                if other < 0 or not bits[other] >> (side ^ 1) & 1:
                    continue
                owner = joined(found[other], found[voxel])
                if owner == found[other]:
                    continue
                found[other] = owner
                if not bits[other] & waiting:
                    bits[other] |= waiting
                    listed[count] = other
                    count += 1


@njit(cache=True, nogil=True)
def _share(
    targets: Any, bits: Any, owners: Any, shape: Any, sides: Any, waiting: Any, found: Any,
    listed: Any, stop: Any,
) -> None:  # fmt: skip
    # Breadth first: listed[begin:end] are equally many steps away, and those behind them one more.
    # Waiting: reached in an earlier round, and final.
    count = 0
    for voxel in targets:
        found[voxel] = _settled_owner(voxel, bits, owners, shape, sides)
        if found[voxel] != NOBODY:
            listed[count] = voxel
            count += 1
    begin = 0
    while begin < count and not stop[0]:
        end = count
        for n in range(begin, end):
            bits[listed[n]] |= waiting
        for n in range(begin, end):
            voxel = np.int64(listed[n])
            position = indices_of(voxel, shape)
            for side in range(sides.shape[0]):
                other = neighbour(position, side, sides, shape)
                if other < 0 or bits[other] & waiting or not bits[other] >> (side ^ 1) & 1:
                    continue
                if found[other] == NOBODY:
                    listed[count] = other
                    count += 1
                found[other] = joined(found[other], found[voxel])
        begin = end
