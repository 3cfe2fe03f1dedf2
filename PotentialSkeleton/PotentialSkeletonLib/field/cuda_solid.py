"""A solid whose voxels, and the forces on them, are on the card."""

from functools import cached_property
from pathlib import Path

import numpy as np

from ..object.voxel_classes import SURFACE

KERNELS = Path(__file__).with_name("solid.cu")
MOST_BLOCKS, THREADS = 1 << 18, 64


class SolidOnCuda:
    """One component of the object, dilated as far as its charges are moved outward.

    Parameters
    ----------
    component : CuPy's ndarray, uint8, shape (K, J, I)
        Not 0 in the component; its box has room for the dilation.
    charge_distance : int
    gpu : CudaDevice

    Attributes
    ----------
    classes, charges, charge_count, wanted, is_free
        As `Solid`'s, on the card.
    """

    def __init__(self, component, charge_distance, gpu):
        self._gpu, self._xp = gpu, gpu.xp
        mask = (component != 0).view(np.uint8)
        for _ in range(charge_distance):
            mask = self._grown(mask)
        layers = self._launch("classify", mask, np.int32(1))
        self.classes = self._launch("classify", layers, np.int32(2))

    @cached_property
    def charges(self):
        return self.positions(self.classes == SURFACE)

    @property
    def charge_count(self):
        return int((self.classes == SURFACE).sum())

    @cached_property
    def wanted(self):
        return self._launch("choose_wanted", self.classes).view(bool)

    @cached_property
    def is_free(self):
        return self.classes > SURFACE

    def positions(self, voxels):
        return self._xp.ascontiguousarray(self._xp.argwhere(voxels), np.int32)

    def forces(self, summation, watch=None, report=lambda share: None):
        """The force on each inner and boundary voxel, float32 (K, J, I, 3) on the card.

        Parameters
        ----------
        summation : Summation
        watch : callable, optional
            Called with the name of each stage that has ended.
        report : callable, optional
            Called with the share that is done; raises to cancel.
        """
        vectors = self._xp.zeros((*self.classes.shape, 3), np.float32)
        self._ended(watch, "classify")
        summation(self, vectors, report)
        self._ended(watch, "sum")
        sizes = (np.int32(n) for n in self.classes.shape)
        self._kernel("mean_of_neighbours", self.classes, *sizes, vectors)
        self._ended(watch, "boundary")
        return vectors

    def _ended(self, watch, stage):
        if watch is not None:
            self._gpu.synchronize()
            watch(stage)

    def _grown(self, mask):
        return self._launch("grow", mask)

    def _launch(self, name, source, *numbers):
        result = self._xp.empty(source.shape, np.uint8)
        sizes = (np.int32(n) for n in source.shape)
        self._kernel(name, source, *numbers, *sizes, result)
        return result

    def _kernel(self, name, *args):
        depth, rows, _ = args[0].shape
        self._gpu.kernel(KERNELS, name)(grid_for(depth * rows), (THREADS,), args)


def grid_for(rows):
    """Blocks for so many rows of an array; where there are more, a block takes several."""
    return (min(rows, MOST_BLOCKS),)
