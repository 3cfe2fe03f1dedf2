"""The edges of a block of voxels that widest paths need, and the scratch memory of a thread.

A block is processed in a region: the block and one layer of voxels around it, so that the edges to
the adjacent blocks are the same from both sides. Of the four edges of any square of voxels the
weakest is not needed: a path along the other three is as good. Equal levels are ordered by axis and
position. About 1.2 of 3 edges per voxel remain.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..scene import TOP_LEVEL
from .dial import AffinityTables, computed_level

DEPTH, HEIGHT, WIDTH = 16, 32, 32  # of a block: K, J, I
VOXELS = DEPTH * HEIGHT * WIDTH
ROW = WIDTH + 2  # strides of the region along J and K
PLANE = ROW * (HEIGHT + 2)
REGION = PLANE * (DEPTH + 2)
FIRST = PLANE + ROW + 64  # offset of the region in its array: reads beyond its ends see no edge
ARRAY = REGION + 2 * FIRST
MAX_OUTER = HEIGHT * WIDTH + DEPTH * WIDTH + DEPTH * HEIGHT  # edges from a block to later ones
MAX_EDGES = 3 * VOXELS + MAX_OUTER
# Axis of an edge: from a voxel along I, J or K; or into the block from the voxel before it.
AXIS_I, AXIS_J, AXIS_K, FROM_BEFORE = 0, 1, 2, 3


class BlockBuffers(NamedTuple):
    """Scratch buffers of one block, which fit in the core's cache.

    `region` and `valid` are its intensities, and where there are any; `along` and `strong` (3, n)
    the levels of the edges along I, J, K, and of those that are needed; `edges`, `spare` and
    `offsets` the list of edges and its sort. `parent` has for each voxel another one of its
    component, itself, or `block_trees.FIRST_NODE` + node; `limit` the upper bound of the values of
    the component that a voxel represents; `node_parent` is the union-find forest of the block's
    nodes.
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


class Scratch:
    """The buffers of one thread, for rows of so many blocks.

    `loaded`: intensities and validity of a row of blocks and the layer around it. `edges`: from,
    to and level of edges between two nodes of a block, and of those from a node to the voxel (flat
    index) of a later block.
    """

    def __init__(self, columns: int) -> None:
        around = DEPTH + 2, HEIGHT + 2, columns * WIDTH + 2
        self.loaded = np.empty(around, np.float32), np.empty(around, np.uint8)
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
        types = (np.int32, np.int32, np.uint16), (np.int32, np.int64, np.uint16)
        self.edges: tuple[np.ndarray, ...] = tuple(
            np.empty(n, t) for n, kinds in zip((inner, outer), types) for t in kinds
        )
        self.table = np.empty(VOXELS + 1, np.uint16)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        arrays: tuple[np.ndarray, ...] = (*self.loaded, *self.block, *self.edges, self.table)
        return sum(array.nbytes for array in arrays)


@njit(cache=True, nogil=True)
def load_row(voxels: Any, mask: Any, row: Any, intensities: Any, valid: Any) -> None:
    """Copy the voxels of the row of blocks that begins at K, J, and the layer around it.

    0 where there is no valid voxel; all are valid for a mask of size 0.
    """
    k0, j0 = row
    depth, height, width = voxels.shape
    intensities[:] = 0
    valid[:] = 0
    for k in range(max(k0 - 1, 0), min(k0 + DEPTH + 1, depth)):
        for j in range(max(j0 - 1, 0), min(j0 + HEIGHT + 1, height)):
            to, to_valid = intensities[k - k0 + 1, j - j0 + 1], valid[k - k0 + 1, j - j0 + 1]
            for i in range(width):
                to[i + 1] = voxels[k, j, i]
            if mask.size == 0:
                to_valid[1 : width + 1] = 1
            else:
                to_valid[1 : width + 1] = mask[k, j]


