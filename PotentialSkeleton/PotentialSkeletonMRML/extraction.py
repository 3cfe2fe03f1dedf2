"""From objects in the scene to their skeletons; several are written together or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.progress import ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _

from .branch_tools.steps import begin_anew
from .computation import compute
from .kept_result import keep_as_written
from .output_requests import Requests
from .outputs import write_all
from .result import SkeletonResult
from .segment_input import segment_named
from .solid_input import SolidInput, read_solid


@dataclass(frozen=True)
class Job:
    """An object, and which outputs are wanted of its skeleton."""

    solid: SolidInput
    requests: Requests


def extract_all(
    jobs: Sequence[Job], options: dict, progress: ProgressCallback | None
) -> list[SkeletonResult]:
    """Find the skeleton of each object, then write all outputs.

    Parameters
    ----------
    jobs : sequence of Job
    options : dict
        Of `PotentialSkeletonLib.skeletonize`.
    progress : callable or None

    Returns
    -------
    list of SkeletonResult
        In the order of the jobs.
    """
    given: list[Any] = []
    for job in jobs:
        job.requests.check(job.solid)
        for _output, node in job.requests.nodes():
            if node in given:
                raise InputError(
                    _("{node} was given for two trees; choose another.").format(
                        node=node_name(node)
                    )
                )
            given.append(node)
    found = []
    for job, part in zip(jobs, _parts(jobs, progress)):
        part = job.requests.while_present(job.solid, part)
        found.append(compute(job.solid, options, job.requests.wants("fieldNode"), part))
    for job in jobs:
        job.requests.check_present(job.solid)
    results = write_all(
        [(job.solid, *pair, job.requests) for job, pair in zip(jobs, found, strict=True)]
    )
    for job, result in zip(jobs, results, strict=True):
        begin_anew(result.modelNode)
        if result.modelNode is not None:
            keep_as_written(result, job.solid)
        result.warnings = [*job.solid.warnings, *result.skeleton.report["warnings"]]
    return results


def segment_jobs(
    node: Any, segment_ids: Sequence[str] | None, requests_of: Callable[[str], Requests]
) -> list[Job]:
    """One job a segment.

    Parameters
    ----------
    node : vtkMRMLSegmentationNode
    segment_ids : sequence of str or None
        IDs or names; None for all that are shown.
    requests_of : callable
        ``requests_of(segment_id)``.

    Raises
    ------
    InputError
        If the node is no segmentation, there is no segment, or one is named twice or empty.
    """
    if node is None or not node.IsA("vtkMRMLSegmentationNode"):
        raise InputError(_("Several trees need a segmentation, with a segment for each of them."))
    ids = visible_segments(node) if segment_ids is None else list(segment_ids)
    if not ids:
        shown = segment_ids is None
        why = _("no segment of it is shown") if shown else _("no segment was named")
        raise InputError(
            _("There is nothing to do in {node}: {reason}.").format(
                node=node_name(node), reason=why
            )
        )
    ids = [segment_named(node, each) for each in ids]
    twice = next((each for each in ids if ids.count(each) > 1), None)
    if twice is not None:
        name = node.GetSegmentation().GetSegment(twice).GetName()
        raise InputError(_("The segment '{name}' was named twice.").format(name=name))
    return [Job(read_solid(node, each), requests_of(each)) for each in ids]


def visible_segments(node: Any) -> list[str]:
    """IDs of the segments that are shown; all where nothing says which are."""
    ids, display = list(node.GetSegmentation().GetSegmentIDs()), node.GetDisplayNode()
    return ids if display is None else [i for i in ids if display.GetSegmentVisibility(i)]


def _parts(jobs, progress):
    """A progress callback for each job; larger objects take a larger share."""
    if progress is None:
        return [None] * len(jobs)
    sizes = [int(job.solid.mask.sum()) for job in jobs]
    total, before, parts = sum(sizes), 0, []
    for size in sizes:
        start, share = before / total, size / total
        parts.append(lambda done, start=start, share=share: progress(start + share * done))
        before += size
    return parts
