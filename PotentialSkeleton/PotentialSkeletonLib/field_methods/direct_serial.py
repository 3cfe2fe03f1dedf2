"""The paper's serial program: for every point, all charges, on one core."""

import numpy as np
from numba import njit

PAIRS_A_SLICE = 1 << 24  # between two looks at the progress callback: under 0.1 s


def sum_forces(solid, strength, report):
    """Forces at the points of a solid; see `fft_convolution.sum_forces`."""
    return sum_at(solid.positions(), solid.charges, strength, report)


def sum_at(positions, charges, strength, report):
    """Forces of `charges` at `positions`, both integers (n, 3)."""
    positions = positions.astype(np.int32)
    powers = inverse_powers(positions, charges, strength + 1)
    forces = np.zeros((len(positions), 3))
    step = max(PAIRS_A_SLICE // max(len(charges), 1), 1)
    for start in range(0, len(positions), step):
        report(start / len(positions))
        part = slice(start, start + step)
        add_forces(positions[part], charges, powers, forces[part])
    return forces


def inverse_powers(positions, charges, exponent):
    """R to the power of -exponent for each integer R^2 that can occur (0 for R = 0)."""
    extent = np.maximum(positions.max(axis=0), charges.max(axis=0)) - np.minimum(
        positions.min(axis=0), charges.min(axis=0)
    )
    squares = np.arange(int((extent.astype(np.int64) ** 2).sum()) + 1, dtype=np.float64)
    squares[0] = np.inf
    return squares ** (-exponent / 2)


@njit(cache=True, nogil=True)
def add_forces(positions, charges, powers, forces):
    for p in range(positions.shape[0]):
        k, j, i = positions[p]
        fk, fj, fi = 0.0, 0.0, 0.0
        for c in range(charges.shape[0]):
            dk, dj, di = k - charges[c, 0], j - charges[c, 1], i - charges[c, 2]
            power = powers[dk * dk + dj * dj + di * di]
            fk += dk * power
            fj += dj * power
            fi += di * power
        forces[p, 0] += fk
        forces[p, 1] += fj
        forces[p, 2] += fi
