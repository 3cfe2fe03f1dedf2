"""Limbs, their caps, and what lies beyond the ends of a skeleton, on the card; see `..limbs`."""

from functools import cached_property
from pathlib import Path

import numpy as np

from FuzzyVesselCommon.errors import NoRoomError

from ..caps import OUTSIDE, bounds, middle_of, places_in
from ..geodesic import neighbour_steps, unit_of
from .large_pieces import LargePieces

KERNELS = Path(__file__).with_name("kernels") / "limbs.cu"
THREADS = 1024  # as in limbs.cu
MOST_VOXELS = 2**31 - 1  # of a volume
A_LAUNCH = 8  # pieces
MOST_WAITING = 16  # launches: a run that is cancelled has to wait until they have ended
LARGE = 1 << 15  # voxels of a piece that one block of threads does not grow
NOT_TOLD = -3  # a width; -2: too large, -1: no tip
AT_ONCE = 1 << 12  # voxels of a piece that are copied together with their number


class Pieces:
    """Grows pieces of an object.

    Parameters
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
        From the core, along the object; -1 outside. The border is outside.
    spacing : 3 floats K, J, I, in mm
    count : int
        The object's voxels.
    gpu : CudaDevice
    report : callable, optional
        Called between launches; raises to cancel.
    """

    def __init__(self, distances, spacing, count, gpu, report=None):
        self._distances, self._spacing, self._gpu = distances, spacing, gpu
        self._lines, self._count, self._report = lines_of(distances), count, report
        self._visited = gpu.xp.zeros(distances.size, np.int32)
        self._room = gpu.xp.empty(2 + 3 * count, np.int32)
        self._number = 0  # of the last piece
        self._launches = 0

    @cached_property
    def _large(self):
        here = self._lines, self._visited, self._count, self._gpu, self._report
        return LargePieces(self._distances, *here)

    def at(self, volume, voxels):
        """Numbers of a volume on the card at flat indices of the host."""
        return self._gpu.get(volume.reshape(-1)[self._gpu.put(np.asarray(voxels, np.int64))])

    def limb_widths(self, tops, depth, smallest):
        """The width in mm of the limb of each top that is a tip; -1 where it is none.

        Parameters
        ----------
        tops : ndarray of int
            Flat indices; lower ones first, of equally high ones the last in memory.
        depth : CuPy's ndarray of float32, shape (K, J, I)
            Distance to the outside in mm.
        smallest : float
            Millimetres that a limb is longer than `SLENDERNESS` times its radius.
        """
        widths = self._gpu.xp.full(len(tops), NOT_TOLD, np.float32)
        is_tip = self._gpu.xp.zeros(self._distances.size, np.uint8)
        sizes = np.float64(unit_of(self._spacing)), np.float64(smallest)
        there = self._gpu.put(np.asarray(tops, np.int32))
        self._number, told = len(tops), 0
        while told < len(tops):
            for first in range(told, len(tops), A_LAUNCH):
                some = first, min(first + A_LAUNCH, len(tops)), LARGE
                self._launch(
                    "grow_limbs", depth, *self._lines, *sizes, there, *(np.int32(n) for n in some),
                    self._visited, is_tip, self._room[2:], np.int32(self._count), widths,
                )  # fmt: skip
            here = self._gpu.get(widths)
            told = int(np.append(np.flatnonzero(here < -1), len(tops))[0])
            if told < len(tops):
                here[told] = self._large_limb(tops[told], depth, is_tip, sizes)
                widths[told] = here[told]
                told += 1
        return here

    def _large_limb(self, top, depth, is_tip, sizes):
        self._number += 1
        height = self.at(self._distances, [top])[0]
        width = self._large.limb_width(top, height, self._number, depth, is_tip, *sizes)
        if width >= 0:
            is_tip[int(top)] = 1
        return width

    def furthest_beyond(self, ends):
        """For each end of the skeleton what `tips.furthest_beyond` finds, in their order."""
        found = self._gpu.xp.full(len(ends), NOT_TOLD, np.int32)
        begun = self._gpu.xp.empty(3, np.uint64)
        steps = self._gpu.put(lengths(self._distances.shape, self._spacing))
        there = self._gpu.put(np.asarray(ends, np.int32))
        self._number, told = 1, 0
        while told < len(ends):
            for first in range(told, len(ends), A_LAUNCH):
                some = first, min(first + A_LAUNCH, len(ends)), LARGE
                self._launch(
                    "furthest_beyond", *self._lines, steps, there, *(np.int32(n) for n in some),
                    self._visited, self._room, found, begun,
                )  # fmt: skip
            here = self._gpu.get(found)
            told = int(np.append(np.flatnonzero(here < 0), len(ends))[0])
            if told < len(ends):
                grown, count, best = self._gpu.get(begun).tolist()
                some = self._room[grown:count]
                here[told] = self._large.furthest_beyond(some, best, self._number, steps)
                found[told : told + 1] = int(here[told])
                told += 1
        return here.astype(np.int64)

    def middle_of_cap(self, height, top, reach):
        """The voxel where a limb's axis leaves it; see `caps.middle_of_cap`."""
        shape = self._distances.shape
        low, high, lowest = bounds(height, top, reach, shape, self._spacing)
        if lowest[0] <= OUTSIDE:
            cap, slab = np.argwhere(np.ones(high - low, bool)).astype(np.int32), None
        else:
            cap, slab = self._grow_cap(top, low, high, lowest)
            cap, slab = (None if v is None else places_in(v, low, shape) for v in (cap, slab))
        return middle_of(cap, slab, low, high, top, shape, self._spacing)

    def _grow_cap(self, top, low, high, lowest):
        """Flat indices, rising, of the cap and of it with what is behind it, or None for all."""
        self._number += 1
        far = int(np.ceil(lowest[0]))
        near = int(np.ceil(lowest[1])) if lowest[1] > OUTSIDE else far
        if min(self._count, np.prod(high - low)) > LARGE:
            box = *low, *high
            sizes = self._large.cap_sizes(top, self._number, box, far, near)
            voxels = self._large.voxels
            first = self._gpu.get(voxels[:AT_ONCE])
        else:
            numbers = (np.int32(n) for n in (top, *low, *high, far, near, self._number))
            self._launch("grow_cap", *self._lines, *numbers, self._visited, self._room[2:],
                         np.int32(self._count), self._room)  # fmt: skip
            voxels = self._room[2:]
            first = self._gpu.get(self._room[: AT_ONCE + 2])
            sizes, first = first[:2].tolist(), first[2:]
        parts = [
            np.sort(first[:size])
            if size <= AT_ONCE
            else self._gpu.get(self._gpu.xp.sort(voxels[:size]))
            for size in sizes
        ]
        return parts[0], parts[1] if lowest[1] > OUTSIDE else None

    def _launch(self, name, *args):
        self._gpu.kernel(KERNELS, name)((1,), (THREADS,), (self._distances, *args))
        self._launches += 1
        if self._launches % MOST_WAITING == 0:
            self._gpu.synchronize()
        if self._report is not None:
            self._report()


def lines_of(volume):
    """Voxels from one row and from one plane to the next."""
    if volume.size > MOST_VOXELS:
        raise NoRoomError(
            f"A component's box has {volume.size:,} voxels, and {MOST_VOXELS:,} can be numbered "
            "on the card; use device 'cpu'."
        )
    return np.int32(volume.shape[2]), np.int32(volume.shape[1] * volume.shape[2])


def lengths(shape, spacing):
    """Lengths in units of the steps to the 27 voxels of a block, int32; 0 in the middle."""
    return np.insert(neighbour_steps(shape, spacing)[1], 13, 0).astype(np.int32)
