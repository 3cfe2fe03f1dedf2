"""Cells between eight voxels in which a vector field may have a root."""

import numpy as np

from FuzzyVesselCoreLib.jit import compiled
from FuzzyVesselCoreLib.threads import in_parts

from .roots import CORNERS


def cells_with_sign_changes(
    vectors: np.ndarray, classes: np.ndarray, lowest_class: int
) -> tuple[np.ndarray, np.ndarray]:
    """Cells of eight voxels in which all components change sign.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
    classes : ndarray of uint8, shape (K, J, I)
    lowest_class : int
        All eight voxels of a cell have at least this class.

    Returns
    -------
    cells : ndarray of int64, (n, 3)
        First corners K, J, I, in rising order.
    corners : ndarray, (n, 8, 3)
        The vectors at their corners, I fastest.
    """
    offsets = CORNERS @ [classes[0].size, classes.shape[2], 1]
    values, flat = vectors.reshape(-1, 3), classes.reshape(-1)

    def work(first: int, last: int) -> np.ndarray:
        return cells_of_planes(values, flat, classes.shape, offsets, lowest_class, first, last)

    found = in_parts(work, len(classes) - 1, classes.size)
    cells = np.concatenate([np.empty(0, np.int64), *found])
    return np.stack(np.unravel_index(cells, classes.shape), axis=1), values[
        cells[:, None] + offsets
    ]


@compiled
def cells_of_planes(vectors, classes, shape, offsets, lowest_class, first, last):
    """The same, flat, of cells that begin in some planes, from all vectors and classes (flat)."""
    found = [0]
    for k in range(first, last):
        for j in range(shape[1] - 1):
            row = (k * shape[1] + j) * shape[2]
            for cell in range(row, row + shape[2] - 1):
                if classes[cell] < lowest_class:
                    continue
                is_found, axis = True, 0
                for offset in offsets[1:]:
                    is_found = is_found and classes[cell + offset] >= lowest_class
                while is_found and axis < 3:
                    low = high = vectors[cell, axis]
                    for offset in offsets[1:]:
                        low = min(low, vectors[cell + offset, axis])
                        high = max(high, vectors[cell + offset, axis])
                    is_found = low <= 0 and high >= 0 and low < high
                    axis += 1
                if is_found:
                    found.append(cell)
    return np.array(found)[1:]
