"""Euler characteristic and number of tunnels: 26-connected object, 6-connected background.

The object is taken as the union of its voxels' closed cubes, which has the same components, tunnels
and cavities as the digital object.
"""

import numpy as np

from ...jit.decorators import compiled
from ...progress import Progress
from ...threads import in_parts
from ..components.labels import count_components
from ..components.runs import START, run_end

SLAB_PLANES = 64  # between two checks of the progress


def _corner_table() -> np.ndarray:
    """Return 8 times a grid corner's part of the Euler characteristic, by its 8 voxels as bits."""
    table = np.zeros(256, np.int64)
    for configuration in range(1, 256):
        cubes = np.array([configuration >> n & 1 for n in range(8)], bool).reshape(2, 2, 2)
        edges = sum(cubes.take(side, axis).any() for axis in range(3) for side in range(2))
        faces = sum(np.count_nonzero(cubes.any(axis)) for axis in range(3))
        # A corner lies on 1 corner, half of an edge, a quarter of a face, an eighth of a cube.
        table[configuration] = 8 - 4 * edges + 2 * faces - np.count_nonzero(cubes)
    return table


CORNER_TABLE = _corner_table()


def euler_characteristic(mask: np.ndarray, progress: Progress | None = None) -> int:
    """Return components - tunnels + cavities of an object.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    progress : Progress, optional
        Checked between slabs.

    Raises
    ------
    Cancelled
        The progress callback returned False.

    Examples
    --------
    >>> ring = np.ones((1, 3, 3), bool)
    >>> ring[0, 1, 1] = False
    >>> euler_characteristic(ring)
    0
    """
    progress = Progress.of(progress)
    voxels, total = np.ascontiguousarray(mask).view(np.uint8), 0
    for first in range(0, len(voxels) + 1, SLAB_PLANES):
        last = min(first + SLAB_PLANES, len(voxels) + 1)

        def work(low: int, high: int, first: int = first) -> int:
            return int(sum_over_corners(voxels, first + low, first + high, CORNER_TABLE))

        total += sum(in_parts(work, last - first, (last - first) * mask[0].size))
        progress.check()
    return total // 8


@compiled
def sum_over_corners(mask: np.ndarray, first: int, last: int, table: np.ndarray) -> int:
    """Sum the values of the table over the grid corners before some planes."""
    depth, rows, width = mask.shape
    total = 0
    for k in range(first, last):
        beside = np.zeros(width + 2, np.uint8)  # bits of the four voxels round each edge along I
        for j in range(rows + 1):
            is_empty = True
            for n in range(4):
                other_k, other_j = k - 1 + (n & 1), j - 1 + (n >> 1)
                if not (0 <= other_k < depth and 0 <= other_j < rows):
                    continue
                row = mask[other_k, other_j]
                if run_end(row, START, np.uint8(0)) == width:
                    continue
                if is_empty:
                    for i in range(beside.size):
                        beside[i] = 0
                    is_empty = False
                for i in range(width):
                    beside[i + 1] |= row[i] << n
            if is_empty:
                continue
            for i in range(width + 1):
                total += table[beside[i] | beside[i + 1] << 4]
    return total


def cycle_count(mask: np.ndarray, progress: Progress | None = None) -> int:
    """Return the number of tunnels (independent cycles) of an object without cavities."""
    progress = Progress.of(progress)
    return count_components(mask, progress=progress) - euler_characteristic(mask, progress)
