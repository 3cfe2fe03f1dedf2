"""What follows from the distance to the outside: its ridge, and the order of thinning."""

import numpy as np

from ...jit.decorators import compiled, compiled_inside, inlined
from ...threads import in_parts

VOXELS_PER_ORDER = 32  # voxels that are worked on otherwise in the time of one voxel's order


def removal_order(depth: np.ndarray, voxels: np.ndarray) -> np.ndarray:
    """Return the order in which thinning removes voxels, the least first.

    The depth of the voxel counts for half, the mean depth of the 27 voxels round it for the other
    half: so among equal depths those nearer to the middle stay longer.

    Parameters
    ----------
    depth : ndarray of float32, shape (K, J, I), in C order
    voxels : ndarray of int, (n,)
        Flat indices.

    Returns
    -------
    ndarray of float32, (n,); 0 outside the object and at the border of the array
    """
    order = np.empty(len(voxels), np.float32)
    flat = depth.reshape(-1)

    def work(a: int, b: int) -> None:
        fill_order(flat, depth.shape, voxels[a:b], order[a:b])

    in_parts(work, len(voxels), VOXELS_PER_ORDER * len(voxels))
    return order


@compiled
def fill_order(
    depth: np.ndarray, shape: tuple[int, ...], voxels: np.ndarray, order: np.ndarray
) -> None:
    """Set the order of some voxels."""
    for n in range(len(voxels)):
        order[n] = order_of(depth, shape, voxels[n])


@compiled_inside
def order_of(depth: np.ndarray, shape: tuple[int, ...], voxel: int) -> np.float32:
    """Return the order of one voxel."""
    row, i = divmod(voxel, shape[2])
    k, j = divmod(row, shape[1])
    at_border = k in (0, shape[0] - 1) or j in (0, shape[1] - 1) or i in (0, shape[2] - 1)
    if at_border or not depth[voxel] > 0:
        return np.float32(0)
    mean = np.float32(0)
    for n in range(27):
        step = ((n // 9 - 1) * shape[1] + n // 3 % 3 - 1) * shape[2] + n % 3 - 1
        mean += depth[voxel + step]
    return (depth[voxel] + mean / np.float32(27)) / np.float32(2)


def ridge_depths(depth: np.ndarray) -> np.ndarray:
    """Return the depths of the voxels that none of their 26 neighbours exceeds in depth.

    Parameters
    ----------
    depth : ndarray of float32, shape (K, J, I)

    Returns
    -------
    ndarray of float32, (n,)
    """
    ridge = np.zeros(depth.shape, bool)

    def work(first: int, last: int) -> None:
        mark_ridge(depth, ridge, first, last)

    in_parts(work, len(depth), depth.size)
    return depth[ridge]


@compiled
def mark_ridge(depth: np.ndarray, ridge: np.ndarray, first: int, last: int) -> None:
    """Mark these voxels in some planes."""
    for k in range(max(first, 1), min(last, depth.shape[0] - 1)):
        for j in range(1, depth.shape[1] - 1):
            row = depth[k, j]
            for i in range(1, depth.shape[2] - 1):
                # Most voxels have a deeper one beside them in their row.
                if row[i] > 0 and row[i] >= row[i - 1] and row[i] >= row[i + 1]:
                    ridge[k, j, i] = is_deepest(depth, k, j, i)


@inlined
def is_deepest(depth: np.ndarray, k: int, j: int, i: int) -> bool:
    """Return whether no neighbour is deeper."""
    for n in range(27):
        if depth[k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1] > depth[k, j, i]:
            return False
    return True
