"""Distances from points inside an object to its border, in mm, where the object is on the card."""

from pathlib import Path

import numpy as np

KERNELS = Path(__file__).with_name("radii.cu")
THREADS = 128
POINTS_A_BLOCK = THREADS // 32
POINTS_A_LAUNCH = 1 << 13  # so that no launch takes long; fewer where the object may be thick:
ROWS_A_LAUNCH = 1 << 27  # that are searched at most


def radius_at(points, mask, spacing, gpu, report=None):
    """Distance of each point to the nearest voxel centre outside; the numbers of `radii.radius_at`.

    Every call goes through the mask once to mark what is outside: ask for all points at a time.

    Parameters
    ----------
    points : ndarray of float, (n, 3)
        In voxels of the mask, and in it.
    mask : CuPy's ndarray of bool or uint8, shape (K, J, I), in C order
        Not 0 in the object. Beyond the array everything is outside.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    report : callable, optional
        Called between launches; raises to cancel.

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
    points, steps = gpu.put(np.asarray(points, np.float64)), [np.float64(n) for n in spacing]
    batch = max(1, min(POINTS_A_LAUNCH, ROWS_A_LAUNCH // most_rows(mask.shape, spacing)))
    for first in range(0, len(points), batch):
        some = slice(first, min(first + batch, len(points)))
        count = some.stop - first
        gpu.kernel(KERNELS, "nearest_outside")(
            (-(-count // POINTS_A_BLOCK),), (THREADS,),
            (outside, *sizes, points[some], np.int32(count), *steps, radii[some]),
        )  # fmt: skip
        if report is not None:
            report()
    return gpu.get(radii)


def most_rows(shape, spacing):
    """Rows along I that are searched for a point at most: a square round the largest ball."""
    radius = (min(np.array(shape) * spacing) + max(spacing)) / 2
    return int((2 * radius / min(spacing[:2]) + 1) ** 2) + 1
