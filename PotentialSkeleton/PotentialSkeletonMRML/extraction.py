"""From objects in the scene to their skeletons: all are computed, then all are written."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.ownership import check_apart
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.progress import ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import skeletonize

from .outputs import Requests, write_all
from .run_nodes import SkeletonResult, refer_to_outputs
from .solid import SolidInput
from .tree_steps import begin_anew


def extract_all(
    jobs: Sequence[tuple[SolidInput, Requests]],
    options: dict,
    progress: ProgressCallback | None,
    wait: Callable[..., Any] | None = None,
) -> list[SkeletonResult]:
    """Find the skeleton of each object, then write all outputs.

    `options` are those of `PotentialSkeletonLib.skeletonize`. ``wait(work, progress)``, where it is
    given, returns ``work(progress)``, for example of another thread.
    """
    given = [node for _solid, requests in jobs for node in requests.nodes()]
    for solid, requests in jobs:
        check_apart(requests.nodes(), {_("input"): solid.node})
    for node in given:
        if given.count(node) > 1:
            raise InputError(
                _("{node} was given for two outputs; choose another.").format(node=node_name(node))
            )
    sizes, done, found = [int(solid.mask.sum()) for solid, _requests in jobs], 0, []
    for (solid, requests), size in zip(jobs, sizes):
        part = _watched(solid, requests, progress, done / sum(sizes), size / sum(sizes))
        compute = partial(_compute, solid, options)
        found.append((solid, wait(compute, part) if wait else compute(part), requests))
        done += size
    return write_skeletons(found)


def write_skeletons(found: list[tuple[SolidInput, Any, Requests]]) -> list[SkeletonResult]:
    """Write the outputs of objects whose skeletons are there: all, or none."""
    for solid, _skeleton, requests in found:
        requests.check_present(solid)
    results = write_all(found)
    for (solid, _skeleton, _requests), result in zip(found, results, strict=True):
        if result.modelNode is not None:
            refer_to_outputs(result, solid)
            begin_anew(result.modelNode)
        result.warnings = [*solid.warnings, *result.skeleton.report["warnings"]]
    return results


def _compute(solid: SolidInput, options: dict, progress: ProgressCallback | None) -> Any:
    return skeletonize(solid.mask, solid.spacing, progress=progress, **options)


def _watched(
    solid: SolidInput,
    requests: Requests,
    progress: ProgressCallback | None,
    start: float,
    share: float,
) -> ProgressCallback | None:
    """A callback for a share of the run; the run ends when its input or a node to fill goes."""
    if progress is None:
        return None  # nobody else gets a turn in the meantime

    def go_on(fraction: float) -> bool | None:
        carry_on = progress(start + share * fraction)
        requests.check_present(solid)
        return carry_on

    return go_on
