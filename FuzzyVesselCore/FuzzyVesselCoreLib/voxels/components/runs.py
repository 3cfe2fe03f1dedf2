"""The end of a run of voxels; compiled."""

from typing import Any

import numpy as np

from ...jit.decorators import compiled_inside

BLOCK = 32  # voxels that are tested together
START: Any = np.int64(0)  # of a row; numba compiles another version for the plain number


@compiled_inside
def run_end(row: np.ndarray, i: int, value: np.uint8) -> int:
    """Return the first place of a row, from `i` on, whose voxel does not have the value."""
    while i + BLOCK <= row.size:
        other = np.uint8(0)
        for n in range(BLOCK):
            other |= row[i + n] ^ value
        if other:
            break
        i += BLOCK
    while i < row.size and row[i] == value:
        i += 1
    return i
