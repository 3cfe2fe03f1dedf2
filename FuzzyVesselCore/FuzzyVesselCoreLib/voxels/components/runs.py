"""Runs of voxels along I, joined to connected components by union-find; compiled.

A run is a maximal set of consecutive voxels of a row. Runs are numbered in the order of their first
voxels, from 1; number 0, `OUTSIDE`, is no run: in its component is what reaches the border of the
volume.
"""

from typing import Any

import numpy as np

from ...jit.decorators import compiled, compiled_inside
from .union_find import union

OUTSIDE = 0
BLOCK = 32  # voxels that are tested together
START: Any = np.int64(0)  # of a row; numba compiles another version for the plain number


@compiled_inside
def run_end(row: np.ndarray, i: int, value: np.uint8) -> int:
    """Return the first place of a row, from `i` on, whose voxel does not have the value."""
    while i + BLOCK <= row.size:
        other = np.uint8(0)
        for n in range(BLOCK):
            other |= row[i + n] ^ value
        if other:
            break
        i += BLOCK
    while i < row.size and row[i] == value:
        i += 1
    return i


@compiled
def count_runs(mask: np.ndarray, value: int, first: int, last: int, counts: np.ndarray) -> None:
    """Set the number of runs of each row of some planes, one place further on."""
    here, other = np.uint8(value), np.uint8(1 - value)
    for k in range(first, last):
        for j in range(mask.shape[1]):
            row, count = mask[k, j], 0
            i = run_end(row, START, other)
            while i < row.size:
                count += 1
                i = run_end(row, run_end(row, i, here), other)
            counts[k * mask.shape[1] + j + 1] = count


@compiled
def find_runs(
    mask: np.ndarray,
    value: int,
    corners: bool,
    with_outside: bool,
    first: int,
    last: int,
    forest: tuple[np.ndarray, ...],
) -> None:
    """Find the runs of some planes, and join those within each plane.

    `forest` has the first run of each row, the runs' starts and ends, and their parents.
    """
    firsts, starts, ends, parents = forest
    here, other = np.uint8(value), np.uint8(1 - value)
    depth, rows, _ = mask.shape
    for k in range(first, last):
        for j in range(rows):
            row, n = mask[k, j], firsts[k * rows + j]
            is_outer = with_outside and (k in (0, depth - 1) or j in (0, rows - 1))
            i = run_end(row, START, other)
            while i < row.size:
                end = run_end(row, i, here)
                starts[n], ends[n] = i, end
                touches = with_outside and (i == 0 or end == row.size)
                parents[n] = OUTSIDE if is_outer or touches else n
                i = run_end(row, end, other)
                n += 1
            if j > 0:
                join_rows(k * rows + j - 1, k * rows + j, corners, firsts, starts, ends, parents)


@compiled
def join_planes(
    shape: tuple[int, ...], corners: bool, first: int, last: int, forest: tuple[np.ndarray, ...]
) -> None:
    """Join the runs of some planes with those of the planes before."""
    firsts, starts, ends, parents = forest
    rows = shape[1]
    for k in range(max(first, 1), last):
        for j in range(rows):
            here = k * rows + j
            if firsts[here] == firsts[here + 1]:
                continue
            for before in range(
                max(j - 1, 0) if corners else j, min(j + 2, rows) if corners else j + 1
            ):
                there = (k - 1) * rows + before
                join_rows(there, here, corners, firsts, starts, ends, parents)


@compiled_inside
def join_rows(
    one: int,
    other: int,
    corners: bool,
    firsts: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    parents: np.ndarray,
) -> None:
    """Join the runs of two adjacent rows."""
    reach = 1 if corners else 0
    a, b = firsts[one], firsts[other]
    last_a, last_b = firsts[one + 1], firsts[other + 1]
    while a < last_a and b < last_b:
        if starts[a] < ends[b] + reach and starts[b] < ends[a] + reach:
            union(a, b, parents)
        if ends[a] < ends[b]:
            a += 1
        else:
            b += 1
