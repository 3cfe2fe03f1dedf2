"""Iterative relative connectedness by contrast on a list of voxels: a part of a large volume.

The owners are those of `contrast_owners` followed by `disputed.iterate`, found in another way, and
nothing has the size of the volume but some bits for each of its voxels. Let L(v) be the level of
the strongest path from any group to v, and let an edge from w to v be optimal if a path through w
comes to v at L(v). Then the owner of v is what the points hand on along optimal edges, one group or
several (`DISPUTED`):

- Where one group alone has the strongest paths to v, it alone has those to each voxel with an
  optimal edge to v, since any other one there would come to v as strongly. So v gets it.
- Elsewhere that is how `disputed.iterate` defines the owner.

A point is its group's, also where a path of the highest level comes to it from another one.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.neighbourhood import NEIGHBOURS, rows_around

from ..affinity import TOP_LEVEL
from ..contrast.live.packed_voxels import PackedVoxels, number_of, ones, row_of
from .disputed import joined


def solve(
    packed: PackedVoxels,
    voxels: np.ndarray,
    capacities: np.ndarray,
    shape: tuple[int, ...],
    points: np.ndarray,
    groups: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Levels of all groups together, and the owner of each voxel of a list.

    Parameters
    ----------
    packed : PackedVoxels
        The voxels, as bits of the volume.
    voxels : ndarray, int32
        Their flat indices, ascending.
    capacities : ndarray, uint16
        Level of each; no path passes 0.
    shape : (K, J, I)
        Of the volume.
    points, groups : ndarray, int64 and uint8
        Numbers in the list of the points of all groups, each once, and their groups.

    Returns
    -------
    levels : ndarray, uint16
        Of the strongest path from any group to each voxel.
    owners : ndarray, uint8
        A group from 1 on, `NOBODY`, or `DISPUTED`.
    """
    levels, owners = np.zeros(voxels.size, np.uint16), np.zeros(voxels.size, np.uint8)
    levels[points], owners[points] = TOP_LEVEL, groups
    _spread(points, voxels, capacities, *packed, shape, levels, owners)
    final = np.zeros(voxels.size, np.bool_)
    final[points] = True
    found = voxels, capacities, *packed, shape, levels, owners, final
    giving = np.zeros(voxels.size, np.bool_)
    count = voxels.size
    in_parts(lambda a, b: _find_giving(a, b, *found, giving), count, NEIGHBOURS * count)
    _join(np.flatnonzero(giving), *found)
    return levels, owners


@njit(cache=True, nogil=True)
def _spread(points, voxels, capacities, bits, before, shape, levels, owners):
    """Level of each voxel, and the owner of one of its optimal edges."""
    unseen = bits.copy()
    heads = np.full(TOP_LEVEL + 1, -1, np.int32)
    following = np.empty(voxels.size, np.int32)  # the voxel queued before at the same level
    bucket = 0
    for node in points:
        voxel, level = voxels[node], np.int64(capacities[node])
        unseen[voxel >> 6] &= ~(np.uint64(1) << np.uint64(voxel & 63))
        if level:
            following[node], heads[level] = heads[level], node
            bucket = max(bucket, level)
    while bucket > 0:
        node = heads[bucket]
        if node < 0:
            bucket -= 1
            continue
        heads[bucket] = following[node]
        voxel = np.int64(voxels[node])
        planes, rows, low, span = rows_around(voxel, shape)
        for k in range(*planes):
            for j in range(*rows):
                first = (k * shape[1] + j) * shape[2] + low
                near = row_of(first, span, unseen)
                if not near:
                    continue
                other = np.int64(-1)
                for step in range(span):
                    place = first + step
                    if other >= 0:
                        other += np.int64(
                            (bits[place >> 6] >> np.uint64(place & 63)) & np.uint64(1)
                        )
                    if not (near >> np.uint64(step)) & np.uint64(1):
                        continue
                    if other < 0:  # the numbers of a row go up by one
                        other = np.int64(number_of(place, bits, before))
                    unseen[place >> 6] &= ~(np.uint64(1) << np.uint64(place & 63))
                    level = min(np.int64(capacities[other]), bucket)
                    if level:
                        levels[other], owners[other] = level, owners[node]
                        following[other], heads[level] = heads[level], other


@njit(cache=True, nogil=True)
def _find_giving(
    first,
    last,
    voxels,
    capacities,
    bits,
    before,
    shape,
    levels,
    owners,
    final,
    giving,
):
    """Mark voxels with an optimal edge to a voxel of another owner."""
    for node in range(first, last):
        reach, owner = min(levels[node], capacities[node]), owners[node]
        if not reach:
            continue
        voxel = np.int64(voxels[node])
        planes, rows, low, span = rows_around(voxel, shape)
        for k in range(*planes):
            for j in range(*rows):
                begin = (k * shape[1] + j) * shape[2] + low
                near = row_of(begin, span, bits)
                if not near:
                    continue
                step = 0
                while not (near >> np.uint64(step)) & np.uint64(1):
                    step += 1
                # The numbers of a row go up by one.
                other = np.int64(number_of(begin + step, bits, before))
                for _ in range(ones(near)):
                    if owners[other] != owner and levels[other] and reach >= levels[other]:
                        giving[node] |= not final[other]
                    other += 1


@njit(cache=True, nogil=True)
def _join(giving, voxels, capacities, bits, before, shape, levels, owners, final):
    """What comes along all optimal edges; a voxel whose owner changes hands it on again."""
    waiting = np.zeros(voxels.size, np.bool_)
    listed = np.empty(voxels.size, np.int32)
    for start in giving:
        count, listed[0] = 1, start
        while count:
            count -= 1
            node = listed[count]
            waiting[node] = False
            voxel, owner = np.int64(voxels[node]), owners[node]
            reach = min(levels[node], capacities[node])
            planes, rows, low, span = rows_around(voxel, shape)
            for k in range(*planes):
                for j in range(*rows):
                    first = (k * shape[1] + j) * shape[2] + low
                    near = row_of(first, span, bits)
                    other = np.int64(-1)
                    for step in range(span):
                        if not (near >> np.uint64(step)) & np.uint64(1):
                            continue
                        if other < 0:
                            other = np.int64(number_of(first + step, bits, before))
                        else:
                            other += 1
                        if owners[other] == owner or reach < levels[other] or not levels[other]:
                            continue
                        if final[other]:
                            continue
                        theirs = joined(owners[other], owner)
                        if theirs != owners[other]:
                            owners[other] = theirs
                            if not waiting[other]:
                                waiting[other] = True
                                listed[count] = other
                                count += 1
