"""The skeleton of one component, stage by stage, and of all components together."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import on_device_or_cpu
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import LARGE, distance_to_outside, geodesic_distance
from FuzzyVesselCoreLib.voxels.topology import euler_characteristic

from .critical_points import REPELLER, CriticalPoint, critical_points
from .curve_skeleton import Branch, CurveSkeleton, Node
from .endpoints import endpoints_beyond, protrusion_endpoints
from .force_field import ForceField, field_of_components
from .options import SkeletonOptions, checked_device
from .preparing import Components
from .report import component_report, skeleton_report
from .seeds import curvature_seeds, divergence_seeds
from .skeleton_graph import skeleton_graph
from .thinning import LevelThinning, is_in_any
from .traced_curves import ComponentCurves

MIN_FIELD_VOXELS = 27  # components below it have no field
GPU_THRESHOLD = 1 << 13  # voxels: the field of smaller components is faster on the CPU


def skeleton_of_components(
    components: Components,
    shape: tuple[int, ...],
    spacing: tuple[float, float, float],
    options: SkeletonOptions,
    progress: Progress,
) -> CurveSkeleton:
    """One skeleton of all components, which lie in a volume of that shape (K, J, I)."""
    nodes: list[Node] = []
    branches: list[Branch] = []
    points, voxels, reports = [], [], []
    ends = np.cumsum(components.sizes) / components.sizes.sum()
    shares = pairwise([0.0, *ends])  # of the progress
    for number, ((origin, mask), share) in enumerate(zip(components.masks, shares), 1):
        part = skeletonize_component(mask, spacing, options, progress.part(*share))
        first_node = len(nodes)
        reports.append(part.report)
        voxels.append(part.voxels + origin)
        points += [replace(p, position=p.position + origin) for p in part.critical_points]
        for node in part.nodes:
            nodes.append(replace(node, position=node.position + origin, component=number))
        for branch in part.branches:
            start, end = branch.start + first_node, branch.end + first_node
            branches.append(Branch(branch.points + origin, branch.radius, start, end, number))
    report = skeleton_report(components, reports, nodes, branches)
    progress.advance(1.0)
    all_voxels = np.concatenate(voxels)
    all_voxels = all_voxels[np.lexsort(all_voxels.T[::-1])]
    return CurveSkeleton(nodes, branches, points, all_voxels, shape, spacing, report)


def skeletonize_component(
    mask: np.ndarray,
    spacing: tuple[float, float, float],
    options: SkeletonOptions,
    progress: Progress,
) -> CurveSkeleton:
    """The skeleton of one component (bool, off the array's border), in voxels of this array.

    Its report is that of `component_report`.
    """
    device = checked_device(options.method, options.device)
    if device == "auto" and np.count_nonzero(mask) < GPU_THRESHOLD:
        device = "cpu"

    skeleton, notes = on_device_or_cpu(
        device, lambda gpu: _ComponentRun(mask, spacing, options, progress, gpu).run()
    )
    skeleton.report["warnings"][:0] = notes
    return skeleton


class _ComponentRun:
    """Makes the skeleton of one component, stage by stage."""

    def __init__(self, mask, spacing, options, progress, gpu):
        self.mask, self.spacing = mask, spacing
        self.options, self.progress = options, progress
        # The field is summed on the device; all else only where this is faster.
        self.field_gpu, self.gpu = gpu, gpu if mask.size >= LARGE else None
        self.seconds: dict[str, float] = defaultdict(float)
        self.field: ForceField | None = None  # none for a component that is too small
        self.critical_points: list[CriticalPoint] = []
        self.seeds = np.empty((0, 3), np.int64)
        self.distances: Any = None  # along the component from the skeleton, once there is one
        if self.gpu is not None:
            self.gpu.keep(mask, self.gpu.put(mask))
        with self.stage("distance", 0.0, 0.05) as progress:
            self.depth = distance_to_outside(mask, spacing, progress, self.gpu)
            self.curves = ComponentCurves(self.depth, spacing)
            characteristic = euler_characteristic(mask, self.gpu)
            self.thinning = LevelThinning(mask, self.depth, spacing, characteristic)

    @contextmanager
    def stage(self, name: str, start: float, end: float) -> Iterator[Progress]:
        """Time a stage; it gets its own part of the progress."""
        progress, began = self.progress.part(start, end), perf_counter()
        progress.advance(0.0)
        yield progress
        self.seconds[name] += perf_counter() - began

    def run(self) -> CurveSkeleton:
        if np.count_nonzero(self.mask) >= MIN_FIELD_VOXELS:
            self.field = self.compute_field()
            self.find_core(self.field)
            if self.field_gpu is not None:
                self.field_gpu.drop(self.field.vectors, self.field.classes)
        self.thin_along_curves(0.6)
        self.thinning.end_level()
        if self.options.level >= 2:
            endpoints = self.trace_protrusions(0.65)
            if self.field is not None:
                self.trace_seeds(self.seeds, "divergence", 0.74)
            self.thin_along_curves(0.75)
            if len(self.trace_protrusions(0.8, endpoints)):
                self.thin_along_curves(0.85)
            self.thinning.end_level()
        if self.options.level >= 3:
            with self.stage("tips", 0.9, 0.94) as progress:
                self.measure_distances(progress)
                seeds = curvature_seeds(self.mask, progress)
            self.trace_seeds(seeds, "curvature", 0.94)
            self.thin_along_curves(0.95)
            self.thinning.end_level()
        return self.result()

    def compute_field(self) -> ForceField:
        options, sides, unit_depth = self.options, self.spacing, None
        with self.stage("field", 0.05, 0.55) as progress:
            if self.field_gpu is None and len(set(sides)) == 1:
                unit_depth = self.depth / np.float32(sides[0])
            return field_of_components(
                labels=self.mask,
                strength=options.strength,
                charge_distance=options.charge_distance,
                method=options.method,
                gpu=self.field_gpu,
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
        with self.stage("curves", 0.58, 0.6) as progress:
            self.critical_points = self.curves.inside(points)
            self.curves.trace_core(field, [p for p in points if p.kind != REPELLER], progress)

    def thin_along_curves(self, share: float) -> None:
        curves = self.curves
        with self.stage("thinning", share, share + 0.05) as progress:
            traced = curves.voxels()
            curves.anchors = self.thinning.thin_along(traced, curves.anchors, progress)

    def measure_distances(self, progress) -> None:
        """Measure along the component from the skeleton; earlier distances are lowered."""
        self.distances = geodesic_distance(
            self.mask,
            self.thinning.skeleton,
            self.spacing,
            progress,
            known=self.distances,
            gpu=self.gpu,
        )

    def trace_protrusions(self, share: float, known: np.ndarray | None = None) -> np.ndarray:
        """Curves from the ends of protrusions, or of those that go on beyond all but known ends."""
        with self.stage("tips", share, share + 0.04) as progress:
            self.measure_distances(progress)
            task = self.distances, self.depth, self.spacing
            if known is None:
                found = protrusion_endpoints(*task, progress, self.gpu)
            else:
                skeleton = self.thinning.skeleton
                found = endpoints_beyond(*task, skeleton, known, progress, self.gpu)
        with self.stage("curves", share + 0.04, share + 0.05) as progress:
            self.curves.trace_from_endpoints(found, self.distances, progress)
        return found

    def trace_seeds(self, seeds: np.ndarray, kind: str, share: float) -> None:
        """Curves from the seeds that are clear of the skeleton and of all curves."""
        skeleton = self.thinning.skeleton
        with self.stage("curves", share, share + 0.01) as progress:
            self.curves.trace_from_seeds(seeds, kind, skeleton, self.distances, progress)

    def result(self) -> CurveSkeleton:
        flat, curves, mask, spacing = self.thinning.skeleton, self.curves, self.mask, self.spacing
        voxels = np.stack(np.unravel_index(flat, mask.shape), axis=1)
        is_traced = is_in_any(flat, curves.voxels(), curves.anchors)
        with self.stage("graph", 0.97, 1.0) as progress:
            positions = curves.positions(voxels)
            graph = skeleton_graph(voxels, positions, mask, spacing, progress, self.gpu)
        skeleton = CurveSkeleton(*graph, self.critical_points, voxels, mask.shape, spacing, {})
        with self.stage("checks", 1.0, 1.0):
            report = component_report(skeleton, mask, is_traced, self.thinning, self.field)
        report["seconds"] = dict(self.seconds)
        return replace(skeleton, report=report)
