"""Protrusions, their end caps, and what lies beyond a skeleton's ends; see `local_maxima`.

Many small components are grown at a time, as if there were no other endpoints; a component that
could be affected, because another maximum is in it, is grown again after lower maxima. The whole
device grows these and large ones, one after the other; see `cuda_large_components`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .cuda_large_components import LargeComponents
from .device_object import DeviceObject, split_keys
from .end_caps.cuda_cap_centre import EndCaps

KERNELS = Path(__file__).with_name("local_maxima.cu")
THREADS, MAX_SMALL = 512, 6144  # as in local_maxima.cu
COMPONENTS_PER_LAUNCH = 1 << 10
UNDECIDED = -2  # a width that is still to be found


class SuperlevelComponents:
    """Grows components of an object's superlevel sets.

    Parameters
    ----------
    device_object : DeviceObject
    progress : Progress
        Checked between launches.
    """

    def __init__(self, device_object: DeviceObject, progress: Progress) -> None:
        self._object, self._gpu, self._progress = device_object, device_object.gpu, progress
        self._large = LargeComponents(device_object, progress)

    def protrusion_widths(self, maxima: np.ndarray, min_length: float) -> np.ndarray:
        """Width in mm of the protrusion of each maximum that is an endpoint; -1 of others.

        Parameters
        ----------
        maxima : ndarray of int32
            Flat indices; lower ones first, of equally high ones the last in memory. All are far
            enough from the core to be long without a width.
        min_length : float
            Millimetres that a protrusion is longer than `SLENDERNESS` times its radius.
        """
        gpu, count = self._gpu, len(maxima)
        maxima, widths = gpu.put(maxima), gpu.xp.empty(count, np.float32)
        marks = gpu.xp.zeros(self._object.distances.size, np.uint8)
        gpu.kernel(KERNELS, "mark_maxima")(
            (-(-count // THREADS),), (THREADS,), (maxima, np.int32(count), marks)
        )
        fixed = self._object.volume(KERNELS), self._object.limits(KERNELS, min_length), maxima
        for first in range(0, count, COMPONENTS_PER_LAUNCH):
            blocks = min(COMPONENTS_PER_LAUNCH, count - first)
            numbers = np.int32(first), np.int32(MAX_SMALL)
            self._launch("measure_protrusions", blocks, *fixed, *numbers, marks, widths)
        on_host = gpu.get(widths)
        undecided = np.flatnonzero(on_host == UNDECIDED).astype(np.int32)
        if len(undecided):
            self._large.protrusion_widths(maxima, undecided, marks, widths, min_length)
            on_host = gpu.get(widths)
        return on_host

    def furthest_beyond(self, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances and flat indices of what `endpoints.furthest_beyond` finds for ends."""
        ends = self._gpu.put(np.asarray(ends, np.int32))
        return split_keys(self._gpu.get(self._large.furthest_beyond(ends)))

    def end_cap_centres(
        self, heights: np.ndarray, maxima: np.ndarray, reaches: np.ndarray
    ) -> np.ndarray:
        """Flat indices where protrusions' axes leave them; see `EndCaps`."""
        caps = EndCaps(heights, maxima, reaches, self._object, self._large, self._progress)
        return caps.centres()

    def _launch(self, name: str, blocks: int, *args: Any) -> None:
        self._gpu.kernel(KERNELS, name)((blocks,), (THREADS,), args)
        self._gpu.synchronize()
        self._progress.check()
