"""A problem as the compiled loops of the CPU read it: affinity of two voxels, and neighbours."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..affinity import HALF, bell
from ..problem import Problem

NEIGHBOUR_COUNT = 6
ZERO = np.float32(0)
compiled_bell = njit(bell, cache=True)


class AffinityTables(NamedTuple):
    """The look-up tables of `Problem.tables`, and `GaussianAffinity.coefficients`."""

    sums: np.ndarray
    differences: np.ndarray
    lowest_sum: int
    coefficients: np.ndarray


class Grid(NamedTuple):
    """Voxels and mask (of size 0: none), flat; K, J, I; the lowest level that counts; tables."""

    voxels: np.ndarray
    mask: np.ndarray
    shape: np.ndarray
    floor: int
    tables: AffinityTables


def affinity_tables(problem: Problem) -> AffinityTables:
    """The affinity of a problem as compiled code reads it."""
    return AffinityTables(*problem.tables, problem.affinity.coefficients())


def grid_of(problem: Problem) -> Grid:
    """The arrays of a problem that the compiled queues read."""
    mask = np.empty(0, np.uint8) if problem.mask is None else problem.mask.ravel()
    shape = np.array(problem.voxels.shape)
    floor = max(problem.cut_level, 1)
    return Grid(problem.voxels.ravel(), mask, shape, floor, affinity_tables(problem))


@njit(cache=True)
def computed_level(first: Any, second: Any, coefficients: np.ndarray) -> Any:
    """Level from the intensities; the same bits as `GaussianAffinity.levels`."""
    first, second = np.float32(first), np.float32(second)
    deviation = (first + second) * HALF - coefficients[0]
    if coefficients[6] != ZERO:
        deviation = min(deviation, ZERO)
    if coefficients[7] != ZERO:
        deviation = max(deviation, ZERO)
    sum_term = coefficients[3] * compiled_bell(deviation * coefficients[1])
    difference_term = coefficients[4] * compiled_bell(abs(first - second) * coefficients[2])
    if coefficients[5] != ZERO:
        return np.int64(np.rint(sum_term + difference_term))
    return np.int64(np.rint(sum_term * difference_term))


@njit(cache=True)
def voxel_level(
    first: Any, second: Any, sums: Any, differences: Any, lowest_sum: int, coefficients: Any
) -> Any:
    """Level from the tables of an integer volume, or computed where they are empty.

    The tables are unpacked by the caller: taking arrays out of a tuple costs as much as the rest.
    """
    if sums.size == 0:
        return computed_level(first, second, coefficients)
    a, b = np.int64(first), np.int64(second)
    sum_term, difference_term = sums[a + b - lowest_sum], differences[abs(a - b)]
    if coefficients[5] != ZERO:
        return np.int64(np.rint(sum_term + difference_term))
    return np.int64(np.rint(sum_term * difference_term))


@njit(cache=True)
def neighbour(voxel: int, side: int, shape: np.ndarray) -> int:
    """Flat index of the neighbour on `side` (-I, +I, -J, +J, -K, +K); -1 outside the volume."""
    row, plane = shape[2], shape[1] * shape[2]
    if side == 0:
        return voxel - 1 if voxel % row > 0 else -1
    if side == 1:
        return voxel + 1 if voxel % row < row - 1 else -1
    if side == 2:
        return voxel - row if voxel % plane >= row else -1
    if side == 3:
        return voxel + row if voxel % plane < plane - row else -1
    if side == 4:
        return voxel - plane if voxel >= plane else -1
    return voxel + plane if voxel < plane * (shape[0] - 1) else -1
