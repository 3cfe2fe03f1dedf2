"""Euclidean distance inside an object to its outside, in mm, on a CUDA device.

The distances equal those of `euclidean` bit for bit. There the stack of parabolas of each line is
sequential; here each voxel searches its line for the nearest parabola, all voxels in parallel.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...progress import Progress
from . import euclidean

KERNELS = Path(__file__).with_name("euclidean.cu")
ROWS_PER_BLOCK = 4
TILE = (32, 16)  # voxels of a block: neighbouring lines, places along them
MAX_GROUPS = 65535  # along the third side of a grid
VOXELS_PER_LAUNCH = 1 << 25  # limits the duration of a launch


def distance_to_outside(
    mask: Any, spacing: Sequence[float], gpu: Any, progress: Progress | None = None
) -> Any:
    """Return the exact distance of each voxel's centre to the nearest centre outside the object.

    Fewer than `euclidean.SCIPY_THRESHOLD` voxels are left to the CPU: SciPy, which is used there,
    rounds once and not after each pass, so that the last bit can differ.

    Parameters
    ----------
    mask : CuPy's ndarray of bool or uint8, shape (K, J, I), in C order
        Not 0 in the object. Nothing is known beyond the array: pad an object that touches it.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    progress : Progress, optional
        Checked between launches.

    Returns
    -------
    CuPy's ndarray of float32, shape (K, J, I), in mm; 0 outside

    Raises
    ------
    Cancelled
        The progress callback returned False.
    """
    progress = Progress.of(progress)
    if mask.size < euclidean.SCIPY_THRESHOLD:
        on_host = gpu.get(mask).view(np.uint8)
        return gpu.put(euclidean.distance_to_outside(on_host, spacing, progress))
    depth, rows, width = mask.shape
    squared, other = (gpu.xp.empty(mask.shape, np.float32) for _ in range(2))
    gpu.kernel(KERNELS, "along_rows")(
        (-(-depth * rows // ROWS_PER_BLOCK),),
        (32 * ROWS_PER_BLOCK,),
        (mask, np.int64(depth * rows), np.int32(width), np.float64(spacing[2]), squared),
    )
    along_j, along_k = (depth, rows, width), (1, depth, rows * width)
    _lower_envelopes(squared.reshape(along_j), spacing[1], False, other, gpu, progress)
    _lower_envelopes(other.reshape(along_k), spacing[0], True, squared, gpu, progress)
    return squared


def _lower_envelopes(
    values: Any, step: float, take_root: bool, lower: Any, gpu: Any, progress: Progress
) -> None:
    """Transform groups of lines; values (group, place in the line, line)."""
    groups, count, lines = values.shape
    lower = lower.reshape(values.shape)
    kernel = gpu.kernel(KERNELS, "lower_envelopes")
    some_lines = max(TILE[0], min(lines, VOXELS_PER_LAUNCH // count))
    some_groups = max(1, min(groups, MAX_GROUPS, VOXELS_PER_LAUNCH // (count * some_lines)))
    for group in range(0, groups, some_groups):
        part = slice(group, min(group + some_groups, groups))
        for first in range(0, lines, some_lines):
            last = min(first + some_lines, lines)
            grid = -(-(last - first) // TILE[0]), -(-count // TILE[1]), part.stop - part.start
            sizes = np.int32(count), *(np.int64(n) for n in (lines, first, last))
            options = np.float64(step), np.int32(take_root)
            kernel(grid, TILE, (values[part], *sizes, *options, lower[part]))
            progress.check()
