"""Sizes of a block, and the scratch buffers of a thread."""

from typing import NamedTuple

import numpy as np

DEPTH, HEIGHT, WIDTH = 16, 32, 32  # of a block: K, J, I
VOXELS = DEPTH * HEIGHT * WIDTH
ROW = WIDTH + 2  # strides of the region along J and K
PLANE = ROW * (HEIGHT + 2)
REGION = PLANE * (DEPTH + 2)
FIRST = PLANE + ROW + 64  # offset of the region in its array: reads beyond its ends see no edge
ARRAY = REGION + 2 * FIRST
MAX_EDGES = 3 * VOXELS + HEIGHT * WIDTH + DEPTH * WIDTH + DEPTH * HEIGHT
MAX_OUTER = HEIGHT * WIDTH + DEPTH * WIDTH + DEPTH * HEIGHT  # edges from a block to later ones


class LoadedRow(NamedTuple):
    """Voxels of a row of blocks and the layer around it, shape (DEPTH + 2, HEIGHT + 2, I' + 2).

    I' is the length of the blocks together; the types are float32 and uint8.
    """

    intensities: np.ndarray
    valid: np.ndarray


class BlockBuffers(NamedTuple):
    """Scratch buffers of one block, which fit in the core's cache.

    Attributes
    ----------
    region, valid : ndarray, shape (ARRAY,), float32 and uint8
        Intensities of the region, and where there are any.
    along, strong : ndarray, shape (3, ARRAY), uint16
        Levels of the edges along I, J, K; of those that are needed.
    edges, spare : ndarray, uint32
        The list of edges, and the buffer of its sort.
    offsets : ndarray, shape (2, 256), int32
    parent : ndarray, shape (VOXELS + 1,), uint16
        For each voxel another one of its component, itself, or `trees.FIRST_NODE` + node.
    limit : ndarray, shape (VOXELS,), uint16
        Upper bound of the values of the component that a voxel represents.
    node_parent : ndarray, shape (VOXELS,), int32
        Union-find forest of the block's nodes.
    """

    region: np.ndarray
    valid: np.ndarray
    along: np.ndarray
    strong: np.ndarray
    edges: np.ndarray
    spare: np.ndarray
    offsets: np.ndarray
    parent: np.ndarray
    limit: np.ndarray
    node_parent: np.ndarray


class RowEdges(NamedTuple):
    """Edges of a row of blocks: between two nodes of a block, and from a node to a later block's
    voxel (flat index).
    """

    inner_from: np.ndarray
    inner_to: np.ndarray
    inner_level: np.ndarray
    outer_from: np.ndarray
    outer_to: np.ndarray
    outer_level: np.ndarray


class Scratch:
    """The scratch buffers of one thread, for rows of so many blocks."""

    def __init__(self, columns: int) -> None:
        around = DEPTH + 2, HEIGHT + 2, columns * WIDTH + 2
        self.loaded = LoadedRow(np.empty(around, np.float32), np.empty(around, np.uint8))
        self.block = BlockBuffers(
            region=np.zeros(ARRAY, np.float32),
            valid=np.zeros(ARRAY, np.uint8),
            along=np.zeros((3, ARRAY), np.uint16),
            strong=np.zeros((3, ARRAY), np.uint16),
            edges=np.empty(MAX_EDGES + 1, np.uint32),
            spare=np.empty(MAX_EDGES + 1, np.uint32),
            offsets=np.empty((2, 256), np.int32),
            parent=np.zeros(VOXELS + 1, np.uint16),
            limit=np.empty(VOXELS, np.uint16),
            node_parent=np.empty(VOXELS, np.int32),
        )
        inner, outer = columns * VOXELS, columns * MAX_OUTER
        self.row = RowEdges(
            *(np.empty(inner, np.int32), np.empty(inner, np.int32), np.empty(inner, np.uint16)),
            *(np.empty(outer, np.int32), np.empty(outer, np.int64), np.empty(outer, np.uint16)),
        )
        self.table = np.empty(VOXELS + 1, np.uint16)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        arrays = (*self.loaded, *self.block, *self.row, self.table)
        return sum(array.nbytes for array in arrays)

    def copied_edges(self, inner: int, outer: int) -> list[np.ndarray]:
        """Copies of the edges that the last row of blocks gave."""
        return [a[:n].copy() for a, n in zip(self.row, 3 * [inner] + 3 * [outer])]
