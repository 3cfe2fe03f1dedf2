"""The affinity of two neighbouring voxels inside the compiled CPU solvers."""

import numpy as np
from numba import njit

from ...affinity.bell import HALF, bell

compiled_bell = njit(bell, cache=True)
ZERO = np.float32(0)


@njit(cache=True)
def computed_level(first, second, coefficients):
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
def voxel_level(first, second, sum_table, difference_table, lowest_sum, coefficients):
    """Level from the tables of an integer volume, or computed where they are empty."""
    if sum_table.size == 0:
        return computed_level(first, second, coefficients)
    a, b = np.int64(first), np.int64(second)
    sum_term, difference_term = sum_table[a + b - lowest_sum], difference_table[abs(a - b)]
    if coefficients[5] != ZERO:
        return np.int64(np.rint(sum_term + difference_term))
    return np.int64(np.rint(sum_term * difference_term))
