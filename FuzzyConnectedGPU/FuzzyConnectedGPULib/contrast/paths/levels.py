"""Levels of contrasts, for compiled code."""

import numpy as np
from numba import njit


@njit(cache=True)
def level_of(value: float, unit: float) -> np.int64:
    """Level of a contrast."""
    level = np.floor(np.float64(value) / unit * 256)
    return np.int64(min(max(level, 0.0), 65535.0))
