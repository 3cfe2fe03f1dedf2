"""The affinity of two adjacent voxels in the inner loops of the CPU solvers."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from ...affinity import HALF, bell

if TYPE_CHECKING:
    from ...problem import Problem

compiled_bell = njit(bell, cache=True)
ZERO = np.float32(0)


class AffinityTables(NamedTuple):
    """The look-up tables of `Problem.tables`, and `GaussianAffinity.coefficients`."""

    sums: np.ndarray
    differences: np.ndarray
    lowest_sum: int
    coefficients: np.ndarray


def affinity_tables(problem: "Problem") -> AffinityTables:
    """The affinity of a problem as compiled code reads it."""
    return AffinityTables(*problem.tables, problem.affinity.coefficients())


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
    first: Any,
    second: Any,
    sums: np.ndarray,
    differences: np.ndarray,
    lowest_sum: int,
    coefficients: np.ndarray,
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