@njit(cache=True, nogil=True)
def find_edges(block: BlockBuffers, loaded: Any, i0: int, floor: int, tables: Any) -> bool:
    """Write the edges that widest paths need of a block of a loaded row; False without a voxel."""
    region, valid, along, strong = block.region, block.valid, block.along, block.strong
    intensities, row_valid = loaded
    at, count = FIRST, 0
    for k in range(DEPTH + 2):
        for j in range(HEIGHT + 2):
            for i in range(ROW):
                region[at + i] = intensities[k, j, i0 + i]
                valid[at + i] = row_valid[k, j, i0 + i]
                count += row_valid[k, j, i0 + i]
            at += ROW
    if count == 0:
        return False
    edge_levels(region, 1, floor, tables, along[0])
    edge_levels(region, ROW, floor, tables, along[1])
    edge_levels(region, PLANE, floor, tables, along[2])
    cut_off(along[0], along[1], along[2], valid)
    strong_edges(along[0], along[1], along[2], 1, ROW, PLANE, 0, 0, strong[0])
    strong_edges(along[1], along[0], along[2], ROW, 1, PLANE, 1, 0, strong[1])
    strong_edges(along[2], along[0], along[1], PLANE, 1, ROW, 1, 1, strong[2])
    return True


@njit(cache=True, nogil=True)
def edge_levels(region: Any, step: int, floor: Any, tables: AffinityTables, levels: Any) -> None:
    """Level of the edge from each voxel of the region to the one `step` further; 0 below `floor`.

    Intensities are float32; those of integer volumes, their sums and differences are exact in it.
    """
    sums, differences, coefficients = tables.sums, tables.differences, tables.coefficients
    floor = np.int32(floor)
    lowest_sum = np.float32(tables.lowest_sum)
    weighted = coefficients[5] != np.float32(0)
    if sums.size == 0:
        for x in range(FIRST, FIRST + REGION):
            level = np.int32(computed_level(region[x], region[x + step], coefficients))
            levels[x] = level if level >= floor else 0
        return
    for x in range(FIRST, FIRST + REGION):
        total = np.uint32(np.int32(region[x] + region[x + step] - lowest_sum))
        difference = np.uint32(np.int32(abs(region[x] - region[x + step])))
        if weighted:
            level = np.int32(np.rint(sums[total] + differences[difference]))
        else:
            level = np.int32(np.rint(sums[total] * differences[difference]))
        levels[x] = level if level >= floor else 0


@njit(cache=True, nogil=True)
def cut_off(along_i: Any, along_j: Any, along_k: Any, valid: Any) -> None:
    """Remove the edges that lead out of the region, and those of invalid voxels."""
    for row in range(FIRST, FIRST + REGION, ROW):
        along_i[row + ROW - 1] = 0
    for plane in range(FIRST, FIRST + REGION, PLANE):
        for x in range(plane + PLANE - ROW, plane + PLANE):
            along_j[x] = 0
    for x in range(FIRST + REGION - PLANE, FIRST + REGION):
        along_k[x] = 0
    for x in range(FIRST, FIRST + REGION):
        here = valid[x]
        along_i[x] = along_i[x] if here & valid[x + 1] else 0
        along_j[x] = along_j[x] if here & valid[x + ROW] else 0
        along_k[x] = along_k[x] if here & valid[x + PLANE] else 0


@njit(cache=True, nogil=True)
def strong_edges(
    own: Any, one: Any, other: Any, step: int, step_one: int, step_other: int, after_one: int,
    after_other: int, strong: Any,
) -> None:  # fmt: skip
    """Write the edges along one axis that are not the weakest of any square; 0 for the others.

    An edge lies in four squares, two with each other axis; `after_*` is 1 where the edges of that
    axis come before this axis' among equal levels. Along the axis they are ordered by position.
    """
    for x in range(FIRST, FIRST + REGION):
        it = np.int32(own[x])
        a, b = it + np.int32(after_one), it + np.int32(after_other)
        y, z = x - step_one, x - step_other
        least = (it <= own[x + step_one]) & (a <= one[x]) & (a <= one[x + step])
        least |= (it < own[y]) & (a <= one[y]) & (a <= one[y + step])
        least |= (it <= own[x + step_other]) & (b <= other[x]) & (b <= other[x + step])
        least |= (it < own[z]) & (b <= other[z]) & (b <= other[z + step])
        strong[x] = np.uint16(0) if least else own[x]


