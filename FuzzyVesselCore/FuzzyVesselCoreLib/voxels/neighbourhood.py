"""The 26 neighbours of a voxel, for compiled code: by the rows that they lie in, or one by one."""

import numpy as np

from ..jit.decorators import compiled_inside

NEIGHBOURS = 26
Ends = tuple[int, int]


@compiled_inside
def rows_around(voxel: int, shape: tuple[int, int, int]) -> tuple[Ends, Ends, int, int]:
    """The rows, along I, of the box of 3 x 3 x 3 voxels round a voxel, as far as there are voxels.

    Parameters
    ----------
    voxel : int64
        Flat index.
    shape : tuple of 3 int
        K, J, I of the volume; a tuple, as numbers of an array would be read again for each voxel.

    Returns
    -------
    planes, rows : tuple of 2 int
        The first K and J, and those behind the last.
    low, span : int
        The first I, and how many there are: the row K, J begins at
        ``(K * shape[1] + J) * shape[2] + low``.

    Examples
    --------
    >>> rows_around(5, (1, 3, 4))
    ((0, 1), (0, 3), 0, 3)
    """
    plane, row = shape[1] * shape[2], shape[2]
    k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
    planes = max(k - 1, 0), min(k + 2, shape[0])
    rows = max(j - 1, 0), min(j + 2, shape[1])
    low = max(i - 1, 0)
    return planes, rows, low, min(i + 1, row - 1) - low + 1


@compiled_inside
def neighbours(voxel: int, shape: tuple[int, int, int], near: np.ndarray) -> int:
    """Write the flat indices of the neighbours, ascending; returns how many there are.

    Parameters
    ----------
    voxel, shape
        As of `rows_around`.
    near : ndarray of int64, (`NEIGHBOURS`,)

    Examples
    --------
    >>> near = np.empty(NEIGHBOURS, np.int64)
    >>> near[: neighbours(0, (2, 1, 3), near)].tolist()
    [1, 3, 4]
    """
    planes, rows, low, span = rows_around(voxel, shape)
    count = 0
    for k in range(*planes):
        for j in range(*rows):
            first = (k * shape[1] + j) * shape[2] + low
            for other in range(first, first + span):
                if other != voxel:
                    near[count] = other
                    count += 1
    return count
