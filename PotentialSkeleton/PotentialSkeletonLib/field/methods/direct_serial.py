"""The paper's serial program: for every point the sum over all charges, on one core."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import usable_cores

from ..solid import ChargedSolid
from .interface import SumResult

PAIRS_PER_SLICE = 1 << 25  # between two checks of the progress: under 0.1 s


def sum_forces(
    solid: ChargedSolid, strength: int, vectors: Any, progress: Progress, gpu: Any = None
) -> SumResult:
    """Write the forces at the targets of a solid; see `interface.ForceMethod`."""
    sum_members(solid, solid.targets, strength, vectors, progress)
    return SumResult(direct=int(solid.targets.sum()))


def sum_members(
    solid: ChargedSolid,
    members: np.ndarray,
    strength: int,
    vectors: np.ndarray,
    progress: Progress,
    workers: int | None = 1,
) -> None:
    """Write the forces at some voxels of the solid, a bool array."""
    positions = solid.positions(members)
    if len(positions):
        forces = sum_at(positions, solid.charges, strength, progress, workers)
        vectors[tuple(positions.T)] = forces


def sum_at(
    positions: np.ndarray,
    charges: np.ndarray,
    strength: int,
    progress: Progress,
    workers: int | None = 1,
) -> np.ndarray:
    """Return the forces of charges at positions, both integers (n, 3).

    Parameters
    ----------
    workers : int or None
        Number of threads; None for one per core.
    """
    powers = inverse_powers(positions, charges, strength + 1)
    charges = np.ascontiguousarray(charges.T)
    forces = np.zeros((len(positions), 3))
    step = max(PAIRS_PER_SLICE // max(charges.shape[1], 1), 1)
    parts = [slice(start, start + step) for start in range(0, len(positions), step)]
    if len(parts) == 1:  # a thread would take longer to begin
        add_forces(positions, charges, powers, forces)
        return forces
    pool = ThreadPoolExecutor(workers or usable_cores())
    try:
        tasks = [pool.submit(add_forces, positions[n], charges, powers, forces[n]) for n in parts]
        for done, task in enumerate(tasks):
            progress.advance(done / len(parts))
            task.result()
    finally:
        pool.shutdown(cancel_futures=True)
    return forces


def inverse_powers(positions: np.ndarray, charges: np.ndarray, exponent: int) -> np.ndarray:
    """Return R to the power of -exponent for each integer R^2 that can occur (0 for R = 0)."""
    extent = np.maximum(positions.max(axis=0), charges.max(axis=0)) - np.minimum(
        positions.min(axis=0), charges.min(axis=0)
    )
    squares = np.arange(int((extent.astype(np.int64) ** 2).sum()) + 1, dtype=np.float64)
    squares[0] = np.inf
    return squares ** (-exponent / 2)


@njit(cache=True, nogil=True, fastmath=True)
def add_forces(
    positions: np.ndarray, charges: np.ndarray, powers: np.ndarray, forces: np.ndarray
) -> None:
    """Add the forces of charges (3, n) at positions (n, 3)."""
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
