"""Distances from points inside an object to its border, in mm, where the object is on the card."""

from pathlib import Path

import numpy as np

KERNELS = Path(__file__).with_name("kernels") / "radii.cu"
THREADS = 128
POINTS_A_BLOCK = THREADS // 32


def radius_at(points, mask, spacing, gpu):
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
    where = gpu.put(np.asarray(points, np.float64)), np.int32(len(points))
    steps = (np.float64(step) for step in spacing)
    gpu.kernel(KERNELS, "nearest_outside")(
        (-(-len(points) // POINTS_A_BLOCK),), (THREADS,), (outside, *sizes, *where, *steps, radii)
    )
    return gpu.get(radii)
