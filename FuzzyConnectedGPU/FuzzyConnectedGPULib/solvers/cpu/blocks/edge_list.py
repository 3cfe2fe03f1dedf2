"""The list of a block's edges, sorted from the strongest down.

An edge is one number: 65535 - level, axis, and the voxel in the block (16, 2 and 14 bits).
"""

from typing import Any

import numpy as np
from numba import njit

from ....affinity import TOP_LEVEL
from .scratch import DEPTH, FIRST, HEIGHT, PLANE, ROW, WIDTH

# Axis of an edge: from a voxel along I, J or K; or into the block from the voxel before it.
AXIS_I, AXIS_J, AXIS_K, FROM_BEFORE = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def list_edges(strong: np.ndarray, parent: np.ndarray, edges: np.ndarray) -> int:
    """List the edges of a block: between its components, and those that lead into or out of it.

    Parameters
    ----------
    strong : ndarray, uint16, shape (3, ARRAY)
    parent : ndarray, uint16, shape (VOXELS + 1,)
        Edges between voxels of the same parent are left out.
    edges : ndarray, uint32
        Receives the list.

    Returns
    -------
    count : int
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
def append_edge(
    edges: np.ndarray, count: Any, level: Any, apart: bool, axis: int, voxel: int
) -> Any:
    """Write an edge; the returned count includes it only if it is needed (without a branch)."""
    low_bits = np.uint32((axis << 14) | voxel)
    edges[count] = ((np.uint32(TOP_LEVEL) - np.uint32(level)) << np.uint32(16)) | low_bits
    return count + np.int64((level > 0) & apart)


@njit(cache=True, nogil=True)
def sort_edges(edges: np.ndarray, count: int, spare: np.ndarray, offsets: np.ndarray) -> None:
    """Sort by descending level: a radix sort by the level's lower and then its upper byte.

    Parameters
    ----------
    edges, spare : ndarray, uint32
    count : int
    offsets : ndarray of int, shape (2, 256)
    """
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