@njit(cache=True, nogil=True)
def list_edges(strong: np.ndarray, parent: np.ndarray, edges: np.ndarray) -> int:
    """List the edges of a block between its components, and those that lead into or out of it.

    An edge is one number: 65535 - level, axis, and the voxel in the block (16, 2 and 14 bits).
    Edges between voxels of the same parent are left out. Returns their number.
    """
    count = 0
    for k in range(DEPTH):
        for j in range(HEIGHT):
            at, first = FIRST + (k + 1) * PLANE + (j + 1) * ROW + 1, (k * HEIGHT + j) * WIDTH
            for i in range(WIDTH):
                apart = (i == WIDTH - 1) | (parent[first + i] != parent[first + i + 1])
                count = append_edge(edges, count, strong[AXIS_I, at + i], apart, AXIS_I, first + i)
            leaves, step = j == HEIGHT - 1, WIDTH if j < HEIGHT - 1 else 0
            for i in range(WIDTH):
                apart = leaves | (parent[first + i] != parent[first + i + step])
                count = append_edge(edges, count, strong[AXIS_J, at + i], apart, AXIS_J, first + i)
            leaves, step = k == DEPTH - 1, HEIGHT * WIDTH if k < DEPTH - 1 else 0
            for i in range(WIDTH):
                apart = leaves | (parent[first + i] != parent[first + i + step])
                count = append_edge(edges, count, strong[AXIS_K, at + i], apart, AXIS_K, first + i)
    for j in range(HEIGHT):
        for i in range(WIDTH):
            level = strong[AXIS_K, FIRST + (j + 1) * ROW + i + 1]
            count = append_edge(edges, count, level, True, FROM_BEFORE, j * WIDTH + i)
    for k in range(DEPTH):
        plane = FIRST + (k + 1) * PLANE
        for i in range(WIDTH):
            level = strong[AXIS_J, plane + i + 1]
            count = append_edge(edges, count, level, True, FROM_BEFORE, k * HEIGHT * WIDTH + i)
        for j in range(HEIGHT):
            level = strong[AXIS_I, plane + (j + 1) * ROW]
            count = append_edge(edges, count, level, True, FROM_BEFORE, (k * HEIGHT + j) * WIDTH)
    return count


@njit(cache=True, nogil=True)
def append_edge(edges: Any, count: Any, level: Any, apart: bool, axis: int, voxel: int) -> Any:
    """Write an edge; the returned count includes it only if it is needed (without a branch)."""
    low_bits = np.uint32((axis << 14) | voxel)
    edges[count] = ((np.uint32(TOP_LEVEL) - np.uint32(level)) << np.uint32(16)) | low_bits
    return count + np.int64((level > 0) & apart)


@njit(cache=True, nogil=True)
def sort_edges(edges: np.ndarray, count: int, spare: np.ndarray, offsets: np.ndarray) -> None:
    """Sort by descending level: a radix sort by the level's lower and then its upper byte."""
    eight, sixteen, byte = np.uint32(8), np.uint32(16), np.uint32(255)
    lower, upper = offsets[0], offsets[1]
    offsets[:] = 0
    for n in range(count):
        lower[(edges[n] >> sixteen) & byte] += 1
        upper[edges[n] >> (sixteen + eight)] += 1
    below_lower, below_upper = 0, 0
    for digit in range(256):
        here = lower[digit]
        lower[digit] = below_lower
        below_lower += here
        here = upper[digit]
        upper[digit] = below_upper
        below_upper += here
    for n in range(count):
        digit = (edges[n] >> sixteen) & byte
        spare[lower[digit]] = edges[n]
        lower[digit] += 1
    for n in range(count):
        digit = spare[n] >> (sixteen + eight)
        edges[upper[digit]] = spare[n]
        upper[digit] += 1
