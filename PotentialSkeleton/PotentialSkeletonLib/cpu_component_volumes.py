"""The volumes of one component on the CPU; methods are documented in `ComponentVolumes`."""

import warnings

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.distance.geodesic import add_sources, geodesic_distance
from FuzzyVesselCoreLib.voxels.distance.ridge import removal_order
from FuzzyVesselCoreLib.voxels.topology.euler import euler_characteristic

from .critical_points.critical_points import CriticalPoint, critical_points
from .critical_points.curvature_seeds import curvature_seeds
from .critical_points.divergence_seeds import divergence_seeds
from .endpoints.endpoints import endpoints_beyond, protrusion_endpoints
from .field.force_field import field_of_components
from .field.solid import automatic_charge_distance
from .field.tiles import Tiles
from .options import SkeletonOptions
from .thinning.peeling import peel, rounds_step
from .tracing.descent_paths import descent_paths


class CpuComponentVolumes:
    """`ComponentVolumes` as NumPy arrays.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The component without cavities; it must not touch the array's border.
    spacing : 3 floats K, J, I, in mm
    options : SkeletonOptions
    """

    def __init__(
        self, mask: np.ndarray, spacing: tuple[float, float, float], options: SkeletonOptions
    ) -> None:
        self._mask, self._bytes = mask, mask.view(np.uint8)
        self.shape, self.spacing = mask.shape, spacing
        self._options = options
        self.count = int(np.count_nonzero(mask))
        self.field: Tiles | None = None
        self._forces: np.ndarray | None = None

    def measure_depths(self, progress: Progress) -> None:
        self._depth = distance_to_outside(self._bytes, self.spacing, progress)
        self.depths = Tiles.whole(self._depth)

    def euler_characteristic(self, progress: Progress) -> int:
        return euler_characteristic(self._mask, progress)

    def peeled(self, stays: np.ndarray, progress: Progress) -> np.ndarray:
        voxels, step = np.flatnonzero(self._mask), rounds_step(self.spacing)
        return peel(voxels, self.removal_order(voxels), stays, step, self.shape, progress)

    def removal_order(self, voxels: np.ndarray) -> np.ndarray:
        return removal_order(self._depth, voxels)

    def charge_distance(self, progress: Progress) -> int:
        return automatic_charge_distance(self._bytes, self._depth, self.spacing, progress)

    def compute_field(self, charge_distance: int, progress: Progress) -> tuple[str, ...]:
        options = self._options
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the messages are returned, once
            found = field_of_components(
                self._mask, self._bytes, options.strength, method=options.method,
                charge_distance=charge_distance, device=options.device, progress=progress,
            )  # fmt: skip
        self._found, self._forces = found, found.vectors
        self.field = Tiles.whole(found.vectors, found.classes)
        return found.notes

    def critical_points(self, progress: Progress) -> list[CriticalPoint]:
        return critical_points(self._found, everywhere=True, progress=progress)

    def divergence_seeds(self, share: float, progress: Progress) -> np.ndarray:
        return divergence_seeds(self._found.vectors, share, progress, self._found.classes)

    def curvature_seeds(self, progress: Progress) -> np.ndarray:
        return curvature_seeds(self._mask, progress)

    def compute_distances(self, sources: np.ndarray, progress: Progress) -> None:
        self._distances = geodesic_distance(self._bytes, sources, self.spacing, progress)

    def add_sources(self, sources: np.ndarray, progress: Progress) -> None:
        add_sources(self._distances, sources, self.spacing, progress)

    def distances_at(self, voxels: np.ndarray) -> np.ndarray:
        return self._distances.reshape(-1)[voxels]

    def descent_paths(self, voxels: np.ndarray) -> list[np.ndarray]:
        return descent_paths(self._distances, self._forces, voxels)

    def protrusion_endpoints(self, min_length: float, progress: Progress) -> np.ndarray:
        return protrusion_endpoints(
            self._distances, self._depth, self.spacing, min_length, progress
        )

    def endpoints_beyond(
        self, skeleton: np.ndarray, endpoints: np.ndarray, progress: Progress
    ) -> np.ndarray:
        return endpoints_beyond(
            self._distances, self._depth, self.spacing, skeleton, endpoints, progress
        )
