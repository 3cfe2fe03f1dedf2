"""All traced curves of one component: from critical points, endpoints and seeds."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.jit import compiled
from FuzzyVesselCoreLib.progress import Progress

from ..component_volumes import ComponentVolumes
from ..critical_points.critical_points import CriticalPoint
from .curve_voxels import CurveVoxels, voxels_of
from .streamlines import Tracer, core_curves

PAIRS_PER_SLICE = 1 << 24  # of a voxel and a ball, between two calls of the progress callback


class ComponentCurves:
    """Traces curves, and gathers the voxels that they pass.

    Until `trace_core` there is no field, and no curve.

    Parameters
    ----------
    volumes : ComponentVolumes
        Its `depth`, `spacing`, `vectors`, `classes` and `distances` are used.
    """

    def __init__(self, volumes: ComponentVolumes) -> None:
        self._volumes = volumes
        self._tracer: Tracer | None = None
        self._curves = CurveVoxels(volumes.depth)

    @property
    def has_field(self) -> bool:
        """Whether curves can be traced."""
        return self._tracer is not None

    def voxels(self) -> np.ndarray:
        """Flat indices, ascending, of the voxels that the curves pass."""
        return self._curves.voxels()

    def positions(self, voxels: np.ndarray) -> np.ndarray:
        """Where curves pass each of the voxels (n, 3), else its centre; float (n, 3)."""
        return self._curves.positions(voxels)

    def trace_core(self, points: Sequence[CriticalPoint], progress: Progress) -> None:
        """Trace from the saddles; later curves end at any of the points."""
        volumes = self._volumes
        ends = [point.position for point in points]
        self._tracer = Tracer(volumes.vectors, volumes.classes, ends)
        for curve in core_curves(self._tracer, points):
            progress.check()
            self._curves.add(curve)

    def trace_from_endpoints(self, endpoints: np.ndarray, progress: Progress) -> None:
        """Trace from endpoints (flat indices), those furthest from the skeleton first."""
        distances = self._volumes.distances.reshape(-1)[endpoints]
        for endpoint in endpoints[np.argsort(-distances, kind="stable")]:
            progress.check()
            self._trace_from(endpoint)

    def trace_from_seeds(
        self,
        seeds: np.ndarray,
        present: np.ndarray,
        clearance: tuple[float, float],
        progress: Progress,
    ) -> np.ndarray:
        """Trace from the seeds that lie clear of the inscribed balls of all that is there.

        Parameters
        ----------
        seeds : ndarray of int, (n, 3)
            The best first; a seed within reach of the curve of an earlier one is left out.
        present : ndarray of int
            Flat indices of the skeleton and of all voxels that it is to have.
        clearance : 2 floats
            How far clear: multiple of the balls' radii, and voxels added to it.
        progress : Progress

        Returns
        -------
        ndarray of int
            Flat indices of the seeds that curves were traced from.
        """
        depth, used = self._volumes.depth, []
        seeds = seeds[depth[tuple(seeds.T)] > 0]
        there = np.stack(np.unravel_index(present, depth.shape), axis=1)
        while len(seeds := seeds[~self._are_near(seeds, there, clearance, progress)]):
            seed, seeds = seeds[0], seeds[1:]
            used.append(int(np.ravel_multi_index(seed, depth.shape)))
            there = np.unique(voxels_of(self._trace_from(used[-1])), axis=0)
        return np.array(used, np.int64)

    def _are_near(
        self,
        seeds: np.ndarray,
        voxels: np.ndarray,
        clearance: tuple[float, float],
        progress: Progress,
    ) -> np.ndarray:
        """Whether each seed (n, 3) lies in a ball round some voxels (m, 3); bool (n,)."""
        from scipy.spatial.distance import cdist

        spacing, (scale, margin) = np.asarray(self._volumes.spacing, float), clearance
        radii = scale * self._volumes.depth[tuple(voxels.T)] + margin * spacing.min()
        near, step = np.zeros(len(seeds), bool), max(1, PAIRS_PER_SLICE // max(1, len(voxels)))
        for first in range(0, len(seeds), step):
            some = slice(first, first + step)
            near[some] = (cdist(seeds[some] * spacing, voxels * spacing) <= radii).any(axis=1)
            progress.check()
        return near

    def _trace_from(self, voxel: int) -> np.ndarray:
        """A curve along the shortest path to where there is a force, then along that."""
        volumes = self._volumes
        path = descent_path(volumes.distances, volumes.vectors, voxel)
        if self._tracer is None:
            return path.astype(float)
        curve = self._tracer.trace_along(path)
        self._curves.add(curve)
        return curve


def descent_path(distances: np.ndarray, vectors: np.ndarray | None, voxel: int) -> np.ndarray:
    """From a voxel the path along falling distances, as far as there is no force.

    Of neighbours that are equally near to the core the first, in K, J, I, is the next.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        From the core, along the object; -1 outside. The border is outside.
    vectors : ndarray of float32, shape (K, J, I, 3), or None
        0 where there is no force.
    voxel : int
        Flat index of a voxel of the object.

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I. It begins at the voxel; the last one has a force or is in the core.
    """
    forces = np.empty((0, 3), np.float32) if vectors is None else vectors.reshape(-1, 3)
    _, rows, width = distances.shape
    path = follow_distances(distances.reshape(-1), forces, rows * width, width, int(voxel))
    return np.stack(np.unravel_index(path, distances.shape), axis=1)


@compiled
def follow_distances(
    distances: np.ndarray, forces: np.ndarray, plane: int, row: int, voxel: int
) -> np.ndarray:
    path = [voxel]
    while len(forces) == 0 or not forces[voxel].any():
        nearest = voxel
        for n in range(27):
            other = voxel + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1
            if 0 <= distances[other] < distances[nearest]:
                nearest = other
        if nearest == voxel:
            break
        voxel = nearest
        path.append(voxel)
    return np.array(path)
