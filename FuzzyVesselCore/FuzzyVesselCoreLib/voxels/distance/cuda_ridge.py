"""What follows from the distance to the outside, on a CUDA device: its ridge, order of thinning."""

from pathlib import Path
from typing import Any

import numpy as np

KERNELS = Path(__file__).with_name("ridge.cu")
THREADS = 128  # one voxel each
FIRST_CAPACITY = 1 << 16  # depths in the list of the first launch


def removal_order(depth: Any, voxels: np.ndarray, gpu: Any) -> np.ndarray:
    """Return the order in which thinning removes voxels; see `ridge.removal_order`.

    Parameters
    ----------
    depth : CuPy's ndarray of float32, shape (K, J, I)
    voxels : numpy's ndarray of int, (n,)
        Flat indices.
    gpu : CudaDevice

    Returns
    -------
    numpy's ndarray of float32, (n,)
    """
    if len(voxels) == 0:
        return np.empty(0, np.float32)
    return gpu.get(removal_order_on_device(depth, gpu.put(np.asarray(voxels, np.int64)), gpu))


def removal_order_on_device(depth: Any, voxels: Any, gpu: Any) -> Any:
    """Return the same, as CuPy's, of one voxel or more; CuPy's int64, too."""
    order = gpu.xp.empty(len(voxels), np.float32)
    gpu.kernel(KERNELS, "removal_order")(
        (-(-len(voxels) // THREADS),),
        (THREADS,),
        (depth, *(np.int32(n) for n in depth.shape), voxels, np.int64(len(voxels)), order),
    )
    return order


def ridge_depths(depth: Any, gpu: Any) -> np.ndarray:
    """Return the depths of the voxels that none of their 26 neighbours exceeds in depth.

    Parameters
    ----------
    depth : CuPy's ndarray of float32, shape (K, J, I)
    gpu : CudaDevice

    Returns
    -------
    numpy's ndarray of float32, (n,), in no order
    """
    blocks = max(depth.shape[0] - 2, 0) * max(depth.shape[1] - 2, 0)
    if blocks == 0:
        return np.zeros(0, np.float32)
    capacity = FIRST_CAPACITY
    while True:
        count, ridge = gpu.xp.zeros(1, np.int32), gpu.xp.empty(capacity, np.float32)
        sizes = (np.int32(n) for n in (*depth.shape[1:], capacity))
        gpu.kernel(KERNELS, "list_ridge")((blocks,), (64,), (depth, *sizes, count, ridge))
        found = int(count[0])
        if found <= capacity:
            return gpu.get(ridge[:found])
        capacity = found
