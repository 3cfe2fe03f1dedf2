"""The volumes of one component on the GPU; methods are documented in `ComponentVolumes`.

The host gets what is asked for at few voxels, and the tiles that curves come through.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components import cuda_labels
from FuzzyVesselCoreLib.voxels.distance import cuda_geodesic
from FuzzyVesselCoreLib.voxels.distance.cuda_euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.distance.cuda_ridge import removal_order, removal_order_on_device

from .critical_points.critical_points import CriticalPoint, critical_points_in
from .critical_points.cuda_divergence_seeds import divergence_seeds
from .critical_points.cuda_sign_changes import cells_with_sign_changes
from .critical_points.curvature_seeds import curvature_seeds
from .endpoints.cuda_endpoints import DeviceObject, endpoints_beyond, protrusion_endpoints
from .field.charge_distance import automatic_charge_distance
from .field.cuda_solid import CudaSolid
from .field.cuda_tiles import tiles_on_host
from .field.summation import Summation
from .field.tiles import Tiles
from .object.voxel_classes import BOUNDARY
from .options import SkeletonOptions
from .thinning.cuda_peeling import peel
from .thinning.peeling import rounds_step
from .tracing.cuda_descent_paths import descent_paths


class CudaComponentVolumes:
    """`ComponentVolumes` as CuPy arrays.

    Parameters
    ----------
    padded_mask : callable
        ``padded_mask(margin)`` gives the component with so many empty voxels round it; uint8 on
        the device.
    spacing : 3 floats K, J, I, in mm
    options : SkeletonOptions
    gpu : CudaDevice
    count : int
        The component's voxels.
    """

    def __init__(
        self,
        padded_mask: Callable[[int], Any],
        spacing: tuple[float, float, float],
        options: SkeletonOptions,
        gpu: Any,
        count: int,
    ) -> None:
        self._padded_mask, self._gpu = padded_mask, gpu
        self._mask = padded_mask(1)
        self.shape, self.spacing, self.count = self._mask.shape, spacing, count
        self._options = options
        self.field: Tiles | None = None
        self._vectors: Any = None

    def measure_depths(self, progress: Progress) -> None:
        self._depth = distance_to_outside(self._mask, self.spacing, self._gpu, progress)
        self.depths = tiles_on_host(self._mask, self.count, [self._depth], self._gpu)

    def euler_characteristic(self, progress: Progress) -> int:
        return cuda_labels.euler_characteristic(self._mask, self._gpu)

    def peeled(self, stays: np.ndarray, progress: Progress) -> np.ndarray:
        voxels = self._gpu.xp.flatnonzero(self._mask)
        order = removal_order_on_device(self._depth, voxels, self._gpu)
        step = rounds_step(self.spacing)
        return peel(self._mask, voxels, order, stays, step, self._gpu, progress)

    def removal_order(self, voxels: np.ndarray) -> np.ndarray:
        return removal_order(self._depth, voxels, self._gpu)

    def charge_distance(self, progress: Progress) -> int:
        return automatic_charge_distance(self._mask, self._depth, self.spacing, progress, self._gpu)

    def compute_field(self, charge_distance: int, progress: Progress) -> tuple[str, ...]:
        gpu, options = self._gpu, self._options
        summation = Summation(options.method, options.strength, gpu)
        solid = CudaSolid(self._padded_mask(charge_distance), charge_distance, gpu)
        vectors = solid.forces(summation, Progress(lambda _share: progress.check()))
        self._vectors = with_margin(vectors, charge_distance, 1, gpu)
        self._classes = with_margin(solid.classes, charge_distance, 1, gpu)
        both = [self._vectors, self._classes]
        self.field = tiles_on_host(self._classes, self.count, both, gpu)
        return summation.notes()

    def critical_points(self, progress: Progress) -> list[CriticalPoint]:
        cells, corners = cells_with_sign_changes(self._vectors, self._classes, BOUNDARY, self._gpu)
        return critical_points_in(cells, corners, progress=progress)

    def divergence_seeds(self, share: float, progress: Progress) -> np.ndarray:
        return divergence_seeds(self._vectors, share, self._gpu)

    def curvature_seeds(self, progress: Progress) -> np.ndarray:
        return curvature_seeds(self._gpu.get(self._mask).view(bool), progress)

    def compute_distances(self, sources: np.ndarray, progress: Progress) -> None:
        self._distances = cuda_geodesic.geodesic_distance(
            self._mask, self._gpu.put(sources), self.spacing, self._gpu, progress
        )

    def add_sources(self, sources: np.ndarray, progress: Progress) -> None:
        cuda_geodesic.add_sources(
            self._distances, self._gpu.put(sources), self.spacing, self._gpu, progress
        )

    def distances_at(self, voxels: np.ndarray) -> np.ndarray:
        return self._gpu.get(self._distances.reshape(-1)[self._gpu.put(voxels)])

    def descent_paths(self, voxels: np.ndarray) -> list[np.ndarray]:
        return descent_paths(self._distances, self._vectors, voxels, self._gpu)

    def protrusion_endpoints(self, min_length: float, progress: Progress) -> np.ndarray:
        return protrusion_endpoints(self._object(), min_length, progress)

    def endpoints_beyond(
        self, skeleton: np.ndarray, endpoints: np.ndarray, progress: Progress
    ) -> np.ndarray:
        return endpoints_beyond(self._object(), skeleton, endpoints, progress)

    def _object(self) -> DeviceObject:
        return DeviceObject(self._distances, self._depth, self.spacing, self.count, self._gpu)


def with_margin(volume: Any, margin: int, wanted: int, gpu: Any) -> Any:
    """A volume (K, J, I, ...) on the device whose empty margin is made as wide as wanted."""
    if margin == wanted:
        return volume
    if margin > wanted:
        inner = slice(margin - wanted, wanted - margin)
        return volume[inner, inner, inner].copy()
    more = wanted - margin
    shape = [n + 2 * more for n in volume.shape[:3]]
    larger = gpu.xp.zeros((*shape, *volume.shape[3:]), volume.dtype)
    inner = slice(more, -more)
    larger[inner, inner, inner] = volume
    return larger
