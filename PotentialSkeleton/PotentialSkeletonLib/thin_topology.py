"""Pieces and Euler characteristic of a few voxels in a large volume.

Only the voxels and what lies beside them are looked at: a skeleton is one voxel in thousands.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from .topology import CORNER_TABLE

EMPTY, OBJECT = 0, 1
MARGIN = 1  # voxels round the box, for what lies beside


@dataclass(frozen=True)
class ThinTopology:
    """Topology of a set of voxels (26-connected object, 6-connected background).

    Attributes
    ----------
    pieces : int
    characteristic : int
        Pieces - tunnels + cavities.
    """

    pieces: int
    characteristic: int


def thin_topology(voxels, states=None):
    """The `ThinTopology` of voxels K, J, I, all different.

    Parameters
    ----------
    voxels : ndarray of int, (n, 3)
    states : ndarray of uint8, optional
        Room, all 0 and so again at the end, for the box of the voxels and `MARGIN` round it; from
        `thinning.room_for` of an array that holds the voxels off its border, for example.
    """
    if not len(voxels):
        return ThinTopology(0, 0)
    low = voxels.min(axis=0) - MARGIN
    size = voxels.max(axis=0) + MARGIN + 1 - low
    if states is None:
        states = np.zeros(math.prod(size.tolist()), np.uint8)
    return ThinTopology(*measured(states, voxels - low, size, CORNER_TABLE))


@njit(cache=True)
def measured(states, voxels, size, table):
    """Pieces and Euler characteristic of voxels in an array of some size."""
    row, plane = size[2], size[1] * size[2]
    places = voxels[:, 0] * plane + voxels[:, 1] * row + voxels[:, 2]
    for place in places:
        states[place] = OBJECT
    characteristic = sum_of_corners(states, places, row, plane, table) // 8
    return count_floods(states, places, row, plane), characteristic


@njit(cache=True)
def sum_of_corners(states, places, row, plane, table):
    """Sum of the table's values over all corners of the voxels, each once."""
    total = 0
    for place in places:
        for corner in range(8):
            first = place - (corner >> 2) * plane - (corner >> 1 & 1) * row - (corner & 1)
            configuration = 0
            for n in range(8):
                if states[first + (n >> 2) * plane + (n >> 1 & 1) * row + (n & 1)]:
                    configuration |= 1 << n
            if configuration & ((1 << corner) - 1) == 0:  # no voxel before this one has the corner
                total += table[configuration]
    return total


@njit(cache=True)
def count_floods(states, places, row, plane):
    """How many pieces the places make; the object is taken from them."""
    pieces = 0
    waiting = np.empty(places.size, np.int64)
    for start in places:
        if states[start] != OBJECT:
            continue
        pieces += 1
        states[start] = EMPTY
        waiting[0], count = start, 1
        while count:
            count -= 1
            place = waiting[count]
            for n in range(27):
                other = place + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1
                if states[other] == OBJECT:
                    states[other] = EMPTY
                    waiting[count] = other
                    count += 1
    return pieces
