"""The near part of the force: the sum over the charges within a short distance of each target."""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.jit.decorators import WITHOUT_C
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts

from ..convolution.kernel_split import REACH

BLOCK = np.array([3, 3, 6])  # voxels whose charges are listed at once
PAIRS_PER_SLICE = 1 << 26  # about, between two checks of the progress


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
    grid = tuple(-(-np.array(shape) // BLOCK))
    order, starts = by_block(positions, grid)
    targets = positions[order], starts
    order_of_charges, starts = by_block(charges, grid)
    charged = np.ascontiguousarray(charges[order_of_charges].T), starts
    powers = np.append(powers, np.zeros(int((2 * (REACH + BLOCK) ** 2).sum())))
    blocks = np.flatnonzero(np.diff(targets[1]))
    found = np.zeros((len(positions), 3))

    def add(first: int, last: int) -> None:
        listed = np.empty((3, len(charges)), np.int32)
        add_near(blocks[begin + first : begin + last], grid, *targets, *charged, powers, listed, found)

    step = 512
    for begin in range(0, len(blocks), step):
        progress.advance(begin / len(blocks))
        count = min(step, len(blocks) - begin)
        in_parts(add, count, count << 13)
    forces = np.empty_like(found)
    forces[order] = found
    return forces


def by_block(voxels: np.ndarray, grid: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the order that voxels (n, 3) have block by block, and where each block begins."""
    block = np.ravel_multi_index(tuple((voxels // BLOCK).T), grid)
    ends = np.cumsum(np.bincount(block, minlength=np.prod(grid)))
    return np.argsort(block, kind="stable"), np.append(0, ends)


@njit(cache=True, nogil=True, fastmath=True, **WITHOUT_C)
def add_near(blocks, grid, positions, starts, charges, charge_starts, powers, listed, forces):
    nk, nj, ni = grid
    near_k, near_j, near_i = listed
    side_k, side_j, side_i = BLOCK
    for block in blocks:
        bk, bj, bi = block // (nj * ni), block // ni % nj, block % ni
        k0, j0, i0 = bk * side_k, bj * side_j, bi * side_i
        k1, j1, i1 = k0 + side_k - 1, j0 + side_j - 1, i0 + side_i - 1
        count = 0
        for ok in range(max(k0 - REACH, 0) // side_k, min((k1 + REACH) // side_k + 1, nk)):
            for oj in range(max(j0 - REACH, 0) // side_j, min((j1 + REACH) // side_j + 1, nj)):
                row = (ok * nj + oj) * ni
                low, high = max(i0 - REACH, 0) // side_i, min((i1 + REACH) // side_i + 1, ni)
                for c in range(charge_starts[row + low], charge_starts[row + high]):
                    k, j, i = charges[0, c], charges[1, c], charges[2, c]
                    dk, dj, di = max(k0 - k, k - k1, 0), max(j0 - j, j - j1, 0), max(i0 - i, i - i1, 0)
                    near_k[count], near_j[count], near_i[count] = k, j, i
                    count += dk * dk + dj * dj + di * di < REACH * REACH
        for p in range(starts[block], starts[block + 1]):
            k, j, i = positions[p]
            fk, fj, fi = 0.0, 0.0, 0.0
            for c in range(count):
                dk, dj, di = np.int32(k - near_k[c]), np.int32(j - near_j[c]), np.int32(i - near_i[c])
                power = powers[np.uint32(dk * dk + dj * dj + di * di)]
                fk += dk * power
                fj += dj * power
                fi += di * power
            forces[p, 0] += fk
            forces[p, 1] += fj
            forces[p, 2] += fi
