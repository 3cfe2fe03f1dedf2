"""The pipeline's stages: prepared object, each component's skeleton, graph, checks and report."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress

from .component import skeletonize_component
from .component_skeleton import ComponentSkeleton
from .component_volumes import ComponentVolumes
from .cpu_component_volumes import CpuComponentVolumes
from .critical_points.critical_points import CriticalPoint
from .field.force_field import CPU_METHODS, checked_device
from .graph.curve_skeleton import CurveSkeleton
from .graph.skeleton_graph import SkeletonGraph, skeleton_graph
from .object import preparing
from .object.preparing import Prepared
from .options import SkeletonOptions
from .report import skeleton_report
from .stages import Stages

Spacing = tuple[float, float, float]
Parts = list[tuple[np.ndarray, ComponentSkeleton]]  # each component's origin in the volume
GPU_THRESHOLD = 1 << 13  # voxels: smaller components are done sooner on the CPU, by estimate


def assemble(
    mask: np.ndarray, spacing: Spacing, options: SkeletonOptions, progress: Progress
) -> CurveSkeleton:
    """The `CurveSkeleton` of a mask, on the device that the options ask for; see `skeletonize`."""
    shape = np.shape(mask) if np.ndim(mask) == 3 else (1, *np.shape(mask))
    return assemble_object(Source(partial(_prepare, mask), shape), spacing, options, progress)


class Source(NamedTuple):
    """Where an object comes from.

    Attributes
    ----------
    prepare : callable
        ``prepare(spacing, options, progress, gpu)`` gives the `Prepared` object.
    shape : tuple of int
        Of the volume.
    recall : callable
        ``recall(number, compute)`` gives the skeleton of a component: what ``compute()`` gives, or
        gave in an earlier run.
    """

    prepare: Callable[[Spacing, SkeletonOptions, Progress, Any], Prepared]
    shape: tuple[int, ...]
    recall: Callable[[int, Callable[[], ComponentSkeleton]], ComponentSkeleton] = (
        lambda _number, compute: compute()
    )


def assemble_object(
    source: Source, spacing: Spacing, options: SkeletonOptions, progress: Progress
) -> CurveSkeleton:
    """The same of an object from any source."""
    stages = Stages(progress)
    device = choose_device(checked_device(options.method, options.device))
    return _assemble(source, spacing, options, stages, device)


def _assemble(
    source: Source,
    spacing: Spacing,
    options: SkeletonOptions,
    stages: Stages,
    device: Any,
) -> CurveSkeleton:
    """The same; the force field is summed on the device."""
    with stages.stage("prepare", 0.0, 0.02) as progress:
        prepared = source.prepare(spacing, options, progress, None)
    given = spacing, options, stages.part(0.02, 0.95)
    parts = _component_skeletons(prepared, source, *given)
    with stages.stage("graph", 0.95, 0.98) as progress:
        graph = _graph(prepared, parts, progress)
    with stages.stage("checks", 0.98, 1.0) as progress:
        report = skeleton_report(prepared, [part for _, part in parts], graph, progress)
    report["device"] = "cpu" if device == "cpu" else device.name
    report["seconds"] = stages.seconds
    stages.progress.advance(1.0)
    points = [
        CriticalPoint(point.position + origin, point.kind, point.eigenvalues, point.eigenvectors)
        for origin, part in parts
        for point in part.critical_points
    ]
    found = graph.nodes, graph.branches, points, graph.voxels
    return CurveSkeleton(*found, source.shape, spacing, report)


def _prepare(
    mask: np.ndarray, spacing: Spacing, options: SkeletonOptions, progress: Progress, gpu: Any
) -> Prepared:
    """The object of a labelmap."""
    return preparing.prepare(mask, spacing, options, progress)


def _component_skeletons(
    prepared: Prepared,
    source: Source,
    spacing: Spacing,
    options: SkeletonOptions,
    stages: Stages,
) -> Parts:
    sizes, found = prepared.sizes, []
    ends = np.cumsum(sizes) / sizes.sum()
    for number, (size, end) in enumerate(zip(sizes.tolist(), ends)):
        part = stages.part(end - size / sizes.sum(), end)

        def compute(number: int = number, size: int = size, part: Stages = part) -> Any:
            volumes = _volumes(prepared.parts, number, size, spacing, options)
            return skeletonize_component(volumes, options, part)

        found.append((prepared.parts.origin(number), source.recall(number, compute)))
    return found


def _volumes(
    parts: Any, number: int, size: int, spacing: Spacing, options: SkeletonOptions
) -> ComponentVolumes:
    """The volumes of one component; its field on the device that is faster if both may be used."""
    if options.device == "auto" and options.method in CPU_METHODS and size < GPU_THRESHOLD:
        options = replace(options, device="cpu")
    return CpuComponentVolumes(parts.mask(number), spacing, options)


def _graph(prepared: Prepared, parts: Parts, progress: Progress) -> SkeletonGraph:
    """The graph of all components, in voxels of the volume."""
    voxels = np.concatenate([part.voxels + origin for origin, part in parts])
    positions = np.concatenate([part.positions + origin for origin, part in parts])
    component = np.repeat(np.arange(1, len(parts) + 1), [len(part.voxels) for _, part in parts])

    radius_at = partial(prepared.parts.radius_at, progress=progress)
    return skeleton_graph(voxels, positions, component, prepared.object, radius_at, progress)
