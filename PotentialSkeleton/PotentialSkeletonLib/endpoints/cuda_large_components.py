"""Large components, which all blocks of a launch grow together, one after the other.

See `cuda_local_maxima` for small ones.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

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
        rule: tuple[np.float64, np.float64],
    ) -> None:
        """Set the widths in mm of the protrusions of maxima that are endpoints, -1 of others.

        Parameters
        ----------
        maxima, marks, widths : CuPy's ndarrays
            As for `grow_protrusions` in large_components.cu.
        which : ndarray of int32
            Numbers of the maxima that are undecided, lower ones first.
        rule : 2 floats
            Millimetres of a distance of 1, and the least length.
        """
        output = self._gpu.put(which), np.int32(len(which)), marks, widths
        self._grow("grow_protrusions", len(which), self._object.depth, *rule, maxima, *output)

    def cap_sizes(self, voxel: int, box: tuple[int, ...], far: int, near: int) -> list[int]:
        """How many voxels an end cap has, and its slab; `voxels` begins with them."""
        limits = [np.int32(n) for n in (*box, voxel, far, near)]
        return self._grow("grow_cap", 1, *limits)[SIZES : SIZES + 2].tolist()

    def furthest_beyond(self, ends: Any) -> Any:
        """Keys of the furthest voxels beyond ends of a skeleton; `grow_beyond` in the `.cu` file.

        Returns
        -------
        CuPy's ndarray of uint64
        """
        furthest = self._gpu.xp.empty(len(ends), np.uint64)
        steps = self._object.step_lengths()
        self._grow("grow_beyond", 1, steps, ends, np.int32(len(ends)), furthest)
        return furthest

    def _grow(self, name: str, components: int, *args: Any) -> np.ndarray:
        """Launch a kernel until all components are grown; returns the state."""
        gpu, launch = self._gpu, 0
        state = gpu.xp.zeros(STATE, np.int32)
        volume = self._object.distances, *self._object.strides
        lists = self._visited, np.int32(self._number), self.voxels, np.int32(self._object.count)
        kernel = gpu.kernel(KERNELS, name)
        blocks = gpu.properties["multiProcessorCount"]
        while True:
            numbers = np.int32(launch), np.int32(MAX_WORK_PER_LAUNCH)
            gpu.launch_cooperative(
                kernel, blocks, THREADS, (*volume, *lists, state, *numbers, *args)
            )
            on_host, launch = gpu.get(state), launch + 1
            self._progress.check()
            if on_host[STEP] == END:
                self._number += components
                return on_host
