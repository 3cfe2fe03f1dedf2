"""Geodesic descent paths on the device; see `descent_paths`."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError

KERNELS = Path(__file__).with_name("descent_paths.cu")
THREADS = 32
CAPACITY = 64  # voxels of a path in the first launch
MAX_VOXELS = 2**31 - 1  # of a volume: kernels use 32-bit flat indices


def descent_paths(distances: Any, forces: Any, voxels: np.ndarray, gpu: Any) -> list[np.ndarray]:
    """From each voxel the path along falling distances, as far as there is no force.

    Parameters
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
        From the core, along the object; -1 outside. The border is outside.
    forces : CuPy's ndarray of float32, shape (K, J, I, 3), or None
        0 where there is none.
    voxels : ndarray of int, (n,)
        Flat indices of voxels of the object; on the host.
    gpu : CudaDevice

    Returns
    -------
    list of ndarray of int, (n, 3)
        Voxels K, J, I, on the host. Each begins at its voxel; the last has a force or is in the
        core.
    """
    count, capacity = len(voxels), CAPACITY
    if count == 0:
        return []
    field = np.uintp(0) if forces is None else forces
    starts = gpu.put(np.asarray(voxels, np.int32)), np.int32(count)
    while True:
        found = gpu.xp.empty(count * (capacity + 1), np.int32)
        output = np.int32(capacity), found[count:], found
        gpu.kernel(KERNELS, "follow_descent_paths")(
            (-(-count // THREADS),),
            (THREADS,),
            (distances, field, *strides_of(distances), *starts, *output),
        )
        on_host = gpu.get(found)
        lengths, paths = on_host[:count], on_host[count:].reshape(count, capacity)
        if lengths.max() <= capacity:
            break
        capacity = int(lengths.max())
    flat = paths[np.arange(capacity) < lengths[:, None]].astype(np.int64)
    indices = np.stack(np.unravel_index(flat, distances.shape), axis=1)
    return np.split(indices, np.cumsum(lengths)[:-1])


def strides_of(volume: Any) -> tuple[np.int32, np.int32]:
    """Voxels from one row and from one plane to the next.

    Raises
    ------
    DeviceMemoryError
        The volume has too many voxels for 32-bit indices.
    """
    if volume.size > MAX_VOXELS:
        raise DeviceMemoryError(
            f"A component's box has {volume.size:,} voxels, and {MAX_VOXELS:,} can be indexed "
            "on the GPU; use device 'cpu'."
        )
    return np.int32(volume.shape[2]), np.int32(volume.shape[1] * volume.shape[2])
