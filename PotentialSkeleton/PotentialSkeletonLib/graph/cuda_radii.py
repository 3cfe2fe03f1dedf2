"""Radii: distances from points inside an object on the device to its border, in mm."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

KERNELS = Path(__file__).with_name("radii.cu")
THREADS = 128
POINTS_PER_BLOCK = THREADS // 32
# So that no launch takes long: points, and rows that are searched where the object may be thick.
MAX_POINTS_PER_LAUNCH, MAX_ROWS_PER_LAUNCH = 1 << 13, 1 << 27


def radius_at(
    points: np.ndarray, mask: Any, spacing: Sequence[float], gpu: Any, progress: Progress
) -> np.ndarray:
    """Distance of each point to the nearest voxel centre outside; equals `radii.radius_at`.

    Every call goes through the mask once to mark what is outside: pass all points at a time.

    Parameters
    ----------
    points : ndarray of float, (n, 3)
        In voxels of the mask, and in it.
    mask : CuPy's ndarray of bool or uint8, shape (K, J, I), in C order
        Not 0 in the object. Beyond the array everything is outside.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    progress : Progress
        Checked between launches.

    Returns
    -------
    ndarray of float64, (n,), in mm
    """
    if len(points) == 0:
        return np.zeros(0)
    depth, rows, width = mask.shape
    words = (width + 2 + 31) // 32
    outside = gpu.xp.empty((depth + 2) * (rows + 2) * words, np.uint32)
    sizes = [np.int32(n) for n in (depth, rows, width, words)]
    gpu.kernel(KERNELS, "mark_outside")(
        ((depth + 2) * (rows + 2),), (THREADS,), (mask, *sizes, outside)
    )
    radii = gpu.xp.empty(len(points), np.float64)
    points = gpu.put(np.asarray(points, np.float64))
    size = gpu.struct(KERNELS, "Size", depth=depth, rows=rows, width=width, words=words)
    steps = gpu.struct(KERNELS, "Steps", **dict(zip("kji", spacing)))
    batch = max(1, min(MAX_POINTS_PER_LAUNCH, MAX_ROWS_PER_LAUNCH // max_rows(mask.shape, spacing)))
    for first in range(0, len(points), batch):
        some = slice(first, min(first + batch, len(points)))
        count = some.stop - first
        gpu.kernel(KERNELS, "nearest_outside")(
            (-(-count // POINTS_PER_BLOCK),),
            (THREADS,),
            (outside, size, steps, points[some], np.int32(count), radii[some]),
        )
        progress.check()
    return gpu.get(radii)


def max_rows(shape: Sequence[int], spacing: Sequence[float]) -> int:
    """Rows along I that are searched for a point at most: a square round the largest ball."""
    radius = (min(np.array(shape) * spacing) + max(spacing)) / 2
    return int((2 * radius / min(spacing[:2]) + 1) ** 2) + 1
