"""A volume on the device that is read like a numpy array: only what is read is copied."""

from functools import cached_property
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray

from .cuda_tissue import part_of, shift


class DeviceVolume:
    """Boxes and voxels of a float32 volume on the device, as on the host.

    A numpy function gets a copy of all of it, which is kept.

    Parameters
    ----------
    array : device array, shape (K, J, I), float32
    gpu : CudaDevice

    Attributes
    ----------
    array : device array
    gpu : CudaDevice
        May be replaced by another object for the same device: one is in use for one run only.
    pool : object
        The array's memory, which some versions of CuPy free as soon as nothing refers to the pool.
    """

    dtype, ndim = np.dtype(np.float32), 3

    def __init__(self, array: DeviceArray, gpu: CudaDevice) -> None:
        self.array, self.gpu = array, gpu
        self.pool = gpu.pool
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.size = int(array.size)
        self._voxels: dict[tuple[int, ...], np.float32] = {}

    @cached_property
    def on_host(self) -> np.ndarray:
        """A copy of all voxels."""
        return self.gpu.get(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.on_host, dtype, copy=copy)

    def __getitem__(self, place: tuple[Any, ...]) -> Any:
        """The voxels of a box (slices without steps), or one voxel (integers)."""
        if "on_host" in vars(self):
            return self.on_host[place]
        if all(isinstance(side, slice) for side in place):
            sides = [side.indices(length)[:2] for side, length in zip(place, self.shape)]
            shape = [max(b - a, 0) for a, b in sides]
            if 0 in shape:
                return np.empty(shape, np.float32)
            return part_of(self.array, [slice(a, b) for a, b in sides], self.gpu)
        voxel = tuple(map(int, place))
        if voxel not in self._voxels:
            box = [slice(c, c + 1) for c in voxel]
            self._voxels[voxel] = part_of(self.array, box, self.gpu)[0, 0, 0]
        return self._voxels[voxel]

    def __neg__(self) -> "DeviceVolume":
        opposite = self.array.copy()
        shift(opposite, 0, -1, self.gpu)
        return DeviceVolume(opposite, self.gpu)

    def ravel(self) -> np.ndarray:
        """A copy of all voxels, one-dimensional."""
        return self.on_host.ravel()
