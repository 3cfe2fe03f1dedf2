"""Euler characteristic and number of tunnels: 26-connected object, 6-connected background.

The object is taken as the union of its voxels' closed cubes, which has the same components, tunnels
and cavities as the digital object.
"""

import numpy as np

from ...progress import Progress
from ..bit_packed_morphology import moved_up, pack
from ..components.labels import count_components

SLAB_PLANES = 64  # between two checks of the progress


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
    depth, rows, width = mask.shape
    total, before = 0, np.zeros((1, rows, width), bool)
    for first in range(0, depth + 1, SLAB_PLANES):
        slab = mask[first : first + SLAB_PLANES]
        last_plane = np.zeros((int(first + SLAB_PLANES > depth), rows, width), bool)
        planes = np.concatenate((before, slab, last_plane))
        total += _sum_of_cells(pack(np.pad(planes, ((0, 0), (0, 1), (0, 1)))))
        before = planes[-1:]
        progress.check()
    return total


def _sum_of_cells(bits: np.ndarray) -> int:
    """Return corners - edges + faces - cubes that begin in planes 1 and on; the last row is 0.

    A cell is there where one of the voxels is that share it: the two of a face, the four of an
    edge, the eight of a corner.
    """
    total = 0
    for along_k in (False, True):
        planes = bits[1:] | bits[:-1] if along_k else bits[1:]
        for along_j in (False, True):
            rows = planes.copy()
            if along_j:
                rows[:, 1:] |= planes[:, :-1]
            for along_i in (False, True):
                cells = rows | moved_up(rows) if along_i else rows
                sign = 1 if (along_k + along_j + along_i) % 2 else -1
                total += sign * int(np.bitwise_count(cells).sum(dtype=np.int64))
    return total


def cycle_count(mask: np.ndarray, progress: Progress | None = None) -> int:
    """Return the number of tunnels (independent cycles) of an object without cavities."""
    progress = Progress.of(progress)
    return count_components(mask, progress=progress) - euler_characteristic(mask, progress)
