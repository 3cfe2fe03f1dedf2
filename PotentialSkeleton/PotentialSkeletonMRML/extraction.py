"""From objects in the scene to their skeletons: all are computed, then all are written."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from FuzzyVesselCoreLib.progress import ProgressCallback
from PotentialSkeletonLib import force_field, skeletonize

from .outputs import Requests, refuse_twice, write_all
from .run_nodes import SkeletonResult, keep_as_written
from .solid import SolidInput
from .tree_steps import begin_anew

# Share of a run after which the force field, where it is asked for, is summed once more.
FIELD_FROM = 0.7


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
    for solid, requests in jobs:
        requests.check(solid)
    refuse_twice([node for _solid, requests in jobs for _output, node in requests.nodes()])
    sizes = [int(solid.mask.sum()) for solid, _requests in jobs]
    found = []
    for number, (solid, requests) in enumerate(jobs):
        start, end = sum(sizes[:number]) / sum(sizes), sum(sizes[: number + 1]) / sum(sizes)
        part = requests.while_present(solid, _share(progress, start, end))
        compute = partial(_compute, solid, options, requests.wants("fieldNode"))
        skeleton, field = wait(compute, part) if wait else compute(part)
        found.append((solid, skeleton, field, requests))
    for solid, requests in jobs:
        requests.check_present(solid)
    results = write_all(found)
    for (solid, _requests), result in zip(jobs, results, strict=True):
        begin_anew(result.modelNode)
        if result.modelNode is not None:
            keep_as_written(result, solid)
        result.warnings = [*solid.warnings, *result.skeleton.report["warnings"]]
    return results


def _compute(
    solid: SolidInput, options: dict[str, Any], wants_field: bool, progress: ProgressCallback | None
) -> tuple[Any, Any]:
    """The skeleton and, where it is wanted, the force field; the scene is not touched."""
    first = _share(progress, 0.0, FIELD_FROM if wants_field else 1.0)
    skeleton = skeletonize(solid.mask, solid.spacing, progress=first, **options)
    if not wants_field:
        return skeleton, None
    distance = options["charge_distance"]
    if distance is None:  # the largest that was chosen
        distance = max((each for each in skeleton.report["charge_distances"] if each), default=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the skeleton's report has them
        field = force_field(
            solid.mask,
            options["strength"],
            method=options["method"],
            charge_distance=distance,
            device=options["device"],
            progress=_share(progress, FIELD_FROM, 1.0),
        )
    return skeleton, field


def _share(progress: ProgressCallback | None, start: float, end: float) -> ProgressCallback | None:
    """A callback for a part of the run, from `start` to `end`."""
    if progress is None:
        return None
    return lambda fraction: progress(start + fraction * (end - start))
