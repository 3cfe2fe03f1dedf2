"""Seeds of curves where the unit force converges, on a CUDA device."""

from pathlib import Path
from typing import Any

import numpy as np

from .cuda_voxel_list import int32_shape, launch_rows, list_records, voxels_of_records
from .divergence_seeds import highest_seed
from .local_minima import TIE, lowest_first

KERNELS = Path(__file__).with_name("divergence_seeds.cu")
MINIMUM = np.dtype([("voxel", np.int64), ("value", np.float32), ("unused", np.int32)])


def divergence_seeds(vectors: Any, share: float, gpu: Any) -> np.ndarray:
    """Return local minima of the unit force's divergence in the lowest part of its range.

    Equal to `divergence_seeds.divergence_seeds`; the forces are CuPy's float32 (K, J, I, 3).
    """
    shape = vectors.shape[:3]
    if share <= 0 or min(shape) < 3:
        return np.empty((0, 3), np.int64)
    divergence = gpu.xp.empty(shape, np.float32)
    sizes = int32_shape(divergence)
    lowest, highest = -(2**31), 2**31 - 1
    limits = gpu.put(np.array([highest, lowest], np.int32))
    launch_rows(KERNELS, "unit_divergence", shape, (vectors, *sizes, divergence, limits), gpu)
    low, high = gpu.get(limits)
    if low > high:
        return np.empty((0, 3), np.int64)
    lowest_value, highest_value = _as_float(np.array([low, high]))
    limit = highest_seed(lowest_value, highest_value, share)
    arguments = divergence, *sizes, np.float64(limit), np.float64(TIE)
    found = list_records(KERNELS, "find_minima", MINIMUM, arguments, shape, gpu)
    return voxels_of_records(found, shape)[lowest_first(found["value"])]


def _as_float(ordered: np.ndarray) -> np.ndarray:
    """Return floats from integers of the same order (`ordered` in the kernels)."""
    ordered = ordered.astype(np.int32)
    return np.where(ordered < 0, ordered ^ 0x7FFFFFFF, ordered).astype(np.int32).view(np.float32)
