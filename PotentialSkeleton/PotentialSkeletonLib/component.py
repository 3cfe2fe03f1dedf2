"""The skeleton of one component, stage by stage."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.gpu.device import on_device_or_cpu
from FuzzyVesselCoreLib.progress import Progress

from .critical_points import REPELLER, CriticalPoint, critical_points, index_sum
from .curve_skeleton import Branch, Node
from .endpoints import endpoints_beyond, protrusion_endpoints
from .force_field import ForceField, field_of_components
from .options import SkeletonOptions, checked_device
from .seeds import curvature_seeds, divergence_seeds
from .skeleton_graph import component_count, skeleton_graph, topology
from .thinning import LevelThinning, is_in_any, union
from .traced_curves import ComponentCurves, voxels_at
from .volumes import LARGE, ComponentVolumes, depth_and_characteristic, geodesic_distance_on


@dataclass(frozen=True)
class ComponentSkeleton:
    """What was found in one component, in voxels of its box."""

    voxels: np.ndarray  # of the skeleton, (n, 3), in ascending order of K, J, I
    nodes: list[Node]
    branches: list[Branch]
    critical_points: list[CriticalPoint]
    level_voxels: list[int]  # skeleton voxels of each level
    joins: int  # gaps between traced curves that were closed
    thinned: int  # voxels that no traced curve passes
    removable: int  # voxels that could go without a change of topology and are no ends
    is_thin: bool  # whether all of these belong to the level before, which must stay whole
    is_inside: bool
    pieces: int  # of the skeleton's voxels
    cycles: int
    characteristic: int  # the component's Euler characteristic
    charge_distance: int | None  # None where the component is too small for a field
    index_sum: int | None  # likewise
    messages: tuple[str, ...]  # from the field
    device: str  # of the field
    seconds: dict[str, float]  # of each stage


MIN_PROTRUSION = 2.0  # voxels that a protrusion is longer than its width demands
# Of seeds to skeleton and curves: a factor of the inscribed radius, and voxels added to it. With
# fewer voxels each bump of a rough surface would have a curve of its own.
DIVERGENCE_CLEARANCE, CURVATURE_CLEARANCE = (1.0, 0.0), (1.3, 3.0)
MIN_FIELD_VOXELS = 27  # components below it have no field
GPU_THRESHOLD = 1 << 13  # voxels: the field of smaller components is faster on the CPU


def skeletonize_component(
    mask: np.ndarray,
    spacing: tuple[float, float, float],
    options: SkeletonOptions,
    progress: Progress,
) -> ComponentSkeleton:
    """The skeleton of one component (bool, off the array's border) up to the options' level."""
    device = checked_device(options.method, options.device)
    if device == "auto" and np.count_nonzero(mask) < GPU_THRESHOLD:
        device = "cpu"
    skeleton, notes = on_device_or_cpu(
        device, lambda gpu: _ComponentRun(mask, spacing, options, progress, gpu).run()
    )
    return replace(skeleton, messages=(*notes, *skeleton.messages))


class _ComponentRun:
    """Makes the skeleton of one component, stage by stage. Voxels are flat indices."""

    def __init__(self, mask, spacing, options, progress, gpu):
        self.options, self.progress = options, progress
        self.seconds: dict[str, float] = defaultdict(float)
        self.critical_points: list[CriticalPoint] = []
        self.field: ForceField | None = None  # none for a component that is too small
        # Its field is summed on the device; all else only if it is so large that this is faster.
        self.gpu_of_field, self.gpu = gpu, gpu if mask.size >= LARGE else None
        if self.gpu is not None:
            gpu.keep(mask, gpu.put(mask))
        self.seeds = np.empty((0, 3), np.int64)
        with self.stage("distance", 0.0, 0.05) as progress:
            depth, characteristic = depth_and_characteristic(mask, spacing, progress, self.gpu)
            self.characteristic = characteristic
            self.volumes = ComponentVolumes(mask, spacing, depth)
            self.curves = ComponentCurves(self.volumes)
            self.thinning = LevelThinning(self.volumes, characteristic)

    @contextmanager
    def stage(self, name: str, start: float, end: float) -> Iterator[Progress]:
        """Time a stage; it gets its own part of the progress."""
        progress, began = self.progress.part(start, end), perf_counter()
        progress.advance(0.0)
        yield progress
        self.seconds[name] += perf_counter() - began

    def run(self) -> ComponentSkeleton:
        if np.count_nonzero(self.volumes.mask) >= MIN_FIELD_VOXELS:
            self.find_core(self.compute_field())
        self.thin_along_curves(0.6)
        self.thinning.end_level()
        if self.options.level >= 2:
            endpoints = self.add_protrusions()
            self.thin_along_curves(0.75)
            if self.extend_ends(endpoints):
                self.thin_along_curves(0.85)
            self.thinning.end_level()
        if self.options.level >= 3:
            self.add_sharp_parts()
            self.thin_along_curves(0.95)
            self.thinning.end_level()
        return self.result()

    def compute_field(self) -> ForceField:
        """Sum the field; its forces and classes are kept with the component's volumes, too."""
        volumes, options = self.volumes, self.options
        with self.stage("field", 0.05, 0.55) as progress:
            sides = volumes.spacing
            unit_depth = None
            if len(set(sides)) == 1:
                unit_depth = (
                    volumes.depth if sides[0] == 1 else volumes.depth / np.float32(sides[0])
                )
            self.field = field = field_of_components(
                solid=volumes.mask,
                labels=volumes.mask,
                strength=options.strength,
                charge_distance=options.charge_distance,
                method=options.method,
                gpu=self.gpu_of_field,
                unit_depth=unit_depth,
                progress=progress,
            )
        volumes.vectors, volumes.classes = field.vectors, field.classes
        return field

    def find_core(self, field: ForceField) -> None:
        """Critical points of the field and seeds, and the curves between these points."""
        volumes, level = self.volumes, self.options.level
        with self.stage("critical points", 0.55, 0.58) as progress:
            points = critical_points(field, True, progress, self.gpu)
            if level >= 2:
                self.seeds = divergence_seeds(
                    volumes.vectors, volumes.classes, self.options.divergence, progress, self.gpu
                )
            if self.gpu_of_field is not None:
                self.gpu_of_field.drop(volumes.vectors, volumes.classes)
            voxels = voxels_at([point.position for point in points]).reshape(-1, 3)
            inside = self.volumes.depth[tuple(voxels.T)] > 0
            self.critical_points = [p for p, is_inside in zip(points, inside) if is_inside]
        with self.stage("curves", 0.58, 0.6) as progress:
            self.curves.trace_core([p for p in points if p.kind != REPELLER], progress)
            anchors = [p.position for p in self.critical_points if p.kind != REPELLER]
            voxels = voxels_at(anchors).reshape(-1, 3)
            self.thinning.anchor(np.ravel_multi_index(voxels.T, self.volumes.shape))

    def thin_along_curves(self, start: float) -> None:
        with self.stage("thinning", start, start + 0.05) as progress:
            self.thinning.thin_along(self.curves.voxels(), progress)

    def measure_distances(self, progress) -> None:
        """Measure along the component from the skeleton; earlier distances are lowered."""
        volumes = self.volumes
        volumes.distances = geodesic_distance_on(
            volumes.mask,
            self.thinning.skeleton,
            volumes.spacing,
            progress,
            known=volumes.distances,
            gpu=self.gpu,
        )

    def add_protrusions(self) -> np.ndarray:
        """Curves from the ends of protrusions and from seeds of low divergence; the ends."""
        volumes, spacing = self.volumes, self.volumes.spacing
        min_length = MIN_PROTRUSION * min(spacing)
        with self.stage("tips", 0.65, 0.7) as progress:
            self.measure_distances(progress)
            endpoints = protrusion_endpoints(
                volumes.distances, volumes.depth, spacing, min_length, progress, self.gpu
            )
        with self.stage("curves", 0.7, 0.75) as progress:
            self.add_endpoints(endpoints, progress)
            if self.field is not None:
                self.add_seeds(self.seeds, DIVERGENCE_CLEARANCE, progress)
        return endpoints

    def extend_ends(self, endpoints: np.ndarray) -> bool:
        """Extend ends of the skeleton to the ends of protrusions; whether any was extended."""
        volumes, skeleton = self.volumes, self.thinning.skeleton
        with self.stage("tips", 0.8, 0.85) as progress:
            self.measure_distances(progress)
            new_endpoints = endpoints_beyond(
                volumes.distances,
                volumes.depth,
                volumes.spacing,
                skeleton,
                endpoints,
                progress,
                self.gpu,
            )
            self.add_endpoints(new_endpoints, progress)
        return len(new_endpoints) > 0

    def add_sharp_parts(self) -> None:
        """Curves from seeds of high surface curvature."""
        volumes = self.volumes
        with self.stage("tips", 0.9, 0.94) as progress:
            self.measure_distances(progress)
            seeds = curvature_seeds(volumes.mask, progress)
        with self.stage("curves", 0.94, 0.95) as progress:
            self.add_seeds(seeds, CURVATURE_CLEARANCE, progress)

    def add_endpoints(self, endpoints, progress):
        self.thinning.anchor(endpoints)
        self.curves.trace_from_endpoints(endpoints, progress)

    def add_seeds(self, seeds, clearance, progress):
        progress.check()
        present = union(self.thinning.skeleton, self.curves.voxels(), self.thinning.anchors)
        self.thinning.anchor(self.curves.trace_from_seeds(seeds, present, clearance, progress))

    def result(self) -> ComponentSkeleton:
        thinning, curves = self.thinning, self.curves
        volumes, field = self.volumes, self.field
        voxels = np.stack(np.unravel_index(thinning.skeleton, volumes.shape), axis=1)
        traced = is_in_any(thinning.skeleton, curves.voxels(), thinning.anchors)
        with self.stage("graph", 0.97, 1.0) as progress:
            positions = curves.positions(voxels)
            nodes, branches = skeleton_graph(
                voxels, positions, volumes.mask, volumes.spacing, progress, self.gpu
            )
        with self.stage("checks", 1.0, 1.0):
            components, characteristic = topology(voxels)
            joins = max(component_count(voxels[traced]) - 1, 0)
        return ComponentSkeleton(
            voxels=voxels,
            nodes=nodes,
            branches=branches,
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
            charge_distance=field.charge_distance if field else None,
            index_sum=index_sum(self.critical_points) if field else None,
            messages=field.notes if field else (),
            device=field.device if field else "cpu",
            seconds=dict(self.seconds),
        )
