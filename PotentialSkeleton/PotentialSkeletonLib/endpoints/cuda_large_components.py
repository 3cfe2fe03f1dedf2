"""Pieces of an object that all of the card grows together, one after the other; see `limbs`."""

from functools import cached_property
from pathlib import Path

import numpy as np

KERNELS = Path(__file__).with_name("large_components.cu")
THREADS = 512
MOST_WORK = (
    1 << 22
)  # voxels that a launch visits, and what rounds cost besides; see large_pieces.cu
SIZES, STEP, STATE = 0, 4, 64  # places in the state, and more than its size, in 4 bytes
END = 4


class LargePieces:
    """Grows pieces of an object.

    Parameters
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
    lines : 2 ints
        Voxels from one row and from one plane to the next.
    count : int
        The object's voxels.
    gpu : CudaDevice
    report : callable or None
        Called between launches; raises to cancel.
    """

    def __init__(self, distances, lines, count, gpu, report):
        self._volume, self._count = (distances, *lines), np.int32(count)
        self._gpu, self._report = gpu, report
        self._number = 1  # of the next piece

    @cached_property
    def voxels(self):
        """Room for lists of voxels; those of the last piece come first."""
        return self._gpu.xp.empty(3 * int(self._count), np.int32)

    @cached_property
    def _visited(self):
        return self._gpu.xp.zeros(self._volume[0].size, np.int32)

    def limb_widths(self, tops, which, marks, widths, depth, unit, smallest):
        """Tell the widths in mm of the limbs of tops that are tips, -1 of others.

        Parameters
        ----------
        tops, marks, widths : CuPy's ndarrays
            As for `grow_limbs` in large_pieces.cu.
        which : ndarray of int32
            Numbers of the tops that are not told, lower ones first.
        """
        of = self._gpu.put(which), np.int32(len(which)), marks, widths
        self._grow("grow_limbs", len(which), depth, unit, smallest, tops, *of)

    def cap_sizes(self, place, box, far, near):
        """How many voxels a cap has, and it with what is behind it; `voxels` begins with them."""
        limits = [np.int32(n) for n in (*box, place, far, near)]
        return self._grow("grow_cap", 1, *limits)[SIZES : SIZES + 2].tolist()

    def furthest_beyond(self, ends, steps):
        """Keys of the furthest voxels beyond ends of a skeleton; `grow_beyond` in large_pieces.cu.

        Returns
        -------
        CuPy's ndarray of uint64
        """
        furthest = self._gpu.xp.empty(len(ends), np.uint64)
        self._grow("grow_beyond", 1, steps, ends, np.int32(len(ends)), furthest)
        return furthest

    def _grow(self, name, pieces, *args):
        """Launch a kernel until all pieces are grown; the state."""
        gpu, launch = self._gpu, 0
        state = gpu.xp.zeros(STATE, np.int32)
        fixed = (
            *self._volume,
            self._visited,
            np.int32(self._number),
            self.voxels,
            self._count,
            state,
        )
        kernel = gpu.kernel(KERNELS, name)
        blocks = gpu.properties["multiProcessorCount"]
        while True:
            numbers = np.int32(launch), np.int32(MOST_WORK)
            gpu.launch_cooperative(kernel, blocks, THREADS, (*fixed, *numbers, *args))
            found, launch = gpu.get(state), launch + 1
            if self._report is not None:
                self._report()
            if found[STEP] == END:
                self._number += pieces
                return found
