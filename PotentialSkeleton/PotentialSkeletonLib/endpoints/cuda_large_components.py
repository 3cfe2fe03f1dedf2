"""Large components, which all blocks of a launch grow together, one after the other.

See `cuda_local_maxima` for small ones.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.progress import Progress

from .device_object import DeviceObject

KERNELS = Path(__file__).with_name("large_components.cu")
THREADS = 512
# Voxels that a launch visits, with what rounds cost besides; see large_components.cuh.
MAX_WORK_PER_LAUNCH = 1 << 22
SIZES, STEP, STATE = 0, 4, 64  # indices in the state, and more than its size, in 4 bytes
END = 4


class LargeComponents:
    """Grows components of an object's superlevel sets.

    Parameters
    ----------
    device_object : DeviceObject
    progress : Progress
        Checked between launches.
    """

    def __init__(self, device_object: DeviceObject, progress: Progress) -> None:
        self._object, self._gpu, self._progress = device_object, device_object.gpu, progress
        self._number = 1  # of the next component

    @cached_property
    def voxels(self) -> Any:
        """Workspace for lists of voxels; those of the last component come first."""
        return self._gpu.xp.empty(3 * self._object.count, np.int32)

    @cached_property
    def _visited(self) -> Any:
        return self._gpu.xp.zeros(self._object.distances.size, np.int32)

    def protrusion_widths(
        self,
        maxima: Any,
        which: np.ndarray,
        marks: Any,
        widths: Any,
        min_length: float,
    ) -> None:
        """Set the widths in mm of the protrusions of maxima that are endpoints, -1 of others.

        Parameters
        ----------
        maxima, marks, widths : CuPy's ndarrays
            As in `Maxima` of large_components.cu.
        which : ndarray of int32
            Numbers of the maxima that are undecided, lower ones first.
        min_length : float
            Of a protrusion, in mm.
        """
        numbers = self._gpu.put(which)
        wanted = self._struct(
            "Maxima", maxima=maxima, which=numbers, count=len(which), marks=marks, widths=widths
        )
        limits = self._object.limits(KERNELS, min_length)
        self._grow("grow_protrusions", len(which), wanted, limits)

    def cap_sizes(
        self, voxel: np.signedinteger, box: KernelStruct, far: int, near: int
    ) -> list[int]:
        """How many voxels an end cap has, and its slab; `voxels` begins with them."""
        cap = self._struct("Cap", start=voxel, far=far, near=near)
        return self._grow("grow_cap", 1, box, cap)[SIZES : SIZES + 2].tolist()

    def furthest_beyond(self, ends: Any) -> Any:
        """Keys of the furthest voxels beyond ends of a skeleton; `grow_beyond` in the `.cu` file.

        Returns
        -------
        CuPy's ndarray of uint64
        """
        furthest = self._gpu.xp.empty(len(ends), np.uint64)
        steps = self._object.step_lengths()
        wanted = dict(steps=steps, ends=ends, count=len(ends), furthest=furthest)
        self._grow("grow_beyond", 1, self._struct("Ends", **wanted))
        return furthest

    def _struct(self, name: str, **values: Any) -> KernelStruct:
        return self._gpu.struct(KERNELS, name, **values)

    def _grow(self, name: str, components: int, *wanted: KernelStruct) -> np.ndarray:
        """Launch a kernel until all components are grown; returns the state."""
        gpu, number = self._gpu, 0
        state = gpu.xp.zeros(STATE, np.int32)
        volume = self._object.volume(KERNELS)
        lists = self._struct(
            "Lists",
            number=self._number,
            visited=self._visited,
            workspace=self.voxels,
            size=self._object.count,
        )
        kernel = gpu.kernel(KERNELS, name)
        blocks = gpu.properties["multiProcessorCount"]
        while True:
            launch = self._struct(
                "Launch", words=state, number=number, max_work=MAX_WORK_PER_LAUNCH
            )
            gpu.launch_cooperative(kernel, blocks, THREADS, (volume, lists, launch, *wanted))
            on_host, number = gpu.get(state), number + 1
            self._progress.check()
            if on_host[STEP] == END:
                self._number += components
                return on_host
