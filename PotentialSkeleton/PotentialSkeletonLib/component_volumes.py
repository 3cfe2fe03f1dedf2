"""The arrays of one component, and what is computed of each of its voxels."""

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
from .field.force_field import CPU_METHODS, field_of_components
from .field.solid import automatic_charge_distance
from .field.tiles import Tiles
from .options import SkeletonOptions
from .thinning import peel
from .tracing.descent_paths import descent_paths

GPU_THRESHOLD = 1 << 13  # voxels: the field of smaller components is faster on the CPU


class ComponentVolumes:
    """One component, in a box that it does not touch. Voxels are flat indices if nothing is said.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The component without cavities.
    spacing : 3 floats K, J, I, in mm
    options : SkeletonOptions

    Attributes
    ----------
    shape : 3 ints K, J, I
        Of the box.
    mask, count : ndarray of bool, int
        The component and its voxels.
    depth : ndarray of float32, shape (K, J, I)
        Distance to the outside in mm; 0 outside and only there.
    vectors, classes : ndarray, shape (K, J, I, 3) and (K, J, I)
        After `compute_field`: the forces, and what is not 0 where curves may run: in the object,
        and as far as its charges were moved outward.
    device : str
        On which the field was computed.
    """

    def __init__(
        self,
        mask: np.ndarray,
        spacing: tuple[float, float, float],
        options: SkeletonOptions,
        progress: Progress,
    ) -> None:
        self.mask, self._bytes = mask, mask.view(np.uint8)
        self.shape, self.spacing = mask.shape, spacing
        self._options, self.device = options, "cpu"
        self.count = int(np.count_nonzero(mask))
        self.depth = distance_to_outside(self._bytes, spacing, progress)
        self.depths = Tiles.whole(self.depth)
        self.field: Tiles | None = None
        self.vectors: np.ndarray | None = None

    def euler_characteristic(self, progress: Progress) -> int:
        return euler_characteristic(self.mask, progress)

    def peeled(self, stays: np.ndarray) -> np.ndarray:
        """What is left of the component when voxels that may go are peeled off."""
        voxels = np.flatnonzero(self.mask)
        return peel(voxels, self.removal_order(voxels), stays, self.spacing, self.shape)

    def removal_order(self, voxels: np.ndarray) -> np.ndarray:
        """In which order voxels may be removed: float32 (n,), the lowest first."""
        return removal_order(self.depth, voxels)

    def compute_field(self, progress: Progress) -> tuple[int, tuple[str, ...]]:
        """Compute `vectors` and `classes`; returns how far charges lie outside, and messages."""
        options = self._options
        distance, device = options.charge_distance, options.device
        if distance is None:
            distance = automatic_charge_distance(self._bytes, self.depth, self.spacing, progress)
        if device == "auto" and options.method in CPU_METHODS and self.count < GPU_THRESHOLD:
            device = "cpu"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the messages are returned, once
            found = field_of_components(
                self.mask, self._bytes, options.strength, method=options.method,
                charge_distance=distance, device=device, progress=progress,
            )  # fmt: skip
        self._found, self.vectors, self.classes = found, found.vectors, found.classes
        self.device = found.device
        self.field = Tiles.whole(found.vectors, found.classes)
        return distance, found.notes

    def critical_points(self, progress: Progress) -> list[CriticalPoint]:
        """Zeros of the field, also outside of the object."""
        return critical_points(self._found, everywhere=True, progress=progress)

    def divergence_seeds(self, progress: Progress) -> np.ndarray:
        """Voxels (n, 3) where the unit force converges most."""
        return divergence_seeds(self.vectors, self._options.divergence, progress, self.classes)

    def curvature_seeds(self, progress: Progress) -> np.ndarray:
        """Voxels (n, 3) where the surface is sharp."""
        return curvature_seeds(self.mask, progress)

    def compute_distances(self, sources: np.ndarray, progress: Progress) -> None:
        """Compute the distances along the component from the nearest source (ascending).

        All methods below refer to these distances.
        """
        self._distances = geodesic_distance(self._bytes, sources, self.spacing, progress)

    def add_sources(self, sources: np.ndarray, progress: Progress) -> None:
        """Lower the distances to those from other sources, among which the earlier ones are."""
        add_sources(self._distances, sources, self.spacing, progress)

    def distances_at(self, voxels: np.ndarray) -> np.ndarray:
        """Distances of voxels from the nearest source, int32 (n,)."""
        return self._distances.reshape(-1)[voxels]

    def descent_paths(self, voxels: np.ndarray) -> list[np.ndarray]:
        """From each voxel the shortest path to a source, as far as there is no force.

        Arrays (n, 3) of adjacent voxels; the last one has a force or is a source.
        """
        return descent_paths(self._distances, self.vectors, voxels)

    def protrusion_endpoints(self, min_length: float, progress: Progress) -> np.ndarray:
        """The ends of protrusions, ascending; see `endpoints`."""
        return protrusion_endpoints(self._distances, self.depth, self.spacing, min_length, progress)

    def endpoints_beyond(
        self, skeleton: np.ndarray, endpoints: np.ndarray, progress: Progress
    ) -> np.ndarray:
        """The ends of protrusions that continue beyond the ends of a skeleton, ascending.

        The skeleton is the sources of the distances, `endpoints` those of its ends that stay.
        """
        return endpoints_beyond(
            self._distances, self.depth, self.spacing, skeleton, endpoints, progress
        )
