"""Widest paths of the weakest voxel on the card: tiles that may still rise are visited."""

import numpy as np

from ..widest_paths import STEPS
from .launches import check_count, each, integers, kernel, pointer

SIDE, THREADS = 8, 64  # as in widest_paths.cu
BLOCKS = 4096  # more than any card holds at a time; each takes further tiles of a long list
ROUNDS_A_BATCH = 16  # then the host asks whether tiles are left
NEVER = np.float32(1e-5)  # relative margin below the floor: no path there, whatever rounding does
BYTES_A_VOXEL = 4  # capacity and level


def widest_paths(contrast, mask, starts, unit, floor, gpu, check=lambda: None):
    """The levels of `contrast.widest_paths.widest_paths`, bit for bit.

    Parameters
    ----------
    contrast : array on the card, shape (K, J, I), float32
    mask : array on the card, uint8, same shape, or None
    starts : sequence of (K, J, I)
    unit : float
    floor : int
        At least 1.
    gpu : CudaDevice
    check : callable
        Called between batches of rounds; raises to cancel.

    Returns
    -------
    array, uint16, on the card
    """
    xp, shape = gpu.xp, contrast.shape
    check_count(contrast.size)
    capacity, levels = xp.empty(shape, np.uint16), xp.zeros(shape, np.uint16)
    if not len(starts):
        return levels
    low = np.float32(floor / STEPS * unit) * (1 - NEVER)
    place = contrast, pointer(mask), np.uint32(contrast.size), np.float64(unit), np.float64(STEPS)
    place = *place, np.int32(floor), np.float32(low), capacity
    each(gpu, "widest_paths", "find_capacities", contrast.size, place)
    seeds = np.array([np.ravel_multi_index(s, shape) for s in starts], np.int64)
    first, tile_count = _tiles_of(np.asarray(starts), shape)
    lists, listed = xp.empty(2 * tile_count, np.int32), xp.zeros(tile_count, np.int32)
    counts = xp.zeros(4, np.int32)
    begin = gpu.put(seeds), np.int32(seeds.size), capacity, levels
    begin = *begin, gpu.put(first), np.int32(first.size), lists, counts, listed
    kernel(gpu, "widest_paths", "begin_paths")((-(-seeds.size // THREADS),), (THREADS,), begin)
    visit = kernel(gpu, "widest_paths", "visit_tiles")
    fixed = capacity, levels, *integers(shape), lists, counts, listed
    blocks, rounds = (min(tile_count, BLOCKS),), 0
    while True:
        for _ in range(ROUNDS_A_BATCH):
            visit(blocks, (THREADS,), (*fixed, np.int32(rounds)))
            rounds += 1
        if gpu.get(counts)[rounds % 3] == 0:
            return levels
        check()


def _tiles_of(starts, shape):
    """Tiles that hold a start (int32, each once), and the number of all tiles."""
    tiles = [-(-n // SIDE) for n in shape]
    numbers = np.ravel_multi_index((starts // SIDE).T, tiles)
    return np.unique(numbers).astype(np.int32), int(np.prod(tiles))
