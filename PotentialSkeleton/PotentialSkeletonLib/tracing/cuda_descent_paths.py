"""The ways from voxels towards an object's core, on the card; see `..ways_in`."""

from pathlib import Path

import numpy as np

from ..endpoints.cuda_local_maxima import lines_of

KERNELS = Path(__file__).with_name("descent_paths.cu")
THREADS = 32
ROOM = 64  # voxels of a way for which there is room in the first try


def ways_in(distances, forces, voxels, gpu):
    """From each voxel the way along falling distances, as far as there is no force.

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
    count, room = len(voxels), ROOM
    if count == 0:
        return []
    field = np.uintp(0) if forces is None else forces
    begin = gpu.put(np.asarray(voxels, np.int32)), np.int32(count)
    while True:
        found = gpu.xp.empty(count * (room + 1), np.int32)
        gpu.kernel(KERNELS, "follow_ways_in")(
            (-(-count // THREADS),),
            (THREADS,),
            (distances, field, *lines_of(distances), *begin, np.int32(room), found[count:], found),
        )
        here = gpu.get(found)
        sizes, ways = here[:count], here[count:].reshape(count, room)
        if sizes.max() <= room:
            break
        room = int(sizes.max())
    voxels = ways[np.arange(room) < sizes[:, None]].astype(np.int64)
    places = np.stack(np.unravel_index(voxels, distances.shape), axis=1)
    return np.split(places, np.cumsum(sizes)[:-1])
