"""All traced curves of one component: from critical points, endpoints and seeds."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..component_volumes import ComponentVolumes
from ..critical_points.critical_points import CriticalPoint
from .curve_voxels import CurveVoxels, voxels_of
from .inscribed_balls import InscribedBalls
from .streamlines import CURVES_PER_SLICE, Tracer, core_curves


class ComponentCurves:
    """Traces curves, and gathers the voxels that they pass.

    Until `trace_core` there is no field, and no curve.

    Parameters
    ----------
    volumes : ComponentVolumes
        With `depths`.
    """

    def __init__(self, volumes: ComponentVolumes) -> None:
        self._volumes = volumes
        self._tracer: Tracer | None = None
        self._curves = CurveVoxels(volumes.depths)

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
        assert self._volumes.field is not None
        self._tracer = Tracer(self._volumes.field, [point.position for point in points])
        for curve in core_curves(self._tracer, points):
            progress.check()
            self._curves.add(curve)

    def trace_from_endpoints(self, endpoints: np.ndarray, progress: Progress) -> None:
        """Trace from endpoints (flat indices), those furthest from the skeleton first."""
        furthest_first = np.argsort(-self._volumes.distances_at(endpoints), kind="stable")
        paths = self._volumes.descent_paths(endpoints[furthest_first])
        for first in range(0, len(paths), CURVES_PER_SLICE):
            progress.check()
            self._trace_along(paths[first : first + CURVES_PER_SLICE])

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
        volumes = self._volumes
        balls = InscribedBalls(volumes.depths, volumes.spacing, *clearance)
        balls.add(np.stack(np.unravel_index(present, volumes.shape), axis=1))
        seeds = seeds[volumes.depths.at(seeds) > 0]
        seeds = seeds[~balls.contain(seeds, progress)]
        flat = np.ravel_multi_index(seeds.T, volumes.shape)
        used = []
        for seed, voxel, path in zip(seeds, flat, volumes.descent_paths(flat), strict=True):
            if balls.contain(seed[None], progress).any():
                continue  # by a curve from an earlier seed
            used.append(voxel)
            voxels = voxels_of(self._trace_along([path])[0])
            is_new = (voxels[1:] != voxels[:-1]).any(axis=1)
            balls.add(np.concatenate([voxels[:1], voxels[1:][is_new]]))
        return np.array(used, np.int64)

    def _trace_along(self, paths: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Curves along paths to where there is a force, then along that."""
        if self._tracer is None:
            return [path.astype(float) for path in paths]
        curves = self._tracer.trace_along(paths)
        for curve in curves:
            self._curves.add(curve)
        return curves
