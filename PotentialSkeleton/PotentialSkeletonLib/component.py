"""The skeleton of one component: the pipeline's stages in order, for each level."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.topology.sparse import sparse_topology

from .component_skeleton import ComponentSkeleton
from .component_volumes import ComponentVolumes
from .critical_points.critical_points import REPELLER, CriticalPoint, index_sum
from .options import SkeletonOptions
from .stages import Stages
from .thinning.level_thinning import LevelThinning, membership, union
from .tracing.centring import voxels_of
from .tracing.component_curves import ComponentCurves

MIN_PROTRUSION = 2.0  # voxels that a protrusion is longer than its width demands
# A seed lies so many inscribed radii, and so many voxels more, away from what is there. With fewer
# voxels each bump of a rough surface would have a curve of its own.
DIVERGENCE_CLEARANCE, CURVATURE_CLEARANCE = (1.0, 0.0), (1.3, 3.0)
MIN_FIELD_VOXELS = 27  # components below it have no field


def skeletonize_component(
    volumes: ComponentVolumes, options: SkeletonOptions, stages: Stages
) -> ComponentSkeleton:
    """The skeleton of one component up to the level that the options ask for."""
    return _Run(volumes, options, stages).run()


class _Run:
    """One component on its way to a skeleton."""

    curves: ComponentCurves
    thinning: LevelThinning

    def __init__(self, volumes: ComponentVolumes, options: SkeletonOptions, stages: Stages):
        self.volumes, self.options, self.stages = volumes, options, stages
        self.critical_points: list[CriticalPoint] = []
        self.charge_distance: int | None = None
        self.messages: tuple[str, ...] = ()

    def run(self) -> ComponentSkeleton:
        self.measure_depths()
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

    def measure_depths(self) -> None:
        with self.stages.stage("distance", 0.0, 0.05) as progress:
            self.volumes.measure_depths(progress)
            self.curves = ComponentCurves(self.volumes)
            progress.check()
            self.characteristic = self.volumes.euler_characteristic(progress)
            self.thinning = LevelThinning(self.volumes, self.characteristic)

    def find_core(self) -> None:
        """The field, its critical points, and the curves between these."""
        distance = self.options.charge_distance
        if distance is None:
            with self.stages.stage("distance", 0.05, 0.05) as progress:
                distance = self.volumes.charge_distance(progress)
        self.charge_distance = distance
        with self.stages.stage("field", 0.05, 0.55) as progress:
            self.messages = self.volumes.compute_field(distance, progress)
        with self.stages.stage("critical points", 0.55, 0.58) as progress:
            points = self.volumes.critical_points(progress)
            voxels = voxels_of([point.position for point in points]).reshape(-1, 3)
            inside = self.volumes.depths.at(voxels) > 0
            self.critical_points = [p for p, is_inside in zip(points, inside) if is_inside]
        with self.stages.stage("curves", 0.58, 0.6) as progress:
            self.curves.trace_core([p for p in points if p.kind != REPELLER], progress)
            anchors = [p.position for p in self.critical_points if p.kind != REPELLER]
            if anchors:
                flat = np.ravel_multi_index(voxels_of(anchors).T, self.volumes.shape)
                self.thinning.anchor(flat)

    def thin(self, start: float) -> None:
        with self.stages.stage("thinning", start, start + 0.05) as progress:
            self.thinning.thin(self.curves.voxels(), progress)

    def add_protrusions(self) -> np.ndarray:
        """Curves from the ends of protrusions and from seeds of low divergence; the ends."""
        core = self.thinning.skeleton
        with self.stages.stage("tips", 0.65, 0.7) as progress:
            self.volumes.compute_distances(core, progress)
            min_length = MIN_PROTRUSION * min(self.volumes.spacing)
            endpoints = self.volumes.protrusion_endpoints(min_length, progress)
        with self.stages.stage("curves", 0.7, 0.75) as progress:
            self.add_endpoints(endpoints, progress)
            if self.curves.has_field:
                progress.check()
                seeds = self.volumes.divergence_seeds(self.options.divergence, progress)
                progress.check()
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
            progress.check()
            seeds = self.volumes.curvature_seeds(progress)
        with self.stages.stage("curves", 0.94, 0.95) as progress:
            self.add_seeds(seeds, CURVATURE_CLEARANCE, progress)

    def add_endpoints(self, endpoints: np.ndarray, progress: Progress) -> None:
        self.thinning.anchor(endpoints)
        self.curves.trace_from_endpoints(endpoints, progress)

    def add_seeds(
        self, seeds: np.ndarray, clearance: tuple[float, float], progress: Progress
    ) -> None:
        present = union(self.thinning.skeleton, self.curves.voxels(), self.thinning.anchors)
        used = self.curves.trace_from_seeds(seeds, present, clearance, progress)
        self.thinning.anchor(used)

    def result(self) -> ComponentSkeleton:
        thinning, curves = self.thinning, self.curves
        voxels = np.stack(np.unravel_index(thinning.skeleton, self.volumes.shape), axis=1)
        traced = membership(thinning.skeleton, curves.voxels(), thinning.anchors)
        components = sparse_topology(voxels[traced]).components
        return ComponentSkeleton(
            voxels,
            curves.positions(voxels),
            traced,
            self.critical_points,
            thinning.level_voxels,
            max(components - 1, 0),
            thinning.removable,
            thinning.is_thin,
            self.characteristic,
            self.charge_distance,
            index_sum(self.critical_points) if curves.has_field else None,
            self.messages,
        )
