"""The last contrast map, cached from click to click, on the device where it was found."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, keeps_device_memory
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.masks import same_values


class CachedConnectedness:
    """Finds contrast maps, and caches the last while volume, mask, spacing and device are the same.

    Inputs are compared by value; volume and mask must not be changed in place until `forget`. On a
    device it caches 8 bytes per voxel (9 with a mask), at most as much as it leaves free; `forget`
    frees them, and so does a run there that has too little. `reused` says whether the last run
    found its map here.
    """

    def __init__(self) -> None:
        self.forget()
        self.reused = False

    def forget(self) -> None:
        """Free the memory of map and inputs."""
        self._map: Any = None
        self._inputs: tuple = ()

    def free_device_memory(self) -> None:
        """Forget a map that is on the device; see `gpu.device.keeps_device_memory`."""
        if self.on_device:
            self.forget()

    @property
    def on_device(self) -> bool:
        """Whether the map is in the memory of a device."""
        return self._map is not None and self._map.gpu is not None

    @property
    def on_host(self) -> Any:
        """The map in host memory, which the cached one is if it is there; or None."""
        return None if self._map is None else self._map.to_host()

    def find(
        self,
        volume: np.ndarray,
        spacing: Sequence[float],
        first_seed: Sequence[int],
        mask: np.ndarray | None,
        progress: Progress,
        gpu: CudaDevice | None,
    ) -> Any:
        """The contrast map; parameters as of `contrast_map`."""
        from .contrast_map import contrast_map  # SciPy

        cached, inputs = self._map, (volume, mask, np.asarray(spacing))
        self.reused = (
            cached is not None
            and cached.serves(gpu)
            and all(_same(*each) for each in zip(self._inputs, inputs, strict=True))
            and cached.holds_for(first_seed)
        )
        if self.reused:
            return cached
        del cached
        self.forget()  # its memory is free before the next is computed
        found = contrast_map(volume, spacing, first_seed, mask, progress, gpu)
        self._inputs = inputs
        self._map = found
        if gpu is not None and found.device_bytes > gpu.free_memory():
            self._map = found.to_host()
        elif gpu is not None:
            keeps_device_memory(self)
        return found


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other or (one is not None and other is not None and same_values(one, other))
