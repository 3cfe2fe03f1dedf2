"""The skeleton of one component: the pipeline's stages in order, for each level."""

import warnings

import numpy as np

from FuzzyVesselCoreLib.voxels.distances import distance_to_outside
from FuzzyVesselCoreLib.voxels.topology import euler_characteristic

from .critical_points.critical_points import REPELLER, CriticalPoint, critical_points, index_sum
from .critical_points.seeds import curvature_seeds, divergence_seeds
from .endpoints import endpoints_beyond, geodesic_distance_on, protrusion_endpoints
from .field.force_field import CPU_METHODS, field_of_components
from .graph.skeleton_graph import skeleton_graph
from .graph.voxel_graph import topology
from .object.voxel_classes import ComponentVolumes
from .options import SkeletonOptions
from .report import ComponentSkeleton, Stages
from .thinning import LevelThinning, membership, union
from .tracing.curve_voxels import voxels_of
from .tracing.streamlines import ComponentCurves

MIN_PROTRUSION = 2.0  # voxels that a protrusion is longer than its width demands
# A seed lies so many inscribed radii, and so many voxels more, away from what is there. With fewer
# voxels each bump of a rough surface would have a curve of its own.
DIVERGENCE_CLEARANCE, CURVATURE_CLEARANCE = (1.0, 0.0), (1.3, 3.0)
MIN_FIELD_VOXELS = 27  # components below it have no field
GPU_THRESHOLD = 1 << 13  # voxels: the field of smaller components is faster on the CPU


def skeletonize_component(
    mask: np.ndarray, spacing: tuple[float, float, float], options: SkeletonOptions, stages: Stages
) -> ComponentSkeleton:
    """The skeleton of one component (bool, off the array's border) up to the options' level."""
    return _Run(mask, spacing, options, stages).run()


class _Run:
    """One component on its way to a skeleton. Voxels are flat indices."""

    def __init__(self, mask, spacing, options, stages):
        self.options, self.stages = options, stages
        self.critical_points: list[CriticalPoint] = []
        self.charge_distance, self.messages, self.device = options.charge_distance, (), "cpu"
        with stages.stage("distance", 0.0, 0.05) as progress:
            depth = distance_to_outside(mask, spacing, progress)
            self.volumes = ComponentVolumes(mask, spacing, depth)
            self.curves = ComponentCurves(self.volumes)
            self.characteristic = euler_characteristic(mask)
            self.thinning = LevelThinning(self.volumes, self.characteristic)

    def run(self) -> ComponentSkeleton:
        if np.count_nonzero(self.volumes.mask) >= MIN_FIELD_VOXELS:
            self.compute_field()
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

    def compute_field(self) -> None:
        volumes, options = self.volumes, self.options
        device, may_choose = options.device, options.method in CPU_METHODS
        if device == "auto" and may_choose and np.count_nonzero(volumes.mask) < GPU_THRESHOLD:
            device = "cpu"
        with self.stages.stage("field", 0.05, 0.55) as progress, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the messages are in the report, once
            sides = volumes.spacing
            unit_depth = None
            if len(set(sides)) == 1:
                unit_depth = (
                    volumes.depth if sides[0] == 1 else volumes.depth / np.float32(sides[0])
                )
            self.found = field_of_components(
                volumes.mask, volumes.bytes, options.strength, method=options.method,
                charge_distance=self.charge_distance, device=device, unit_depth=unit_depth,
                progress=progress,
            )  # fmt: skip
        volumes.vectors, volumes.classes = self.found.vectors, self.found.classes
        self.messages, self.device = self.found.notes, self.found.device
        self.charge_distance = self.found.charge_distance

    def find_core(self) -> None:
        """Critical points of the field, and the curves between these."""
        with self.stages.stage("critical points", 0.55, 0.58) as progress:
            points = critical_points(self.found, everywhere=True, progress=progress)
            voxels = voxels_of([point.position for point in points]).reshape(-1, 3)
            inside = self.volumes.depth[tuple(voxels.T)] > 0
            self.critical_points = [p for p, is_inside in zip(points, inside) if is_inside]
        with self.stages.stage("curves", 0.58, 0.6) as progress:
            self.curves.trace_core([p for p in points if p.kind != REPELLER], progress)
            anchors = [p.position for p in self.critical_points if p.kind != REPELLER]
            voxels = voxels_of(anchors).reshape(-1, 3)
            self.thinning.anchor(np.ravel_multi_index(voxels.T, self.volumes.shape))

    def thin(self, start: float) -> None:
        with self.stages.stage("thinning", start, start + 0.05) as progress:
            self.thinning.thin(self.curves.voxels(), progress)

    def measure_distances(self, progress) -> None:
        """Measure along the component from the skeleton; distances from an earlier one sink."""
        volumes, device = self.volumes, "cpu" if self.device == "cpu" else self.options.device
        task = volumes.bytes, self.thinning.skeleton, volumes.spacing, progress
        volumes.distances = geodesic_distance_on(device, *task, volumes.distances)

    def add_protrusions(self) -> np.ndarray:
        """Curves from the ends of protrusions and from seeds of low divergence; the ends."""
        volumes, spacing = self.volumes, self.volumes.spacing
        with self.stages.stage("tips", 0.65, 0.7) as progress:
            self.measure_distances(progress)
            measured, least = (volumes.distances, volumes.depth), MIN_PROTRUSION * min(spacing)
            endpoints = protrusion_endpoints(*measured, spacing, least, progress)
        with self.stages.stage("curves", 0.7, 0.75) as progress:
            self.add_endpoints(endpoints, progress)
            if self.curves.has_field:
                given = volumes.vectors, volumes.classes, self.options.divergence, progress
                self.add_seeds(divergence_seeds(*given), DIVERGENCE_CLEARANCE, progress)
        return endpoints

    def extend_ends(self, endpoints: np.ndarray) -> bool:
        """Lead ends of the skeleton on to the ends of protrusions; whether there were any."""
        volumes, skeleton = self.volumes, self.thinning.skeleton
        with self.stages.stage("tips", 0.8, 0.85) as progress:
            self.measure_distances(progress)
            measured = volumes.distances, volumes.depth, volumes.spacing
            further = endpoints_beyond(*measured, skeleton, endpoints, progress)
            self.add_endpoints(further, progress)
        return len(further) > 0

    def add_sharp_parts(self) -> None:
        """Curves from seeds of high surface curvature."""
        volumes = self.volumes
        with self.stages.stage("tips", 0.9, 0.94) as progress:
            self.measure_distances(progress)
            seeds = curvature_seeds(volumes.mask, progress)
        with self.stages.stage("curves", 0.94, 0.95) as progress:
            self.add_seeds(seeds, CURVATURE_CLEARANCE, progress)

    def add_endpoints(self, endpoints, progress):
        self.thinning.anchor(endpoints)
        self.curves.trace_from_endpoints(endpoints, progress)

    def add_seeds(self, seeds, clearance, progress):
        progress.check()
        present = union(self.thinning.skeleton, self.curves.voxels(), self.thinning.anchors)
        self.thinning.anchor(self.curves.trace_from_seeds(seeds, present, clearance, progress))

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
            charge_distance=self.charge_distance if curves.has_field else None,
            index_sum=index_sum(self.critical_points) if curves.has_field else None,
            messages=self.messages,
            device=self.device,
        )
