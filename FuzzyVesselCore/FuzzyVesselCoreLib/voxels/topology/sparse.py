"""Topology of a few voxels in a large volume: only these voxels are visited.

A skeleton is one voxel in thousands.
"""

from dataclasses import dataclass

import numpy as np

from ...jit.decorators import compiled
from ..components.union_find import find_root


def _corner_table() -> np.ndarray:
    """Return 8 times a grid corner's part of the Euler characteristic, by its 8 voxels as bits."""
    table = np.zeros(256, np.int64)
    for configuration in range(1, 256):
        cubes = np.array([configuration >> n & 1 for n in range(8)], bool).reshape(2, 2, 2)
        edges = sum(cubes.take(side, axis).any() for axis in range(3) for side in range(2))
        faces = sum(np.count_nonzero(cubes.any(axis)) for axis in range(3))
        # A corner lies on 1 corner, half of an edge, a quarter of a face, an eighth of a cube.
        table[configuration] = 8 - 4 * edges + 2 * faces - np.count_nonzero(cubes)
    return table


CORNER_TABLE = _corner_table()


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
    parents, blocks = np.arange(len(indices)), np.full(len(indices), 1 << 13)
    components = components_and_blocks(indices, row, plane, parents, blocks)
    return SparseTopology(components, sum_over_corners(blocks, CORNER_TABLE) // 8)


@compiled
def components_and_blocks(
    indices: np.ndarray, row: int, plane: int, parents: np.ndarray, blocks: np.ndarray
) -> int:
    """Count the components of rising flat indices, and encode the 27 voxels round each as bits.

    Each voxel is its own parent before, and its block has the voxel itself.
    """
    components = indices.size
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
    return components


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
