"""The paper's serial program: for every point, all charges, on one core."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.threads import usable_cores

PAIRS_A_SLICE = 1 << 25  # between two looks at the progress callback: under 0.1 s


def sum_forces(solid, strength, vectors, report):
    """Write the forces at the wanted voxels of a solid; see `fft_convolution.sum_forces`."""
    sum_members(solid, solid.wanted, strength, vectors, report)


def sum_members(solid, members, strength, vectors, report, workers=1):
    """The same for some voxels of the solid, a bool array."""
    positions = solid.positions(members)
    if len(positions):
        forces = sum_at(positions, solid.charges, strength, report, workers)
        vectors[tuple(positions.T)] = forces


def sum_at(positions, charges, strength, report, workers=1):
    """Forces of `charges` at `positions`, both integers (n, 3); workers: None for all cores."""
    powers = inverse_powers(positions, charges, strength + 1)
    charges = np.ascontiguousarray(charges.T)
    forces = np.zeros((len(positions), 3))
    step = max(PAIRS_A_SLICE // max(charges.shape[1], 1), 1)
    parts = [slice(start, start + step) for start in range(0, len(positions), step)]
    if len(parts) == 1:  # a thread would take longer to begin
        add_forces(positions, charges, powers, forces)
        return forces
    pool = ThreadPoolExecutor(workers or usable_cores())
    try:
        tasks = [pool.submit(add_forces, positions[n], charges, powers, forces[n]) for n in parts]
        for done, task in enumerate(tasks):
            report(done / len(parts))
            task.result()
    finally:
        pool.shutdown(cancel_futures=True)
    return forces


def inverse_powers(positions, charges, exponent):
    """R to the power of -exponent for each integer R^2 that can occur (0 for R = 0)."""
    extent = np.maximum(positions.max(axis=0), charges.max(axis=0)) - np.minimum(
        positions.min(axis=0), charges.min(axis=0)
    )
    squares = np.arange(int((extent.astype(np.int64) ** 2).sum()) + 1, dtype=np.float64)
    squares[0] = np.inf
    return squares ** (-exponent / 2)


@njit(cache=True, nogil=True, fastmath=True)
def add_forces(positions, charges, powers, forces):
    for p in range(positions.shape[0]):
        k, j, i = positions[p]
        fk, fj, fi = 0.0, 0.0, 0.0
        for c in range(charges.shape[1]):
            dk, dj, di = k - charges[0, c], j - charges[1, c], i - charges[2, c]
            power = powers[dk * dk + dj * dj + di * di]
            fk += dk * power
            fj += dj * power
            fi += di * power
        forces[p, 0] += fk
        forces[p, 1] += fj
        forces[p, 2] += fi
