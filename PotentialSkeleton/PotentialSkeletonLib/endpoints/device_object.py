"""An object on the device, as the endpoint kernels take it, and the keys that they return."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.voxels.distance.geodesic import neighbour_steps, unit_of

from ..tracing.cuda_descent_paths import strides_of


@dataclass(frozen=True)
class DeviceObject:
    """An object with its distances from a core; the border of its box is outside.

    Attributes
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
        Geodesic distance from the core, -1 outside the object.
    depth : CuPy's ndarray of float32, shape (K, J, I)
        Distance to the outside in mm.
    spacing : 3 floats K, J, I, in mm
    count : int
        The object's voxels.
    gpu : CudaDevice
    """

    distances: Any
    depth: Any
    spacing: tuple[float, float, float]
    count: int
    gpu: Any

    @property
    def unit(self) -> np.float64:
        """Millimetres of a distance of 1."""
        return np.float64(unit_of(self.spacing))

    def volume(self, kernels: Path) -> KernelStruct:
        """`Volume` of volume.cuh, for kernels of a file that includes it."""
        row, plane = strides_of(self.distances)
        arrays = dict(distances=self.distances, depth=self.depth)
        return self.gpu.struct(kernels, "Volume", **arrays, row=row, plane=plane)

    def limits(self, kernels: Path, min_length: float) -> KernelStruct:
        """`Limits` of volume.cuh: the least length of a protrusion in mm."""
        return self.gpu.struct(kernels, "Limits", unit=self.unit, min_length=min_length)

    def step_lengths(self) -> Any:
        """Distances to the 27 voxels of a block, int32 on the device; 0 in the middle."""
        weights = neighbour_steps(self.distances.shape, self.spacing)[1]
        return self.gpu.put(np.insert(weights, 13, 0).astype(np.int32))


def split_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances and flat indices, int32, of keys; see `furthest_key` in volume.cuh."""
    return (keys >> 32).astype(np.int32), (~keys & 0xFFFFFFFF).astype(np.int32)
