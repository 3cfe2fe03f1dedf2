"""A solid whose voxels, and the forces on them, are on a CUDA device."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..object.voxel_classes import SURFACE
from .solid import ChargedSolid

KERNELS = Path(__file__).with_name("solid.cu")
MAX_BLOCKS, THREADS = 1 << 18, 64


class SumForces(Protocol):
    """Writes the forces at the targets of a solid; `Summation` is one."""

    def __call__(self, solid: ChargedSolid, vectors: Any, progress: Progress) -> None: ...


class CudaSolid:
    """One component of the object, dilated as far as its charges are moved outward.

    The attributes are those of `ChargedSolid`, on the device.

    Parameters
    ----------
    component : CuPy's ndarray of uint8, shape (K, J, I)
        Not 0 in the component; its bounding box with a margin of the charge distance.
    charge_distance : int
    gpu : CudaDevice
    """

    def __init__(self, component: Any, charge_distance: int, gpu: Any) -> None:
        self._gpu, self._xp, self.charge_distance = gpu, gpu.xp, charge_distance
        mask = (component != 0).view(np.uint8)
        for _ in range(charge_distance):
            mask = self._launch("dilate", mask)
        layers = self._launch("classify", mask, np.int32(1))
        self.classes: Any = self._launch("classify", layers, np.int32(2))

    @cached_property
    def charges(self) -> Any:
        return self.positions(self.classes == SURFACE)

    @property
    def charge_count(self) -> int:
        return int((self.classes == SURFACE).sum())

    @cached_property
    def targets(self) -> Any:
        return self._launch("mark_targets", self.classes).view(bool)

    @cached_property
    def is_free(self) -> Any:
        return self.classes > SURFACE

    def positions(self, voxels: Any) -> Any:
        return self._xp.ascontiguousarray(self._xp.argwhere(voxels), np.int32)

    def forces(
        self,
        summation: SumForces,
        progress: Progress | None = None,
        watch: Callable[[str], Any] | None = None,
    ) -> Any:
        """Return the force on each inner and boundary voxel; CuPy's float32 (K, J, I, 3).

        Parameters
        ----------
        summation : Summation
        progress : Progress, optional
        watch : callable, optional
            Called with the name of each stage that has ended.
        """
        vectors = self._xp.zeros((*self.classes.shape, 3), np.float32)
        self._ended(watch, "classify")
        summation(self, vectors, Progress.of(progress))
        self._ended(watch, "sum")
        sizes = (np.int32(n) for n in self.classes.shape)
        self._kernel("mean_of_neighbours", self.classes, *sizes, vectors)
        self._ended(watch, "boundary")
        return vectors

    def _ended(self, watch: Callable[[str], Any] | None, stage: str) -> None:
        if watch is not None:
            self._gpu.synchronize()
            watch(stage)

    def _launch(self, name: str, source: Any, *numbers: Any) -> Any:
        result = self._xp.empty(source.shape, np.uint8)
        sizes = (np.int32(n) for n in source.shape)
        self._kernel(name, source, *numbers, *sizes, result)
        return result

    def _kernel(self, name: str, *args: Any) -> None:
        depth, rows, _ = args[0].shape
        self._gpu.kernel(KERNELS, name)(grid_for(depth * rows), (THREADS,), args)


def grid_for(rows: int) -> tuple[int]:
    """Return the grid for so many rows of an array; where there are more, blocks take several."""
    return (min(rows, MAX_BLOCKS),)
