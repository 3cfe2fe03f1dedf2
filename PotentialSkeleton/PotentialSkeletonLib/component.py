"""The skeleton of one component, stage by stage."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import on_device_or_cpu
from FuzzyVesselCoreLib.progress import Progress

from .component_distances import LARGE, depth_and_characteristic, geodesic_distance_on
from .critical_points import REPELLER, CriticalPoint, critical_points, index_sum
from .curve_skeleton import Branch, Node
from .endpoints import endpoints_beyond, protrusion_endpoints
from .force_field import ForceField, field_of_components
from .options import SkeletonOptions, checked_device
from .seeds import curvature_seeds, divergence_seeds
from .skeleton_graph import component_count, skeleton_graph, topology
from .thinning import LevelThinning, is_in_any
from .traced_curves import ComponentCurves, voxels_at


@dataclass(frozen=True)
class ComponentSkeleton:
    """What was found in one component, in voxels of its box."""

    voxels: np.ndarray  # of the skeleton, (n, 3), in ascending order of K, J, I
    nodes: list[Node]
    branches: list[Branch]
    critical_points: list[CriticalPoint]
    level_voxels: list[int]  # skeleton voxels of each level
    figures: dict[str, int]  # the report of the whole has their sums
    listed: dict[str, Any]  # the report has them for each component; None without a field
    guarantees: dict[str, bool]  # whether each is held
    messages: tuple[str, ...]  # what a user should know
    device: str  # of the field
    seconds: dict[str, float]  # of each stage


NOT_RESOLVED = (
    "Some thin parts or small tunnels are not resolved by the force field; they were completed "
    "along the deepest voxels."
)
BROKEN_GUARANTEES = {
    "thin": "In some places the skeleton is more than one voxel wide.",
    "inside": "Parts of the skeleton lie outside of the object.",
    "one_piece_for_each_component": "The skeleton does not have one connected component for each "
    "component of the object.",
    "same_cycles": "The skeleton does not have as many loops as the object.",
    "no_duplicate_nodes": "Some nodes of the skeleton lie at the same position.",
}
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

    def run(gpu: Any) -> ComponentSkeleton:
        # The field is summed on the device; all else only where this is faster.
        gpu_of_rest = gpu if mask.size >= LARGE else None
        return _ComponentRun(mask, spacing, options, progress, gpu_of_rest).run(gpu_of_field=gpu)

    skeleton, notes = on_device_or_cpu(device, run)
    return replace(skeleton, messages=(*notes, *skeleton.messages))


class _ComponentRun:
    """Makes the skeleton of one component, stage by stage. Voxels are flat indices.

    `gpu`, or None, is that of all steps but the field, whose one is an argument of `run`.
    """

    def __init__(self, mask, spacing, options, progress, gpu):
        self.mask, self.spacing = mask, spacing
        self.options, self.progress, self.gpu = options, progress, gpu
        self.seconds: dict[str, float] = defaultdict(float)
        self.field: ForceField | None = None  # none for a component that is too small
        self.critical_points: list[CriticalPoint] = []
        self.seeds = np.empty((0, 3), np.int64)
        self.distances: Any = None  # along the component from the skeleton, once there is one
        if gpu is not None:
            gpu.keep(mask, gpu.put(mask))
        with self.stage("distance", 0.0, 0.05) as progress:
            found = depth_and_characteristic(mask, spacing, progress, gpu)
            self.depth, self.characteristic = found
            self.curves = ComponentCurves(self.depth, spacing)
            self.thinning = LevelThinning(mask, self.depth, spacing, self.characteristic)

    @contextmanager
    def stage(self, name: str, start: float, end: float) -> Iterator[Progress]:
        """Time a stage; it gets its own part of the progress."""
        progress, began = self.progress.part(start, end), perf_counter()
        progress.advance(0.0)
        yield progress
        self.seconds[name] += perf_counter() - began

    def run(self, gpu_of_field) -> ComponentSkeleton:
        if np.count_nonzero(self.mask) >= MIN_FIELD_VOXELS:
            self.field = self.compute_field(gpu_of_field)
            self.find_core(self.field)
            if gpu_of_field is not None:
                gpu_of_field.drop(self.field.vectors, self.field.classes)
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

    def compute_field(self, gpu) -> ForceField:
        options, sides, unit_depth = self.options, self.spacing, None
        with self.stage("field", 0.05, 0.55) as progress:
            if gpu is None and len(set(sides)) == 1:
                unit_depth = self.depth / np.float32(sides[0])
            return field_of_components(
                labels=self.mask,
                strength=options.strength,
                charge_distance=options.charge_distance,
                method=options.method,
                gpu=gpu,
                unit_depth=unit_depth,
                progress=progress,
            )

    def find_core(self, field: ForceField) -> None:
        """Critical points of the field and seeds, and the curves between these points."""
        with self.stage("critical points", 0.55, 0.58) as progress:
            points = critical_points(field, everywhere=True, progress=progress, gpu=self.gpu)
            if self.options.level >= 2:
                self.seeds = divergence_seeds(
                    field.vectors, field.classes, self.options.divergence, progress, self.gpu
                )
            voxels = voxels_at([point.position for point in points]).reshape(-1, 3)
            inside = self.depth[tuple(voxels.T)] > 0
            self.critical_points = [p for p, is_inside in zip(points, inside) if is_inside]
        with self.stage("curves", 0.58, 0.6) as progress:
            self.curves.trace_core(field, [p for p in points if p.kind != REPELLER], progress)

    def thin_along_curves(self, start: float) -> None:
        curves, thinning = self.curves, self.thinning
        with self.stage("thinning", start, start + 0.05) as progress:
            thinning.thin_along(curves.passed.voxels(), curves.starts, progress)
            curves.starts = np.intersect1d(curves.starts, thinning.skeleton, assume_unique=True)

    def measure_distances(self, progress) -> None:
        """Measure along the component from the skeleton; earlier distances are lowered."""
        self.distances = geodesic_distance_on(
            self.mask,
            self.thinning.skeleton,
            self.spacing,
            progress,
            known=self.distances,
            gpu=self.gpu,
        )

    def add_protrusions(self) -> np.ndarray:
        """Curves from the ends of protrusions and from seeds of low divergence; the ends."""
        min_length = MIN_PROTRUSION * min(self.spacing)
        with self.stage("tips", 0.65, 0.7) as progress:
            self.measure_distances(progress)
            endpoints = protrusion_endpoints(
                self.distances, self.depth, self.spacing, min_length, progress, self.gpu
            )
        with self.stage("curves", 0.7, 0.75) as progress:
            self.curves.trace_from_endpoints(endpoints, self.distances, progress)
            if self.field is not None:
                self.trace_from_seeds(self.seeds, DIVERGENCE_CLEARANCE, progress)
        return endpoints

    def extend_ends(self, endpoints: np.ndarray) -> bool:
        """Extend ends of the skeleton to the ends of protrusions; whether any was extended."""
        with self.stage("tips", 0.8, 0.85) as progress:
            self.measure_distances(progress)
            new_endpoints = endpoints_beyond(
                self.distances,
                self.depth,
                self.spacing,
                self.thinning.skeleton,
                endpoints,
                progress,
                self.gpu,
            )
            self.curves.trace_from_endpoints(new_endpoints, self.distances, progress)
        return len(new_endpoints) > 0

    def add_sharp_parts(self) -> None:
        """Curves from seeds of high surface curvature."""
        with self.stage("tips", 0.9, 0.94) as progress:
            self.measure_distances(progress)
            seeds = curvature_seeds(self.mask, progress)
        with self.stage("curves", 0.94, 0.95) as progress:
            self.trace_from_seeds(seeds, CURVATURE_CLEARANCE, progress)

    def trace_from_seeds(self, seeds, clearance, progress):
        skeleton = self.thinning.skeleton
        self.curves.trace_from_seeds(seeds, skeleton, clearance, self.distances, progress)

    def result(self) -> ComponentSkeleton:
        thinning, passed, field = self.thinning, self.curves.passed, self.field
        voxels = np.stack(np.unravel_index(thinning.skeleton, self.mask.shape), axis=1)
        traced = is_in_any(thinning.skeleton, passed.voxels(), self.curves.starts)
        with self.stage("graph", 0.97, 1.0) as progress:
            positions = passed.positions(voxels)
            nodes, branches = skeleton_graph(
                voxels, positions, self.mask, self.spacing, progress, self.gpu
            )
        with self.stage("checks", 1.0, 1.0):
            pieces, characteristic = topology(voxels)
            cycles = len(branches) - len(nodes) + pieces
            figures = dict(
                object_cycles=1 - self.characteristic,
                skeleton_cycles=cycles,
                joins=max(component_count(voxels[traced]) - 1, 0),
                thinned_voxels=int(np.count_nonzero(~traced)),
                skeleton_voxels=len(voxels),
                removable_voxels=thinning.removable,
            )
            rounded = np.round([node.position for node in nodes], 6)
            guarantees = dict(
                thin=thinning.is_thin,
                inside=bool(self.mask[tuple(voxels.T)].all()),
                one_piece_for_each_component=pieces == 1,
                same_cycles=cycles == pieces - characteristic == 1 - self.characteristic,
                no_duplicate_nodes=len(np.unique(rounded, axis=0)) == len(nodes),
            )
        indices = index_sum(self.critical_points) if field else None
        doubts = [NOT_RESOLVED] if indices not in (None, self.characteristic) else []
        doubts += [BROKEN_GUARANTEES[name] for name, held in guarantees.items() if not held]
        return ComponentSkeleton(
            voxels=voxels,
            nodes=nodes,
            branches=branches,
            critical_points=self.critical_points,
            level_voxels=thinning.level_voxels,
            figures=figures,
            listed=dict(
                charge_distances=field.charge_distance if field else None,
                index_sums=indices,
                euler_characteristics=self.characteristic,
            ),
            guarantees=guarantees,
            messages=(*(field.notes if field else ()), *doubts),
            device=field.device if field else "cpu",
            seconds=dict(self.seconds),
        )
