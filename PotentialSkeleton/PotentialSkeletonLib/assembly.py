"""The pipeline's stages: prepared object, each component's skeleton, graph, checks and report."""

from collections.abc import Callable
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress

from .component import skeletonize_component
from .critical_points.critical_points import CriticalPoint
from .field.summation import checked_device
from .graph.curve_skeleton import CurveSkeleton
from .graph.skeleton_graph import SkeletonGraph, skeleton_graph
from .object.preparing import Prepared
from .options import SkeletonOptions
from .report import ComponentSkeleton, Stages, skeleton_report

Spacing = tuple[float, float, float]
Recall = Callable[[int, Callable[[], ComponentSkeleton]], ComponentSkeleton]


def assemble(
    prepare: Callable[[Progress], Prepared],
    shape: tuple[int, ...],
    spacing: Spacing,
    options: SkeletonOptions,
    progress: Progress,
    recall: Recall = lambda _number, compute: compute(),
) -> CurveSkeleton:
    """The `CurveSkeleton` of an object; see `skeletonize`.

    Parameters
    ----------
    prepare : callable
        ``prepare(progress)`` gives the `Prepared` object.
    shape : tuple of int
        Of the volume.
    spacing : 3 floats K, J, I, in mm
    options : SkeletonOptions
    progress : Progress
    recall : callable
        ``recall(number, compute)`` gives the skeleton of a component: what ``compute()`` gives, or
        gave in an earlier run.
    """
    choose_device(checked_device(options.method, options.device))  # an error before the work begins
    stages = Stages(progress)
    with stages.stage("prepare", 0.0, 0.02) as part:
        prepared = prepare(part)
    parts, ends = [], np.cumsum(prepared.sizes) / prepared.sizes.sum()
    for number, (begin, end) in enumerate(zip([0.0, *ends], ends)):

        def compute(number: int = number, begin: float = begin, end: float = end) -> Any:
            own = stages.part(0.02 + 0.93 * begin, 0.02 + 0.93 * end)
            return skeletonize_component(prepared.parts.mask(number), spacing, options, own)

        parts.append(recall(number, compute))
    origins = [prepared.parts.origin(number) for number in range(len(parts))]
    with stages.stage("graph", 0.95, 0.98) as part:
        graph = _graph(prepared, parts, origins, part)
    with stages.stage("checks", 0.98, 1.0):
        report = skeleton_report(prepared, parts, graph)
    report["seconds"] = stages.seconds
    progress.advance(1.0)
    points = [
        CriticalPoint(point.position + origin, point.kind, point.eigenvalues, point.eigenvectors)
        for origin, found in zip(origins, parts)
        for point in found.critical_points
    ]
    return CurveSkeleton(graph.nodes, graph.branches, points, graph.voxels, shape, spacing, report)


def _graph(
    prepared: Prepared, parts: list[ComponentSkeleton], origins: list, progress: Progress
) -> SkeletonGraph:
    """The graph of all components, in voxels of the volume."""
    voxels = np.concatenate([part.voxels + origin for part, origin in zip(parts, origins)])
    positions = np.concatenate([part.positions + origin for part, origin in zip(parts, origins)])
    component = np.repeat(np.arange(1, len(parts) + 1), [len(part.voxels) for part in parts])

    def radius_at(points: np.ndarray) -> np.ndarray:
        return prepared.parts.radius_at(points, progress)

    return skeleton_graph(voxels, positions, component, prepared.object, radius_at, progress)
