"""The skeleton of one component: the pipeline's stages in order, for each level."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .component_volumes import ComponentVolumes
from .critical_points.critical_points import REPELLER, CriticalPoint, index_sum
from .graph.skeleton_graph import skeleton_graph
from .graph.voxel_graph import topology
from .level_thinning import LevelThinning, membership, union
from .options import SkeletonOptions
from .report import ComponentSkeleton, Stages
from .tracing.component_curves import ComponentCurves
from .tracing.curve_voxels import voxels_of

MIN_PROTRUSION = 2.0  # voxels that a protrusion is longer than its width demands
# A seed lies so many inscribed radii, and so many voxels more, away from what is there. With fewer
# voxels each bump of a rough surface would have a curve of its own.
DIVERGENCE_CLEARANCE, CURVATURE_CLEARANCE = (1.0, 0.0), (1.3, 3.0)
MIN_FIELD_VOXELS = 27  # components below it have no field


def skeletonize_component(
    mask: np.ndarray, spacing: tuple[float, float, float], options: SkeletonOptions, stages: Stages
) -> ComponentSkeleton:
    """The skeleton of one component (bool, off the array's border) up to the options' level."""
    return _Run(mask, spacing, options, stages).run()


class _Run:
    """One component on its way to a skeleton."""

    def __init__(
        self,
        mask: np.ndarray,
        spacing: tuple[float, float, float],
        options: SkeletonOptions,
        stages: Stages,
    ) -> None:
        self.options, self.stages = options, stages
        self.critical_points: list[CriticalPoint] = []
        self.charge_distance: int | None = None
        self.messages: tuple[str, ...] = ()
        with stages.stage("distance", 0.0, 0.05) as progress:
            self.volumes = ComponentVolumes(mask, spacing, options, progress)
            self.curves = ComponentCurves(self.volumes)
            self.characteristic = self.volumes.euler_characteristic(progress)
            self.thinning = LevelThinning(self.volumes, self.characteristic)

    def run(self) -> ComponentSkeleton:
        if self.volumes.count >= MIN_FIELD_VOXELS:
            self.find_core()
        self.thin(0.6)
        self.thinning.end_level()
        if self.options.level >= 2:
            endpoints = self.add_protrusions()
            self.thin(0.75)
            if self.extend_ends(endpoints):
                self.thin(0.85)
            self.thinning.end_level()
        if self.options.level >= 3:
            self.add_sharp_parts()
            self.thin(0.95)
            self.thinning.end_level()
        return self.result()

    def find_core(self) -> None:
        """The field, its critical points, and the curves between these."""
        volumes = self.volumes
        with self.stages.stage("field", 0.05, 0.55) as progress:
            self.charge_distance, self.messages = volumes.compute_field(progress)
        with self.stages.stage("critical points", 0.55, 0.58) as progress:
            points = volumes.critical_points(progress)
            voxels = voxels_of([point.position for point in points]).reshape(-1, 3)
            inside = volumes.depth[tuple(voxels.T)] > 0
            self.critical_points = [p for p, is_inside in zip(points, inside) if is_inside]
        with self.stages.stage("curves", 0.58, 0.6) as progress:
            self.curves.trace_core([p for p in points if p.kind != REPELLER], progress)
            anchors = [p.position for p in self.critical_points if p.kind != REPELLER]
            voxels = voxels_of(anchors).reshape(-1, 3)
            self.thinning.anchor(np.ravel_multi_index(voxels.T, volumes.shape))

    def thin(self, start: float) -> None:
        with self.stages.stage("thinning", start, start + 0.05) as progress:
            self.thinning.thin(self.curves.voxels(), progress)

    def add_protrusions(self) -> np.ndarray:
        """Curves from the ends of protrusions and from seeds of low divergence; the ends."""
        with self.stages.stage("tips", 0.65, 0.7) as progress:
            self.volumes.compute_distances(self.thinning.skeleton, progress)
            min_length = MIN_PROTRUSION * min(self.volumes.spacing)
            endpoints = self.volumes.protrusion_endpoints(min_length, progress)
        with self.stages.stage("curves", 0.7, 0.75) as progress:
            self.add_endpoints(endpoints, progress)
            if self.curves.has_field:
                seeds = self.volumes.divergence_seeds(progress)
                self.add_seeds(seeds, DIVERGENCE_CLEARANCE, progress)
        return endpoints

    def extend_ends(self, endpoints: np.ndarray) -> bool:
        """Lead ends of the skeleton on to the ends of protrusions; whether there were any."""
        skeleton = self.thinning.skeleton
        with self.stages.stage("tips", 0.8, 0.85) as progress:
            self.volumes.add_sources(skeleton, progress)
            further = self.volumes.endpoints_beyond(skeleton, endpoints, progress)
            self.add_endpoints(further, progress)
        return len(further) > 0

    def add_sharp_parts(self) -> None:
        """Curves from seeds of high surface curvature."""
        with self.stages.stage("tips", 0.9, 0.94) as progress:
            self.volumes.add_sources(self.thinning.skeleton, progress)
            seeds = self.volumes.curvature_seeds(progress)
        with self.stages.stage("curves", 0.94, 0.95) as progress:
            self.add_seeds(seeds, CURVATURE_CLEARANCE, progress)

    def add_endpoints(self, endpoints: np.ndarray, progress: Progress) -> None:
        self.thinning.anchor(endpoints)
        self.curves.trace_from_endpoints(endpoints, progress)

    def add_seeds(
        self, seeds: np.ndarray, clearance: tuple[float, float], progress: Progress
    ) -> None:
        progress.check()
        present = union(self.thinning.skeleton, self.curves.voxels(), self.thinning.anchors)
        used = self.curves.trace_from_seeds(seeds, present, clearance, progress)
        self.thinning.anchor(used)

    def result(self) -> ComponentSkeleton:
        thinning, curves, volumes = self.thinning, self.curves, self.volumes
        voxels = np.stack(np.unravel_index(thinning.skeleton, volumes.shape), axis=1)
        traced = membership(thinning.skeleton, curves.voxels(), thinning.anchors)
        with self.stages.stage("graph", 0.97, 1.0) as progress:
            positions = curves.positions(voxels)
            graph = skeleton_graph(voxels, positions, volumes.mask, volumes.spacing, progress)
        with self.stages.stage("checks", 1.0, 1.0):
            components, characteristic = topology(voxels)
            joins = max(topology(voxels[traced])[0] - 1, 0)
        return ComponentSkeleton(
            voxels=voxels,
            nodes=graph[0],
            branches=graph[1],
            critical_points=self.critical_points,
            level_voxels=thinning.level_voxels,
            joins=joins,
            thinned=int(np.count_nonzero(~traced)),
            removable=thinning.removable,
            is_thin=thinning.is_thin,
            is_inside=bool(volumes.mask[tuple(voxels.T)].all()),
            pieces=components,
            cycles=components - characteristic,
            characteristic=self.characteristic,
            charge_distance=self.charge_distance,
            index_sum=index_sum(self.critical_points) if curves.has_field else None,
            messages=self.messages,
            device=volumes.device,
        )
