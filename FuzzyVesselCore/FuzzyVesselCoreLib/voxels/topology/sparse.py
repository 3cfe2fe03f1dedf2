"""Topology of a few voxels in a large volume: only these voxels are visited.

A skeleton is one voxel in thousands.
"""

from dataclasses import dataclass

import numpy as np

from ...jit.decorators import compiled
from ..components.union_find import find_root
from .euler import CORNER_TABLE


@dataclass(frozen=True)
class SparseTopology:
    """Topology of a set of voxels (26-connected object, 6-connected background).

    Attributes
    ----------
    components : int
    characteristic : int
        Euler characteristic: components - tunnels + cavities.
    """

    components: int
    characteristic: int


def sparse_topology(voxels: np.ndarray) -> SparseTopology:
    """Return the topology of a set of voxels.

    Parameters
    ----------
    voxels : ndarray of int, (n, 3)
        K, J, I; all different.

    Examples
    --------
    >>> sparse_topology(np.array([[0, 0, 0], [0, 1, 1], [5, 5, 5]]))
    SparseTopology(components=2, characteristic=2)
    """
    if not len(voxels):
        return SparseTopology(0, 0)
    low = voxels.min(axis=0) - 1  # with a margin, neighbouring flat indices are neighbours
    size = voxels.max(axis=0) + 2 - low
    row, plane = size[2], size[1] * size[2]
    indices = np.sort((voxels - low) @ np.array([plane, row, 1]))
    components, blocks = components_and_blocks(indices, row, plane)
    return SparseTopology(components, sum_over_corners(blocks, CORNER_TABLE) // 8)


@compiled
def components_and_blocks(indices: np.ndarray, row: int, plane: int) -> tuple[int, np.ndarray]:
    """Count the components of rising flat indices, and encode the 27 voxels round each as bits."""
    parents, components = np.arange(indices.size), indices.size
    blocks = np.full(indices.size, 1 << 13, np.int64)
    for side in range(13):  # the neighbours before a voxel; those after it have it before them
        step = (side // 9 - 1) * plane + (side // 3 % 3 - 1) * row + side % 3 - 1
        at = 0
        for n in range(indices.size):
            while indices[at] < indices[n] + step:  # the neighbours rise, too
                at += 1
            if indices[at] == indices[n] + step:
                blocks[n] |= 1 << side
                blocks[at] |= 1 << (26 - side)
                one, other = find_root(n, parents), find_root(at, parents)
                parents[one] = other
                components -= one != other
    return components, blocks


@compiled
def sum_over_corners(blocks: np.ndarray, table: np.ndarray) -> int:
    """Sum the values of the table over all grid corners of the voxels, each once."""
    total = 0
    for block in blocks:
        for corner in range(8):
            first = 13 - 9 * (corner >> 2) - 3 * (corner >> 1 & 1) - (corner & 1)
            configuration = 0
            for n in range(8):
                at = first + 9 * (n >> 2) + 3 * (n >> 1 & 1) + (n & 1)
                configuration |= (block >> at & 1) << n
            if configuration & ((1 << corner) - 1) == 0:  # no earlier voxel has this corner
                total += table[configuration]
    return total
