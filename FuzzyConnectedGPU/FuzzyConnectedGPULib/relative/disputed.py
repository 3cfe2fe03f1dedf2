"""Disputed voxels on the CPU: iterative relative connectedness, and the rule for ties.

Both spread from the voxels that a group has, along optimal edges, into disputed voxels only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress

from .groups import DISPUTED, NOBODY

VOXELS_PER_CHECK = 1 << 16  # between two checks of the stop flag


def iterate(edges: np.ndarray, offsets: np.ndarray, owners: np.ndarray, progress: Progress) -> int:
    """From relative to iterative relative connectedness, in position.

    Parameters
    ----------
    edges : ndarray, shape (K, J, I), unsigned integers
        See `optimal_edges`. Bit n: from the neighbour on side n. The highest bit is free.
    offsets : ndarray, int64, shape (n, 3)
        Steps along K, J, I to the neighbour on each side; that of side ``n ^ 1`` is opposite.
    owners : ndarray, shape (K, J, I), uint8
        By relative connectedness; see `owners_by_blocks.solve`.
    progress : Progress
        Checked from time to time.

    Returns
    -------
    peak_bytes : int
        Beside edges and owners.
    """
    found, listed = _scratch(owners)
    _run(_spread, edges, offsets, owners, found, listed, progress)
    np.copyto(owners.reshape(-1), found, where=owners.reshape(-1) == DISPUTED)
    return found.nbytes + listed.nbytes


def share_by_steps(
    edges: np.ndarray, offsets: np.ndarray, owners: np.ndarray, progress: Progress
) -> tuple[np.ndarray, int]:
    """Give disputed voxels to the group that is the fewest steps away.

    Parameters
    ----------
    edges, offsets, owners, progress
        As in `iterate`; the owners are not changed.

    Returns
    -------
    shared : ndarray, shape (K, J, I), uint8
        `DISPUTED` where two groups are equally near.
    peak_bytes : int
        Beside edges and owners.
    """
    found, listed = _scratch(owners)
    _run(_share, edges, offsets, owners, found, listed, progress)
    flat = owners.reshape(-1)
    np.copyto(found, flat, where=flat != DISPUTED)
    return found.reshape(owners.shape), found.nbytes + listed.nbytes


def _scratch(owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Buffers for the disputed voxels' new owners, and for a list of them."""
    index = np.int32 if owners.size < 2**31 else np.int64
    return np.zeros(owners.size, np.uint8), np.empty(np.count_nonzero(owners == DISPUTED), index)


def _run(
    work: Callable,
    edges: np.ndarray,
    offsets: np.ndarray,
    owners: np.ndarray,
    found: np.ndarray,
    listed: np.ndarray,
    progress: Progress,
) -> None:
    waiting = edges.dtype.type(1 << 8 * edges.itemsize - 1)  # flag in edges: it is in the list
    volume = edges.reshape(-1), owners.reshape(-1), np.array(owners.shape), offsets
    progress.wait_for(work, *volume, waiting, found, listed)


@njit(cache=True, nogil=True)
def indices_of(voxel: Any, shape: np.ndarray) -> Any:
    """K, J, I of a flat index."""
    row = voxel // shape[2]
    return row // shape[1], row % shape[1], voxel % shape[2]


@njit(cache=True, nogil=True)
def neighbour(position: Any, side: int, offsets: np.ndarray, shape: np.ndarray) -> int:
    """Flat index of the neighbour of a voxel (K, J, I) on a side; -1 outside the volume."""
    k, j = position[0] + offsets[side, 0], position[1] + offsets[side, 1]
    i = position[2] + offsets[side, 2]
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
def owner_by_neighbours(
    voxel: Any, edges: np.ndarray, owners: np.ndarray, shape: np.ndarray, offsets: np.ndarray
) -> Any:
    """The owner that a disputed voxel gets from neighbours that groups have."""
    owner, position = np.uint8(NOBODY), indices_of(voxel, shape)
    for side in range(offsets.shape[0]):
        if edges[voxel] >> side & 1:
            other = owners[neighbour(position, side, offsets, shape)]
            owner = owner if other == DISPUTED else joined(owner, other)
    return owner


@njit(cache=True, nogil=True)
def _spread(edges, owners, shape, offsets, waiting, found, listed, stop):
    # The least solution: owners only ever rise (nobody < group < several), so that each voxel is
    # processed twice at most, in any order; here adjacent voxels are processed together.
    done = 0
    for first in range(owners.size):
        if owners[first] != DISPUTED:
            continue
        owner = joined(found[first], owner_by_neighbours(first, edges, owners, shape, offsets))
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
            edges[voxel] &= ~waiting
            position = indices_of(voxel, shape)
            for side in range(offsets.shape[0]):
                other = neighbour(position, side, offsets, shape)
                if other < 0 or not edges[other] >> (side ^ 1) & 1:
                    continue
                owner = joined(found[other], found[voxel])
                if owner == found[other]:
                    continue
                found[other] = owner
                if not edges[other] & waiting:
                    edges[other] |= waiting
                    listed[count] = other
                    count += 1


@njit(cache=True, nogil=True)
def _share(edges, owners, shape, offsets, waiting, found, listed, stop):
    # Breadth first: listed[begin:end] are equally many steps away, and those behind them one more.
    # Waiting: reached in an earlier round, and final.
    count = 0
    for voxel in range(owners.size):
        if owners[voxel] == DISPUTED:
            found[voxel] = owner_by_neighbours(voxel, edges, owners, shape, offsets)
            if found[voxel] != NOBODY:
                listed[count] = voxel
                count += 1
    begin = 0
    while begin < count and not stop[0]:
        end = count
        for n in range(begin, end):
            edges[listed[n]] |= waiting
        for n in range(begin, end):
            voxel = np.int64(listed[n])
            position = indices_of(voxel, shape)
            for side in range(offsets.shape[0]):
                other = neighbour(position, side, offsets, shape)
                if other < 0 or edges[other] & waiting or not edges[other] >> (side ^ 1) & 1:
                    continue
                if found[other] == NOBODY:
                    listed[count] = other
                    count += 1
                found[other] = joined(found[other], found[voxel])
        begin = end
    for n in range(count):
        edges[listed[n]] &= ~waiting
