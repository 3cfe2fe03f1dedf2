"""Limbs, their caps, and what lies beyond the ends of a skeleton, on the card; see `..limbs`.

Many small pieces are grown at a time, as if there were no other tips; a piece that could tell
otherwise, because another top is in it, is grown again when lower tops are told. All of the card
grows these and large ones, one after the other; see `large_pieces`.
"""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.voxels.distance.geodesic import neighbour_steps, unit_of

from .cuda_end_caps import Caps
from .cuda_large_components import LargePieces

KERNELS = Path(__file__).with_name("local_maxima.cu")
THREADS, LARGE = 512, 6144  # as in limbs.cu
MOST_VOXELS = 2**31 - 1  # of a volume
A_LAUNCH = 1 << 10  # pieces
DOUBTFUL = -2  # a width that is still to be told


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
        self._lines, self._report = lines_of(distances), report
        self._large = LargePieces(distances, self._lines, count, gpu, report)

    def limb_widths(self, tops, depth, smallest):
        """The width in mm of the limb of each top that is a tip; -1 where it is none.

        Parameters
        ----------
        tops : ndarray of int32
            Flat indices; lower ones first, of equally high ones the last in memory. All are far
            enough from the core to be long without a width.
        depth : CuPy's ndarray of float32, shape (K, J, I)
            Distance to the outside in mm.
        smallest : float
            Millimetres that a limb is longer than `SLENDERNESS` times its radius.
        """
        gpu, sizes = self._gpu, (np.float64(unit_of(self._spacing)), np.float64(smallest))
        tops, widths = gpu.put(tops), gpu.xp.empty(len(tops), np.float32)
        marks = gpu.xp.zeros(self._distances.size, np.uint8)
        gpu.kernel(KERNELS, "mark_tops")(
            (-(-len(tops) // THREADS),), (THREADS,), (tops, np.int32(len(tops)), marks)
        )
        for first in range(0, len(tops), A_LAUNCH):
            pieces = min(A_LAUNCH, len(tops) - first)
            numbers = np.int32(first), np.int32(LARGE)
            args = depth, *self._lines, *sizes, tops, *numbers, marks, widths
            self._launch("small_limbs", pieces, *args)
        told = gpu.get(widths)
        doubtful = np.flatnonzero(told == DOUBTFUL).astype(np.int32)
        if len(doubtful):
            self._large.limb_widths(tops, doubtful, marks, widths, depth, *sizes)
            told = gpu.get(widths)
        return told

    def furthest_beyond(self, ends):
        """Heights and flat indices of what `tips.furthest_beyond` finds for ends of a skeleton."""
        steps = self._gpu.put(lengths(self._distances.shape, self._spacing))
        ends = self._gpu.put(np.asarray(ends, np.int32))
        return parts_of_keys(self._gpu.get(self._large.furthest_beyond(ends, steps)))

    def middles_of_caps(self, heights, tops, reaches):
        """Flat indices where limbs' axes leave them; see `Caps`."""
        there = self._distances, self._spacing, self._large, self._gpu, self._report
        return Caps(heights, tops, reaches, *there).middles()

    def _launch(self, name, blocks, *args):
        self._gpu.kernel(KERNELS, name)((blocks,), (THREADS,), (self._distances, *args))
        self._gpu.synchronize()
        if self._report is not None:
            self._report()


def parts_of_keys(keys):
    """Distances and flat indices, int32; see `furthest_key` in volume.cuh."""
    return (keys >> 32).astype(np.int32), (~keys & 0xFFFFFFFF).astype(np.int32)


def lines_of(volume):
    """Voxels from one row and from one plane to the next."""
    if volume.size > MOST_VOXELS:
        raise DeviceMemoryError(
            f"A component's box has {volume.size:,} voxels, and {MOST_VOXELS:,} can be numbered "
            "on the card; use device 'cpu'."
        )
    return np.int32(volume.shape[2]), np.int32(volume.shape[1] * volume.shape[2])


def lengths(shape, spacing):
    """Lengths in units of the steps to the 27 voxels of a block, int32; 0 in the middle."""
    return np.insert(neighbour_steps(shape, spacing)[1], 13, 0).astype(np.int32)
