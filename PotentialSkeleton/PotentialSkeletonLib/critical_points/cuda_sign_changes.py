"""Cells of eight voxels in which all components of the force change sign, on a CUDA device."""

from pathlib import Path
from typing import Any

import numpy as np

from .cuda_voxel_list import int32_shape, list_records, voxels_of_records

KERNELS = Path(__file__).with_name("sign_changes.cu")
CELL = np.dtype([("voxel", np.int64), ("corners", np.float32, (8, 3))])


def cells_with_sign_changes(
    vectors: Any, classes: Any, lowest_class: int, gpu: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Find the cells of a volume, as `sign_changes.cells_of_planes` does.

    Parameters
    ----------
    vectors : CuPy's ndarray of float32, shape (K, J, I, 3)
    classes : CuPy's ndarray of uint8, shape (K, J, I)
    lowest_class : int
        All eight voxels of a cell have at least this class.
    gpu : CudaDevice

    Returns
    -------
    cells : numpy's ndarray of int64, (n, 3)
        Their first corners K, J, I, in rising order.
    corners : numpy's ndarray of float32, (n, 8, 3)
        The forces at their corners, I fastest.
    """
    if min(classes.shape) < 2:
        return np.empty((0, 3), np.int64), np.empty((0, 8, 3), np.float32)
    arguments = vectors, classes, *int32_shape(classes), np.int32(lowest_class)
    found = list_records(KERNELS, "find_cells", CELL, arguments, classes.shape, gpu)
    return voxels_of_records(found, classes.shape), found["corners"]
