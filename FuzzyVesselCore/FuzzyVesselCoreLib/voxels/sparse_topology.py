"""Pieces and Euler characteristic of a few voxels in a large volume.

Only the voxels are looked at, as a list: a skeleton is one voxel in thousands.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from .components.run_length import root_of
from .topology import CORNER_TABLE


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


def thin_topology(voxels):
    """The `ThinTopology` of voxels K, J, I (n, 3), all different."""
    if not len(voxels):
        return ThinTopology(0, 0)
    low = voxels.min(axis=0) - 1  # the rows of a box with a margin have no neighbours in others
    size = voxels.max(axis=0) + 2 - low
    row, plane = size[2], size[1] * size[2]
    places = np.sort((voxels - low) @ np.array([plane, row, 1]))
    pieces, blocks = pieces_and_blocks(places, row, plane)
    return ThinTopology(pieces, sum_of_corners(blocks, CORNER_TABLE) // 8)


@njit(cache=True)
def pieces_and_blocks(places, row, plane):
    """How many pieces rising flat indices make; the block of 27 voxels round each as bits."""
    parents, pieces = np.arange(places.size), places.size
    blocks = np.full(places.size, 1 << 13, np.int64)
    for side in range(13):  # neighbours before a voxel; those behind it have it before them
        step = (side // 9 - 1) * plane + (side // 3 % 3 - 1) * row + side % 3 - 1
        at = 0
        for n in range(places.size):
            while places[at] < places[n] + step:  # the neighbours rise, too
                at += 1
            if places[at] == places[n] + step:
                blocks[n] |= 1 << side
                blocks[at] |= 1 << (26 - side)
                one, other = root_of(n, parents), root_of(at, parents)
                parents[one] = other
                pieces -= one != other
    return pieces, blocks


@njit(cache=True)
def sum_of_corners(blocks, table):
    """Sum of the table's values over all corners of the voxels, each once."""
    total = 0
    for block in blocks:
        for corner in range(8):
            first = 13 - 9 * (corner >> 2) - 3 * (corner >> 1 & 1) - (corner & 1)
            configuration = 0
            for n in range(8):
                at = first + 9 * (n >> 2) + 3 * (n >> 1 & 1) + (n & 1)
                configuration |= (block >> at & 1) << n
            if configuration & ((1 << corner) - 1) == 0:  # no voxel before this one has the corner
                total += table[configuration]
    return total
