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
    pairs = adjacent_pairs(indices, row, plane)
    parents, blocks = np.arange(len(indices)), np.full(len(indices), 1 << 13)
    components = components_and_blocks(pairs, parents, blocks)
    return SparseTopology(components, sum_over_corners(blocks, CORNER_TABLE) // 8)


def adjacent_pairs(indices: np.ndarray, row: int, plane: int) -> np.ndarray:
    """Return all pairs of 26-adjacent voxels.

    Parameters
    ----------
    indices : ndarray of int64, (n,)
        Flat indices, ascending, of voxels that are not at the volume's border.
    row, plane : int
        Number of voxels of a row and of a plane.

    Returns
    -------
    ndarray of int64, (3, m)
        Of each pair the places of the later and of the earlier voxel among the indices, and where
        the earlier one lies in the block of 27 round the later one, 0 to 12. The later voxel lies
        there, 13 to 26, in the block round the earlier one: at 26 less that.

    Examples
    --------
    >>> adjacent_pairs(np.array([26, 27, 33]), 5, 20).tolist()
    [[2, 1], [1, 0], [9, 12]]
    """
    pairs = np.empty((3, 13 * len(indices)), np.int64)
    return pairs[:, : list_pairs(indices, row, plane, pairs)]


@compiled
def list_pairs(indices: np.ndarray, row: int, plane: int, pairs: np.ndarray) -> int:
    """List the pairs, row by row of the block; returns how many there are."""
    count = 0
    for side in range(0, 13, 3):  # the row of voxels that begins there; from 12 on, one voxel
        step = (side // 9 - 1) * plane + (side // 3 % 3 - 1) * row - 1
        first = 0
        for n in range(indices.size):
            low = indices[n] + step
            while indices[first] < low:  # the rows' beginnings rise, too
                first += 1
            at = first
            while at < n and indices[at] <= low + 2:
                pairs[0, count], pairs[1, count] = n, at
                pairs[2, count] = side + indices[at] - low
                count += 1
                at += 1
    return count


@compiled
def components_and_blocks(pairs: np.ndarray, parents: np.ndarray, blocks: np.ndarray) -> int:
    """Count the components of voxels, and encode the 27 voxels round each as bits.

    Each voxel is its own parent before, and its block has the voxel itself.
    """
    components = parents.size
    for n in range(pairs.shape[1]):
        later, earlier, side = pairs[0, n], pairs[1, n], pairs[2, n]
        blocks[later] |= 1 << side
        blocks[earlier] |= 1 << (26 - side)
        one, other = find_root(later, parents), find_root(earlier, parents)
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
