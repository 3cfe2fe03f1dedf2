"""Distances along an object, over steps to 26 neighbours, on the card; see `..geodesic`."""

from pathlib import Path

import numpy as np

from .geodesic import neighbour_steps

KERNELS = Path(__file__).with_name("geodesic.cu")
SIDE, THREADS = 8, 64
BLOCKS = 4096  # more than any card holds at a time; each takes further tiles of a long list
MOST_ROUNDS = 16  # of tiles between two looks at what is left; at first there are fewer


def distance_along(mask, sources, spacing, gpu, report=None):
    """Geodesic distance inside the object from the nearest source, over steps to 26 neighbours.

    Parameters
    ----------
    mask : CuPy's ndarray of uint8, shape (K, J, I)
        Not 0 in the object, which must not touch the array's border.
    sources : CuPy's ndarray of int64
        Flat indices of the voxels that have distance 0.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    report : callable, optional
        Called between rounds; raises to cancel.

    Returns
    -------
    CuPy's ndarray of int32, shape (K, J, I)
        In units of `unit_of(spacing)`; -1 outside and where no source is reached.
    """
    distances = gpu.xp.empty(mask.shape, np.int32)
    blocks = (min(-(-mask.size // 256), BLOCKS),)
    gpu.kernel(KERNELS, "clear")(blocks, (256,), (mask, np.int64(mask.size), distances))
    bring_nearer(distances, sources, spacing, gpu, report)
    unreached = np.int64(mask.size), distances
    gpu.kernel(KERNELS, "leave_out_unreached")(blocks, (256,), unreached)
    return distances


def bring_nearer(distances, sources, spacing, gpu, report=None):
    """Lower distances from `distance_along`, in place, where other sources are nearer."""
    if len(sources) == 0:
        return
    shape = tuple(np.int32(n) for n in distances.shape)
    _, tiles_j, tiles_i = tiles = tuple(np.int32(-(-n // SIDE)) for n in shape)
    count = int(np.prod(tiles, dtype=np.int64))
    room = gpu.xp.zeros(3 * count + 3, np.int32)
    listed, counts, lists = room[:count], room[count : count + 3], room[count + 3 :]
    sources = gpu.xp.ascontiguousarray(sources, np.int64)
    first = sources, np.int32(len(sources)), lists[count:], counts[1:], listed
    places = *shape[1:], tiles_j, tiles_i
    gpu.kernel(KERNELS, "begin")((-(-len(sources) // 256),), (256,), (distances, *places, *first))
    visit = gpu.kernel(KERNELS, "visit_tiles")
    fixed = distances, *shape, gpu.put(lengths(spacing)), lists, counts, listed
    rounds, batch = 1, 4
    while True:
        for _ in range(batch):
            visit((min(count, BLOCKS),), (THREADS,), (*fixed, np.int32(rounds)))
            rounds += 1
        if gpu.get(counts)[rounds % 3] == 0:
            return
        if report is not None:
            report()
        batch = min(2 * batch, MOST_ROUNDS)


def lengths(spacing):
    """Lengths in units of the steps along I (1), J (2), J and I (3), K (4) and so on; int32."""
    weights = np.insert(neighbour_steps((3, 3, 3), spacing)[1], 13, 0).reshape(3, 3, 3)
    return weights[1:, 1:, 1:].reshape(8).astype(np.int32)
