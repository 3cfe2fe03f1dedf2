"""Tiles of volumes on a CUDA device, copied to the host; see `tiles`.

A thin object has few tiles that are not empty: they are copied at once. The tiles of other objects
are copied when they are needed.
"""

from itertools import product
from typing import Any

import numpy as np

from .tiles import Tiles

SIDE = 3  # binary logarithm of the voxels along the side of a tile, if all are copied at once
MAX_BYTES = 1 << 25  # of such tiles


def tiles_on_host(where: Any, count: int, volumes: list[Any], gpu: Any) -> Tiles:
    """Return the `Tiles` of volumes on the device.

    Parameters
    ----------
    where : CuPy's ndarray, shape (K, J, I)
        Not 0 wherever one of the volumes is not.
    count : int
        So many voxels of it, or more, are not 0.
    volumes : list of CuPy's ndarray, shape (K, J, I, ...)
    gpu : CudaDevice

    Returns
    -------
    Tiles
    """
    most = MAX_BYTES // sum(volume[:1, :1, :1].nbytes for volume in volumes)  # voxels
    places = _nonempty_tiles(where, gpu) if count <= most else None
    if places is None or len(places) * (2**SIDE + 1) ** 3 > most:
        return Tiles(where.shape, lambda box: [gpu.get(volume[box]) for volume in volumes])
    return Tiles.listed(
        where.shape, SIDE, places, *(gpu.get(_gathered(volume, places, gpu)) for volume in volumes)
    )


def _nonempty_tiles(where: Any, gpu: Any) -> np.ndarray:
    """Return the places (n, 3) of tiles that are not empty; numpy's."""
    xp = gpu.xp
    shape = [(n >> SIDE) + 1 for n in where.shape]
    voxels = xp.flatnonzero(where)
    rows = voxels // where.shape[2]
    planes = rows // where.shape[1]
    tiles = (planes >> SIDE) * shape[1] + (rows - planes * where.shape[1] >> SIDE)
    tiles = tiles * shape[2] + (voxels - rows * where.shape[2] >> SIDE)
    marked = xp.zeros(int(np.prod(shape)), np.uint8)
    marked[tiles] = 1
    marked = gpu.get(marked).reshape(shape)
    # A tile's last voxels are the first ones of the tiles after it.
    padded = np.pad(marked, [(0, 1)] * 3)
    needed = np.zeros_like(marked)
    for k, j, i in product((0, 1), repeat=3):
        needed |= padded[k : k + shape[0], j : j + shape[1], i : i + shape[2]]
    return np.argwhere(needed)


def _gathered(volume: Any, places: np.ndarray, gpu: Any) -> Any:
    """Gather a volume's tiles (n + 1, k, j, i, ...) on the device; the first one is 0."""
    within = np.arange(2**SIDE + 1)
    index = []
    for axis, length in enumerate(volume.shape[:3]):
        # Voxels beyond the volume are never used.
        along = np.minimum((places[:, axis, None] << SIDE) + within, length - 1)
        shape = [len(places), 1, 1, 1]
        shape[axis + 1] = len(within)
        index.append(gpu.put(along.reshape(shape)))
    tiles = gpu.xp.zeros((len(places) + 1, *[len(within)] * 3, *volume.shape[3:]), volume.dtype)
    tiles[1:] = volume[tuple(index)]
    return tiles
