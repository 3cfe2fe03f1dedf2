"""The near part of the force: the sum over the charges within a short distance of each target.

Targets are worked on block by block of a few voxels, with a list of the charges near the block.
"""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.jit.decorators import WITHOUT_C
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import SMALL_VOLUME, in_parts

from .kernel_split import REACH

BLOCK = (3, 3, 6)  # voxels
BLOCKS_PER_SLICE = 1 << 11  # between two checks of the progress: about 0.1 s
LEAST_PART = 1 << 6  # blocks that a thread is given at least


def near_forces(
    positions: np.ndarray,
    charges: np.ndarray,
    shape: tuple[int, ...],
    powers: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Return the near part of the force of charges at some positions; float64 (n, 3).

    Parameters
    ----------
    positions, charges : ndarray of int32, (n, 3)
        Voxels K, J, I of the box.
    shape : 3 int
        Of the box.
    powers : ndarray of float64
        From `kernel_split.near_powers`.
    progress : Progress
    """
    grid = tuple(int(-(-n // side)) for n, side in zip(shape, BLOCK))
    order, starts = by_block(positions, grid)
    targets = positions[order]
    order_of_charges, starts_of_charges = by_block(charges, grid)
    charged = np.ascontiguousarray(charges[order_of_charges].T)
    farthest = sum((REACH + side) ** 2 for side in BLOCK)  # of a list's charges
    powers = np.append(powers, np.zeros(farthest))
    blocks = np.flatnonzero(np.diff(starts))
    found = np.zeros((len(positions), 3))

    def add(first: int, last: int) -> None:
        some = blocks[begin + first : begin + last]
        listed = np.empty((3, len(charges)), np.int32)
        add_near(
            some, grid, BLOCK, targets, starts, charged, starts_of_charges, powers, listed, found
        )

    for begin in range(0, len(blocks), BLOCKS_PER_SLICE):
        progress.advance(begin / len(blocks))
        count = min(BLOCKS_PER_SLICE, len(blocks) - begin)
        in_parts(add, count, count * SMALL_VOLUME // LEAST_PART)
    forces = np.empty_like(found)
    forces[order] = found
    return forces


def by_block(voxels: np.ndarray, grid: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the order that voxels (n, 3) have block by block, and where each block begins."""
    block = np.ravel_multi_index(tuple((voxels // np.array(BLOCK)).T), grid)
    ends = np.cumsum(np.bincount(block, minlength=int(np.prod(grid))))
    return np.argsort(block, kind="stable"), np.append(0, ends)


@njit(cache=True, nogil=True, fastmath=True, **WITHOUT_C)
def add_near(
    blocks: np.ndarray,
    grid: tuple[int, int, int],
    side: tuple[int, int, int],
    positions: np.ndarray,
    starts: np.ndarray,
    charges: np.ndarray,
    charge_starts: np.ndarray,
    powers: np.ndarray,
    listed: np.ndarray,
    forces: np.ndarray,
) -> None:
    """Add the near part of the forces (n, 3) at the positions (n, 3) in some blocks.

    Parameters
    ----------
    blocks : ndarray of int
        Numbers of blocks in a grid (K, J, I).
    side : 3 int
        Voxels of a block.
    starts, charge_starts : ndarray of int
        Where the positions of each block begin, and the charges (3, n).
    listed : ndarray of int32, (3, n)
        Workspace for the charges near a block.
    """
    near_k, near_j, near_i = listed
    for block in blocks:
        k0 = block // (grid[1] * grid[2]) * side[0]
        j0 = block // grid[2] % grid[1] * side[1]
        i0 = block % grid[2] * side[2]
        k1, j1, i1 = k0 + side[0] - 1, j0 + side[1] - 1, i0 + side[2] - 1
        low, high = max(i0 - REACH, 0) // side[2], min((i1 + REACH) // side[2] + 1, grid[2])
        count = 0
        for k in range(max(k0 - REACH, 0) // side[0], min((k1 + REACH) // side[0] + 1, grid[0])):
            for j in range(
                max(j0 - REACH, 0) // side[1], min((j1 + REACH) // side[1] + 1, grid[1])
            ):
                row = (k * grid[1] + j) * grid[2]
                for c in range(charge_starts[row + low], charge_starts[row + high]):
                    near_k[count], near_j[count], near_i[count] = charges[:, c]
                    off_k = max(k0 - near_k[count], near_k[count] - k1, 0)
                    off_j = max(j0 - near_j[count], near_j[count] - j1, 0)
                    off_i = max(i0 - near_i[count], near_i[count] - i1, 0)
                    count += off_k * off_k + off_j * off_j + off_i * off_i < REACH * REACH
        for p in range(starts[block], starts[block + 1]):
            k, j, i = positions[p]
            fk, fj, fi = 0.0, 0.0, 0.0
            for c in range(count):  # in 32 bits, which takes less time
                dk, dj = np.int32(k - near_k[c]), np.int32(j - near_j[c])
                di = np.int32(i - near_i[c])
                power = powers[np.uint32(dk * dk + dj * dj + di * di)]
                fk += dk * power
                fj += dj * power
                fi += di * power
            forces[p, 0] += fk
            forces[p, 1] += fj
            forces[p, 2] += fi
