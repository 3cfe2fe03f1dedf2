"""Roots of a trilinear vector field within cells, by subdivision and Newton steps; compiled."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.threads import in_parts

from .trilinear import newton

MAX_SUBDIVISIONS = 4  # of a cell along each axis before Newton steps begin
VOXELS_PER_CELL = 256  # that are worked on otherwise in the time of one cell
FIRST_CAPACITY = 8  # roots of a cell; with more roots the search is repeated
# A part is cut at the places of a grid of 27: steps of half a part along K, J, I (3, 27).
STEPS = np.ascontiguousarray(np.array(list(np.ndindex(3, 3, 3)), float).T)
# Bits of the grid's places at the corners of the first of the eight parts of a part.
FIRST_PART = sum(1 << (9 * k + 3 * j + i) for k, j, i in np.ndindex(2, 2, 2))

Signs = tuple[tuple[Any, Any], tuple[Any, Any], tuple[Any, Any]]


def find_roots(cells: np.ndarray, forces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (n, 3) in voxels and Jacobians (n, 3, 3) of the roots within some cells.

    Cells and forces are as `cells_of_planes` gives them.
    """
    capacity = FIRST_CAPACITY
    while True:
        found, counts = np.empty((len(forces), capacity, 12)), np.empty(len(forces), np.int64)
        list_roots(forces, found, counts)
        if counts.max(initial=0) <= capacity:
            break
        capacity = int(counts.max())
    cell, number = np.nonzero(np.arange(capacity) < counts[:, None])
    found = found[cell, number]
    return found[:, :3] + cells[cell], found[:, 3:].reshape(-1, 3, 3)


def list_roots(forces: np.ndarray, found: np.ndarray, counts: np.ndarray) -> None:
    """Set place and Jacobian (12 numbers) of the roots of each cell, and how many there are."""

    def work(first: int, last: int) -> None:
        roots_of_cells(forces[first:last], found[first:last], counts[first:last])

    in_parts(work, len(forces), VOXELS_PER_CELL * len(forces))


@compiled
def roots_of_cells(forces: np.ndarray, found: np.ndarray, counts: np.ndarray) -> None:
    """Set those of some cells."""
    corners, waiting = np.empty((8, 3)), np.empty((8 * (MAX_SUBDIVISIONS + 1), 4))
    places, values = np.empty((3, 27)), np.empty((3, 27))
    for cell in range(len(forces)):
        for n in range(8):
            for axis in range(3):
                corners[n, axis] = forces[cell, n, axis]
        counts[cell] = roots_of_cell(corners, found[cell], waiting, places, values)


@compiled_inside
def roots_of_cell(
    corners: np.ndarray,
    found: np.ndarray,
    waiting: np.ndarray,
    places: np.ndarray,
    values: np.ndarray,
) -> int:
    """List the roots of a cell up to the capacity of `found`; return how many there are.

    The other arrays are workspaces: parts that are still to be searched, and their grids.
    """
    left, count = 1, 0
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, 0, 0, 1
    while left:
        left -= 1
        k, j, i, size = waiting[left]
        half = size / 2
        if size > 0.5**MAX_SUBDIVISIONS:
            values_on_grid(corners, k, j, i, half, places, values)
            signs = signs_of(values)
            for n in range(8):
                if may_hold_root(signs, 9 * (n >> 2) + 3 * (n >> 1 & 1) + (n & 1)):
                    waiting[left, 0], waiting[left, 1] = (
                        k + (n >> 2) * half,
                        j + (n >> 1 & 1) * half,
                    )
                    waiting[left, 2], waiting[left, 3] = i + (n & 1) * half, half
                    left += 1
            continue
        # A root outside this part is found from the part that holds it.
        is_found, place, slopes = newton(corners, k + half, j + half, i + half)
        if is_found and (
            max(abs(place[0] - k - half), abs(place[1] - j - half), abs(place[2] - i - half))
            <= half * (1 + 1e-6)
        ):
            if count < len(found):
                found[count, 0], found[count, 1], found[count, 2] = place
                for n in range(9):
                    found[count, 3 + n] = slopes[n]
            count += 1
    return count


@compiled_inside
def values_on_grid(
    corners: np.ndarray,
    k: float,
    j: float,
    i: float,
    half: float,
    places: np.ndarray,
    values: np.ndarray,
) -> None:
    """Set `places` and `values` (3, 27) at the corners of the eight parts of a part.

    As `force_and_slopes` sums them, but for all corners at a time.
    """
    for n in range(27):
        places[0, n] = k + STEPS[0, n] * half
        places[1, n] = j + STEPS[1, n] * half
        places[2, n] = i + STEPS[2, n] * half
    for axis in range(3):
        forces = corners[:, axis]
        a, b, c, d = forces[0], forces[1], forces[2], forces[3]
        e, f, g, h = forces[4], forces[5], forces[6], forces[7]
        for n in range(27):
            k1, j1, i1 = places[0, n], places[1, n], places[2, n]
            k0, j0, i0 = 1 - k1, 1 - j1, 1 - i1
            lower = k0 * j0 * i0 * a + k0 * j0 * i1 * b + k0 * j1 * i0 * c + k0 * j1 * i1 * d
            values[axis, n] = (
                lower + k1 * j0 * i0 * e + k1 * j0 * i1 * f + k1 * j1 * i0 * g + k1 * j1 * i1 * h
            )


@compiled_inside
def signs_of(values: np.ndarray) -> Signs:
    """Where values on a grid (3, 27) are above 0, and where below, as bits; for each component."""
    above_k = below_k = above_j = below_j = above_i = below_i = np.int64(0)
    for n in range(27):  # one loop is twice as fast as one for each component
        above_k |= np.int64(values[0, n] > 0) << n
        below_k |= np.int64(values[0, n] < 0) << n
        above_j |= np.int64(values[1, n] > 0) << n
        below_j |= np.int64(values[1, n] < 0) << n
        above_i |= np.int64(values[2, n] > 0) << n
        below_i |= np.int64(values[2, n] < 0) << n
    return (above_k, below_k), (above_j, below_j), (above_i, below_i)


@compiled_inside
def may_hold_root(signs: Signs, first: int) -> bool:
    """Return whether all components change sign among the corners of a part of the grid.

    `first` is the grid's place at the part's first corner.
    """
    part = FIRST_PART << first
    for above, below in signs:
        if above & part == part or below & part == part or (above | below) & part == 0:
            return False
    return True
