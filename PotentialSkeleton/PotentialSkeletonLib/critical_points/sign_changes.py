"""Cells of eight voxels in which all components of the force change sign; compiled loops."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts

from .voxel_list import listed

VOXELS_PER_SLICE = 1 << 22  # between two checks of the progress


def cells_with_sign_changes(
    vectors: np.ndarray, classes: np.ndarray, lowest_class: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Find the cells of a volume; parameters and results as for `cells_of_planes`."""
    vectors = np.ascontiguousarray(vectors)
    planes = max(1, VOXELS_PER_SLICE // max(1, classes[0].size))
    found = [(np.empty((0, 3), np.int64), np.empty((0, 8, 3), vectors.dtype))]
    for first in range(0, len(vectors) - 1, planes):
        last = min(first + planes, len(vectors) - 1)
        found.append(cells_of_planes(vectors, classes, lowest_class, first, last))
        progress.check()
    cells, corners = (np.concatenate(parts) for parts in zip(*found))
    return cells, corners


def cells_of_planes(
    vectors: np.ndarray, classes: np.ndarray, lowest_class: int, first: int, last: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find the cells in which all components change sign, and the forces at their corners.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
    classes : ndarray of uint8, shape (K, J, I)
    lowest_class : int
        All eight voxels of a cell have at least this class.
    first, last : int
        Planes of the cells, the latter excluded.

    Returns
    -------
    cells : ndarray of int64, (n, 3)
        Their first corners K, J, I, in rising order.
    corners : ndarray, (n, 8, 3)
        Of the vectors' type; I fastest.
    """

    def work(low: int, high: int) -> np.ndarray:
        return list_cells(vectors, classes, lowest_class, first + low, first + high)

    parts = in_parts(work, last - first, (last - first) * classes[0].size)
    cells = np.concatenate([np.empty((0, 3), np.int64), *parts])
    corner = np.arange(8)
    k, j, i = cells.T[:, :, None] + np.stack([corner >> 2, corner >> 1 & 1, corner & 1])[:, None]
    return cells, vectors[k, j, i]


def list_cells(
    vectors: np.ndarray, classes: np.ndarray, lowest_class: int, first: int, last: int
) -> np.ndarray:
    """List the cells of some planes; (n, 3)."""
    return listed(lambda cells: cells_of_part(vectors, classes, lowest_class, first, last, cells))


@compiled
def cells_of_part(
    vectors: np.ndarray,
    classes: np.ndarray,
    lowest_class: int,
    first: int,
    last: int,
    cells: np.ndarray,
) -> int:
    """Count the cells of some planes, and list as many as there is room for."""
    corners, count = np.empty((8, 3)), 0
    for row in range(first * (classes.shape[1] - 1), last * (classes.shape[1] - 1)):
        k, j = divmod(row, classes.shape[1] - 1)
        for i in range(classes.shape[2] - 1):
            if classes[k, j, i] < lowest_class:
                continue
            inside = True
            for n in range(1, 8):
                if classes[k + (n >> 2), j + (n >> 1 & 1), i + (n & 1)] < lowest_class:
                    inside = False
                    break
            if inside:
                load_corners(vectors, k, j, i, corners)
                if has_sign_changes(corners):
                    if count < len(cells):
                        cells[count, 0], cells[count, 1], cells[count, 2] = k, j, i
                    count += 1
    return count


@compiled_inside
def load_corners(vectors: np.ndarray, k: int, j: int, i: int, corners: np.ndarray) -> None:
    """Copy the forces at the corners of a cell, I fastest."""
    for n in range(8):
        for axis in range(3):
            corners[n, axis] = vectors[k + (n >> 2), j + (n >> 1 & 1), i + (n & 1), axis]


@compiled_inside
def has_sign_changes(corners: np.ndarray) -> bool:
    """Return whether all components change sign among the corners."""
    for axis in range(3):
        low = high = corners[0, axis]
        for n in range(1, 8):
            low = min(low, corners[n, axis])
            high = max(high, corners[n, axis])
        if low > 0 or high < 0 or low == high:
            return False
    return True
