"""What a component's skeleton asks of its volumes: one interface for CPU and CUDA.

A component's stages work on few voxels, given as flat indices. All that is done with every voxel is
behind `ComponentVolumes`, which `CpuComponentVolumes` and `CudaComponentVolumes` implement.
"""

from typing import Protocol

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .critical_points.critical_points import CriticalPoint
from .field.tiles import Tiles


class ComponentVolumes(Protocol):
    """The volumes of one component, in a box that the component does not touch.

    Attributes
    ----------
    shape : 3 ints K, J, I
        Of the box.
    spacing : 3 floats K, J, I, in mm
    count : int
        The component's voxels.
    depths : Tiles
        After `measure_depths`: distance to the outside in mm; float32, 0 outside and only there.
    field : Tiles or None
        After `compute_field`: the forces, (K, J, I, 3), 0 where there is none, and what is not 0
        where curves may run: in the object, and as far as its charges were moved outward.
    """

    shape: tuple[int, ...]
    spacing: tuple[float, float, float]
    count: int
    depths: Tiles
    field: Tiles | None

    def measure_depths(self, progress: Progress) -> None:
        """Compute `depths`; comes before all else."""

    def euler_characteristic(self, progress: Progress) -> int:
        """Euler characteristic of the component."""

    def peeled(self, stays: np.ndarray, progress: Progress) -> np.ndarray:
        """Flat indices, ascending, of what is left of the component by `peeling.peel`.

        Parameters
        ----------
        stays : ndarray of int
            Flat indices of voxels that may not go.
        progress : Progress
        """

    def removal_order(self, voxels: np.ndarray) -> np.ndarray:
        """In which order voxels may be removed: float32 (n,), the lowest first."""

    def charge_distance(self, progress: Progress) -> int:
        """Layers by which charges go outward, so that thin parts are resolved (0 to 2)."""

    def compute_field(self, charge_distance: int, progress: Progress) -> tuple[str, ...]:
        """Compute the `field`; returns its messages."""

    def critical_points(self, progress: Progress) -> list[CriticalPoint]:
        """Zeros of the field, also outside of the object."""

    def divergence_seeds(self, share: float, progress: Progress) -> np.ndarray:
        """Voxels (n, 3) where the unit force converges most; see `divergence_seeds`."""

    def curvature_seeds(self, progress: Progress) -> np.ndarray:
        """Voxels (n, 3) where the surface is sharp; see `curvature_seeds`."""

    def compute_distances(self, sources: np.ndarray, progress: Progress) -> None:
        """Compute the distances along the component from the nearest source.

        All methods below refer to these distances. Sources are flat indices, ascending.
        """

    def add_sources(self, sources: np.ndarray, progress: Progress) -> None:
        """Lower the distances to those from other sources, among which the earlier ones are."""

    def distances_at(self, voxels: np.ndarray) -> np.ndarray:
        """Distances of voxels from the nearest source, int32 (n,)."""

    def descent_paths(self, voxels: np.ndarray) -> list[np.ndarray]:
        """From each voxel the shortest path to a source, as far as there is no force.

        Returns
        -------
        list of ndarray of int, (n, 3)
            Voxels K, J, I, each adjacent to the one before; the last has a force or is a source.
        """

    def protrusion_endpoints(self, min_length: float, progress: Progress) -> np.ndarray:
        """Flat indices, ascending, of the ends of protrusions; see `endpoints`."""

    def endpoints_beyond(
        self, skeleton: np.ndarray, endpoints: np.ndarray, progress: Progress
    ) -> np.ndarray:
        """Flat indices, ascending, of the ends of protrusions that go on beyond a skeleton's ends.

        Parameters
        ----------
        skeleton : ndarray of int
            Flat indices, ascending: the sources of the distances.
        endpoints : ndarray of int
            Flat indices of ends that stay.
        progress : Progress
        """
