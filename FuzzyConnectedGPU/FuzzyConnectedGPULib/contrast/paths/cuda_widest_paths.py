"""Widest paths of the weakest voxel on the card: tiles that may still rise are visited."""

import numpy as np

from ..launches import check_count, each, integers, kernel, pointer
from .widest_paths import STEPS

SIDE, THREADS = 8, 64  # as in tile_rounds.cuh
BLOCKS = 4096  # more than any card holds at a time; each takes further tiles of a long list
ROUNDS_A_BATCH = 16  # then the host asks whether tiles are left
NEVER = np.float32(1e-5)  # relative margin below the floor: no path there, whatever rounding does
BYTES_A_VOXEL = 5  # capacity, level, and with rivals the owner


def widest_paths(contrast, mask, starts, unit, floor, gpu, rivals=None, check=lambda: None):
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
    rivals : (array on the card, float32, of the same shape; float), optional
        The others start where the array is above the number.
    check : callable
        Called between batches of rounds; raises to cancel.

    Returns
    -------
    array, uint16, on the card
    """
    xp, shape = gpu.xp, contrast.shape
    check_count(contrast.size)
    if not len(starts):
        return xp.zeros(shape, np.uint16)
    capacity, levels = xp.empty(shape, np.uint16), xp.empty(shape, np.uint16)
    smooth, brighter = (None, 0) if rivals is None else rivals
    owners = None if rivals is None else xp.empty(shape, np.uint8)
    rounds = _Rounds(shape, gpu, check)
    low = np.float32(floor / STEPS * unit) * (1 - NEVER)
    place = contrast, pointer(mask), *rounds.shape, np.float64(unit), np.float64(STEPS)
    place = *place, np.int32(floor), np.float32(low), pointer(smooth), np.float32(brighter)
    place = *place, capacity, levels, pointer(owners), *rounds.lists
    each(gpu, "paths/widest_paths", "find_capacities", contrast.size, place)
    begin = gpu.put(np.array(starts, np.int32)), np.int32(len(starts))
    blocks = (-(-len(starts) // THREADS),), (THREADS,)
    more = capacity, *rounds.shape, levels, *rounds.lists
    kernel(gpu, "paths/widest_paths", "begin_paths")(*blocks, (*begin, *more))
    rounds.visit("paths/widest_paths", "visit_tiles", capacity, levels)
    if rivals is not None:
        capacity = more = place = None
        rounds.clear()
        more = *rounds.shape, owners, *rounds.lists
        kernel(gpu, "paths/path_owners", "begin_owners")(*blocks, (*begin, *more))
        rounds.visit("paths/path_owners", "visit_owners", levels, owners)
        args = (owners, np.uint32(levels.size), levels)
        each(gpu, "paths/path_owners", "keep_ours", levels.size, args)
    return levels


class _Rounds:
    """The lists of active tiles."""

    def __init__(self, shape, gpu, check):
        self._gpu, self._check = gpu, check
        self._count = int(np.prod([-(-n // SIDE) for n in shape]))
        self.shape = integers(shape)
        lists = gpu.xp.empty(2 * self._count, np.int32)
        self.lists = lists, gpu.xp.empty(3, np.int32), gpu.xp.empty(self._count, np.int32)
        self.clear()

    def clear(self):
        """No tile is listed."""
        for array in self.lists[1:]:
            array.fill(0)

    def visit(self, file, name, *arrays):
        """Visit tiles until none is active."""
        run = kernel(self._gpu, file, name)
        blocks, args, rounds = (min(self._count, BLOCKS),), (*arrays, *self.shape, *self.lists), 0
        while True:
            for _ in range(ROUNDS_A_BATCH):
                run(blocks, (THREADS,), (*args, np.int32(rounds)))
                rounds += 1
            if self._gpu.get(self.lists[1])[rounds % 3] == 0:
                return
            self._check()
