"""The arrays of one component, and what is computed of each of its voxels."""

import warnings

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import (
    add_sources,
    distance_to_outside,
    geodesic_distance,
    removal_order,
)
from FuzzyVesselCoreLib.voxels.topology import euler_characteristic

from .critical_points.critical_points import CriticalPoint, critical_points
from .critical_points.seeds import curvature_seeds, divergence_seeds
from .endpoints.endpoints import endpoints_beyond, protrusion_endpoints
from .field.force_field import CPU_METHODS, field_of_components
from .field.solid import automatic_charge_distance
from .options import SkeletonOptions
from .thinning import peel

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
    distances : ndarray of int32, shape (K, J, I)
        After `compute_distances`: along the component from the nearest source.
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
        self.vectors: np.ndarray | None = None
        self.classes: np.ndarray | None = None

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
        return distance, found.notes

    def critical_points(self, progress: Progress) -> list[CriticalPoint]:
        """Zeros of the field, also outside of the object."""
        return critical_points(self._found, everywhere=True, progress=progress)

    def divergence_seeds(self, progress: Progress) -> np.ndarray:
        """Voxels (n, 3) where the unit force converges most."""
        return divergence_seeds(self.vectors, self.classes, self._options.divergence, progress)

    def curvature_seeds(self, progress: Progress) -> np.ndarray:
        """Voxels (n, 3) where the surface is sharp."""
        return curvature_seeds(self.mask, progress)

    def compute_distances(self, sources: np.ndarray, progress: Progress) -> None:
        """Compute the `distances`; sources ascend."""
        self.distances = geodesic_distance(self._bytes, sources, self.spacing, progress)

    def add_sources(self, sources: np.ndarray, progress: Progress) -> None:
        """Lower the distances to those from other sources, among which the earlier ones are."""
        add_sources(self.distances, sources, self.spacing, progress)

    def protrusion_endpoints(self, min_length: float, progress: Progress) -> np.ndarray:
        """The ends of protrusions, ascending; see `endpoints`."""
        return protrusion_endpoints(self.distances, self.depth, self.spacing, min_length, progress)

    def endpoints_beyond(
        self, skeleton: np.ndarray, endpoints: np.ndarray, progress: Progress
    ) -> np.ndarray:
        """The ends of protrusions that continue beyond the ends of a skeleton, ascending.

        The skeleton is the sources of the distances, `endpoints` those of its ends that stay.
        """
        return endpoints_beyond(
            self.distances, self.depth, self.spacing, skeleton, endpoints, progress
        )
