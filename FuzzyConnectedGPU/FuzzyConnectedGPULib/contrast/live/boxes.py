"""Boxes of a volume: of listed voxels, around a click, and of several boxes together."""

from collections.abc import Sequence

import numpy as np
from numba import njit

Box = tuple[slice, ...]


def box_of_voxels(voxels: np.ndarray, shape: Sequence[int]) -> Box:
    """The box of voxels that are listed by their flat indices (at least one).

    Examples
    --------
    >>> box_of_voxels(np.array([7, 9]), (2, 3, 4))
    (slice(0, 1, None), slice(1, 3, None), slice(1, 4, None))
    """
    ends = np.empty((3, 2), np.int64)
    _ends(voxels, np.array(shape, np.int64), ends)
    return tuple(slice(int(first), int(last) + 1) for first, last in ends)


def box_around(shape: Sequence[int], click: Sequence[int], radius: float, unit: np.ndarray) -> Box:
    """The box of a ball around a click; see `neighbourhood.Ball`."""
    reach = np.ceil(radius / unit).astype(int)
    return tuple(
        slice(max(int(c - r), 0), min(int(c + r) + 1, n)) for c, r, n in zip(click, reach, shape)
    )


def box_of_boxes(boxes: Sequence[Box]) -> Box:
    """The smallest box that holds some boxes (at least one).

    Examples
    --------
    >>> box_of_boxes([(slice(1, 2),), (slice(4, 6),)])
    (slice(1, 6, None),)
    """
    return tuple(
        slice(min(side.start for side in sides), max(side.stop for side in sides))
        for sides in zip(*boxes)
    )


@njit(cache=True, nogil=True)
def _ends(voxels, shape, ends):
    ends[:, 0], ends[:, 1] = shape, -1
    plane, row = shape[1] * shape[2], shape[2]
    for voxel in voxels:
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        ends[0, 0], ends[0, 1] = min(ends[0, 0], k), max(ends[0, 1], k)
        ends[1, 0], ends[1, 1] = min(ends[1, 0], j), max(ends[1, 1], j)
        ends[2, 0], ends[2, 1] = min(ends[2, 0], i), max(ends[2, 1], i)
