"""Disputed voxels on the CPU: iterative relative connectedness, and the rule for ties.

Both go out from the voxels that a group has, along optimal edges, into disputed voxels only.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import ask_while

from .groups import DISPUTED, NOBODY

VOXELS_A_LOOK = 1 << 16  # between two looks at whether to stop


def iterate(edges, offsets, owners, look):
    """From relative to iterative relative connectedness, in place.

    Parameters
    ----------
    edges : ndarray, shape (K, J, I), unsigned integers
        See `optimal_edges`. Bit n: from the neighbour on side n. The highest bit is free.
    offsets : ndarray, int64, shape (n, 3)
        Steps along K, J, I to the neighbour on each side; that of side ``n ^ 1`` is opposite.
    owners : ndarray, shape (K, J, I), uint8
        By relative connectedness; see `owners_by_blocks.solve`.
    look : callable
        Called from time to time; raises to cancel.

    Returns
    -------
    peak_bytes : int
        Beside edges and owners.
    """
    found, listed = _room(owners)
    _run(_spread, edges, offsets, owners, found, listed, look)
    np.copyto(owners.reshape(-1), found, where=owners.reshape(-1) == DISPUTED)
    return found.nbytes + listed.nbytes


def share_by_steps(edges, offsets, owners, look):
    """Give disputed voxels to the group that is the fewest steps away.

    Parameters
    ----------
    edges, offsets, owners, look
        As in `iterate`; the owners are left as they are.

    Returns
    -------
    shared : ndarray, shape (K, J, I), uint8
        `DISPUTED` where two groups are equally near.
    peak_bytes : int
        Beside edges and owners.
    """
    found, listed = _room(owners)
    _run(_share, edges, offsets, owners, found, listed, look)
    flat = owners.reshape(-1)
    np.copyto(found, flat, where=flat != DISPUTED)
    return found.reshape(owners.shape), found.nbytes + listed.nbytes


def _room(owners):
    """Room for the disputed voxels' new owners, and for a list of them."""
    index = np.int32 if owners.size < 2**31 else np.int64
    return np.zeros(owners.size, np.uint8), np.empty(np.count_nonzero(owners == DISPUTED), index)


def _run(work, edges, offsets, owners, found, listed, look):
    waiting = edges.dtype.type(1 << 8 * edges.itemsize - 1)  # beside edges: it is in the list
    volume = edges.reshape(-1), owners.reshape(-1), np.array(owners.shape), offsets
    ask_while(look, work, *volume, waiting, found, listed)


@njit(cache=True, nogil=True)
def place_of(voxel, shape):
    """K, J, I of a flat index."""
    row = voxel // shape[2]
    return row // shape[1], row % shape[1], voxel % shape[2]


@njit(cache=True, nogil=True)
def neighbour(place, side, offsets, shape):
    """Flat index of the neighbour of a place on a side; -1 outside the volume."""
    k, j, i = place[0] + offsets[side, 0], place[1] + offsets[side, 1], place[2] + offsets[side, 2]
    inside = 0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]
    return (k * shape[1] + j) * shape[2] + i if inside else -1


@njit(cache=True, nogil=True)
def joined(one, other):
    """The owner of what both owners reach."""
    if one == NOBODY:
        return other
    if other == NOBODY:
        return one
    return one if one == other else np.uint8(DISPUTED)


@njit(cache=True, nogil=True)
def owner_round(voxel, edges, owners, shape, offsets):
    """What the neighbours that groups have give a disputed voxel."""
    owner, place = np.uint8(NOBODY), place_of(voxel, shape)
    for side in range(offsets.shape[0]):
        if edges[voxel] >> side & 1:
            other = owners[neighbour(place, side, offsets, shape)]
            owner = owner if other == DISPUTED else joined(owner, other)
    return owner


@njit(cache=True, nogil=True)
def _spread(edges, owners, shape, offsets, waiting, found, listed, stop):
    # The least solution: owners only ever rise (nobody < group < several), so that each voxel is
    # followed twice at most, in any order. In this one what lies together is followed together.
    done = 0
    for first in range(owners.size):
        if owners[first] != DISPUTED:
            continue
        owner = joined(found[first], owner_round(first, edges, owners, shape, offsets))
        if owner == found[first]:
            continue
        found[first] = owner
        listed[0], count = first, 1
        while count:
            done += 1
            if done % VOXELS_A_LOOK == 0 and stop[0]:
                return
            count -= 1
            voxel = np.int64(listed[count])
            edges[voxel] &= ~waiting
            place = place_of(voxel, shape)
            for side in range(offsets.shape[0]):
                other = neighbour(place, side, offsets, shape)
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
    # Breadth first: listed[begin:end] are as many steps away, and those behind them one more.
    # Waiting: reached in an earlier round, so that nothing changes any more.
    count = 0
    for voxel in range(owners.size):
        if owners[voxel] == DISPUTED:
            found[voxel] = owner_round(voxel, edges, owners, shape, offsets)
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
            place = place_of(voxel, shape)
            for side in range(offsets.shape[0]):
                other = neighbour(place, side, offsets, shape)
                if other < 0 or edges[other] & waiting or not edges[other] >> (side ^ 1) & 1:
                    continue
                if found[other] == NOBODY:
                    listed[count] = other
                    count += 1
                found[other] = joined(found[other], found[voxel])
        begin = end
    for n in range(count):
        edges[listed[n]] &= ~waiting
