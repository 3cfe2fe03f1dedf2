"""Tiles of volumes on a CUDA device, copied to the host; see `tiles`.

A thin object has few tiles that are not empty: they are copied at once. The tiles of other objects
are copied when they are needed.
"""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct

from .tiles import Tiles

KERNELS = Path(__file__).with_name("tiles.cu")
SIDE = 3  # binary logarithm of the voxels along the side of a tile, if all are copied at once
MAX_BYTES = 1 << 25  # of such tiles
MARK_THREADS, GATHER_THREADS = 64, 256


def tiles_on_host(where: Any, count: int, volumes: list[Any], gpu: Any) -> Tiles:
    """Return the `Tiles` of volumes on the device.

    Parameters
    ----------
    where : CuPy's ndarray of uint8, shape (K, J, I)
        Not 0 wherever one of the volumes is not.
    count : int
        So many voxels of it, or more, are not 0.
    volumes : list of CuPy's ndarray, shape (K, J, I, ...)
        Of uint8 or float32.
    gpu : CudaDevice

    Returns
    -------
    Tiles
    """
    most = MAX_BYTES // sum(volume[:1, :1, :1].nbytes for volume in volumes)  # voxels
    box, shape = _box(where, gpu)
    places = _marked_tiles(where, box, shape, gpu) if count <= most else None
    if places is None or len(places) * (2**SIDE + 1) ** 3 > most:
        return Tiles(where.shape, lambda part: [gpu.get(volume[part]) for volume in volumes])
    on_device = gpu.put(places.astype(np.int32))
    tiles = [gpu.get_pinned(_gathered(volume, box, on_device, gpu)) for volume in volumes]
    return Tiles.listed(where.shape, SIDE, np.stack(np.unravel_index(places, shape), 1), *tiles)


def _box(where: Any, gpu: Any) -> tuple[KernelStruct, list[int]]:
    """Return the volume's box for kernels, and how many tiles there are along its sides."""
    shape = [(n >> SIDE) + 1 for n in where.shape]
    sizes = dict(zip(("depth", "rows", "width"), where.shape))
    return gpu.struct(KERNELS, "Box", **sizes, tiles_j=shape[1], tiles_i=shape[2]), shape


def _marked_tiles(where: Any, box: KernelStruct, shape: list[int], gpu: Any) -> np.ndarray:
    """Return the flat places (n,) of tiles that are not empty; numpy's."""
    marks = gpu.xp.zeros(shape, np.uint8)
    blocks = where.shape[0] * where.shape[1]
    gpu.kernel(KERNELS, "mark_tiles")((blocks,), (MARK_THREADS,), (where, box, marks))
    return np.flatnonzero(gpu.get(marks))


def _gathered(volume: Any, box: KernelStruct, places: Any, gpu: Any) -> Any:
    """Gather a volume's tiles (n + 1, k, j, i, ...) on the device; the first one is 0."""
    tiles = gpu.xp.empty((len(places) + 1, *[2**SIDE + 1] * 3, *volume.shape[3:]), volume.dtype)
    items = np.int32(np.prod(volume.shape[3:], dtype=int))
    name = "gather_bytes" if volume.itemsize == 1 else "gather_floats"
    arguments = volume, box, items, places, tiles
    gpu.kernel(KERNELS, name)((len(places) + 1,), (GATHER_THREADS,), arguments)
    return tiles
