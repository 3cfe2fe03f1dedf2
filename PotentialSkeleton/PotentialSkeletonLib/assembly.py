"""From the components of a prepared object to one skeleton and its report."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import Progress

from .component import skeletonize_component
from .critical_points.critical_points import CriticalPoint
from .field.force_field import checked_device
from .graph.curve_skeleton import Branch, CurveSkeleton, Node
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

    ``prepare(progress)`` gives the `Prepared` object of a volume of that shape (K, J, I) and
    spacing (mm); ``recall(number, compute)`` the skeleton of a component: what ``compute()`` gives,
    or gave in an earlier run.
    """
    choose_device(checked_device(options.method, options.device))  # an error before the work begins
    stages = Stages(progress)
    with stages.stage("prepare", 0.0, 0.02) as part:
        prepared = prepare(part)
    parts: list[ComponentSkeleton] = []
    nodes: list[Node] = []
    branches: list[Branch] = []
    points: list[CriticalPoint] = []
    voxels: list[np.ndarray] = []
    ends = 0.02 + 0.98 * np.cumsum(prepared.sizes) / prepared.sizes.sum()
    for number, (origin, mask) in enumerate(prepared.components):
        own = stages.part(ends[number - 1] if number else 0.02, ends[number])

        def compute(mask: np.ndarray = mask, own: Stages = own) -> ComponentSkeleton:
            return skeletonize_component(mask, spacing, options, own)

        found, first = recall(number, compute), len(nodes)
        parts.append(found)
        voxels.append(found.voxels + origin)
        points += [replace(p, position=p.position + origin) for p in found.critical_points]
        for node in found.nodes:
            nodes.append(replace(node, position=node.position + origin, component=number + 1))
        for branch in found.branches:
            start, end = branch.start + first, branch.end + first
            radii, places = branch.radius, branch.points + origin
            branches.append(Branch(places, radii, start, end, number + 1))
    report = skeleton_report(prepared, parts, nodes, branches)
    report["seconds"] = stages.seconds
    progress.advance(1.0)
    everywhere = np.concatenate(voxels)
    everywhere = everywhere[np.lexsort(everywhere.T[::-1])]
    return CurveSkeleton(nodes, branches, points, everywhere, shape, spacing, report)
