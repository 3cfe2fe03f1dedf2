"""The end of a job: Slicer's scene, the report, and the summary on standard output."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from . import report, segmenting, skeletonizing
from .progress_bar import Stopwatch
from .writing.report_file import write_report
from .writing.slicer_scene import write_slicer_scene


def write_both(
    folder: Path,
    inputs: segmenting.Inputs,
    outcome: segmenting.Outcome,
    found: skeletonizing.Outcome,
    watch: Stopwatch,
) -> None:
    """Write all files of a segmentation and of its centrelines."""
    origin = segmenting.write(folder, inputs, outcome, watch)
    labelmap = outcome.result.labelmapNode
    skeletonizing.write(folder, labelmap, None, found, watch, inputs.title)
    found.warnings = [note for note in found.warnings if note not in outcome.warnings]
    finish(folder, watch, origin, inputs, outcome, found)


def write_vessels(
    folder: Path,
    inputs: segmenting.Inputs,
    outcome: segmenting.Outcome,
    options: Namespace,
    watch: Stopwatch,
) -> dict[int, skeletonizing.Outcome]:
    """Write all files of several vessels, and a tree of each that has any voxel.

    Warnings of the trees are added to those of the segmentation.
    """
    origin = segmenting.write(folder, inputs, outcome, watch)
    there = [vessel for vessel in outcome.result.vessels if vessel.volumeMl > 0]
    titles = {vessel.label: f"{inputs.title}, {vessel.name}" for vessel in there}
    labelmap = outcome.result.labelmapNode
    found = skeletonizing.write_labels(folder, labelmap, titles, options, watch)
    outcome.segmentation.GetDisplayNode().SetOpacity3D(segmenting.CLEAR)
    names = {vessel.label: vessel.name for vessel in there}
    for label, each in found.items():
        outcome.warnings += [f"{names[label]}: {note}" for note in each.warnings]
    finish(folder, watch, origin, inputs, outcome, trees=found)
    return found


def finish(
    folder: Path,
    watch: Stopwatch,
    origin: dict,
    inputs: segmenting.Inputs,
    outcome: segmenting.Outcome,
    found: skeletonizing.Outcome | None = None,
    trees: dict[int, skeletonizing.Outcome] | None = None,
) -> None:
    """Write the scene and the report of a segmentation, and of its centrelines if there are any."""
    watch.stage("Writing the scene")
    write_slicer_scene(folder, inputs.volume, segmenting.focus(inputs))
    watch.stage(None)
    content = {**report.heading(origin), **report.segmentation(outcome)}
    steps = {"connectedness": outcome.result.scene.seconds}
    notes = list(outcome.warnings)
    if found:
        content |= report.skeleton(found)
        steps["finding centrelines"] = found.skeleton.report["seconds"]
        notes += found.warnings
    if trees:
        content |= _report_of_trees(trees)
        steps |= _seconds_of_trees(trees)
    write_report(folder, content | report.ending(watch.seconds, notes, **steps))


def finish_skeleton(
    folder: Path, watch: Stopwatch, origin: dict, labelmap: Any, found: skeletonizing.Outcome
) -> None:
    """Write the scene and the report of centrelines alone."""
    write_slicer_scene(folder, labelmap, skeletonizing.focus(found))
    watch.stage(None)
    content = {**report.heading(origin), **report.skeleton(found)}
    steps = {"finding centrelines": found.skeleton.report["seconds"]}
    write_report(folder, content | report.ending(watch.seconds, found.warnings, **steps))


def finish_labels(
    folder: Path,
    watch: Stopwatch,
    origin: dict,
    labelmap: Any,
    found: dict[int, skeletonizing.Outcome],
) -> list[str]:
    """Write the scene and the report of one tree for each label; return the warnings of all."""
    write_slicer_scene(folder, labelmap, skeletonizing.focus(next(iter(found.values()))))
    watch.stage(None)
    steps = _seconds_of_trees(found)
    warnings = [f"Label {label}: {note}" for label, each in found.items() for note in each.warnings]
    content = {**report.heading(origin), **_report_of_trees(found)}
    write_report(folder, content | report.ending(watch.seconds, warnings, **steps))
    return warnings


def _report_of_trees(found):
    return {
        "skeletons": {
            str(label): report.skeleton(each)["skeleton"] for label, each in found.items()
        }
    }


def _seconds_of_trees(found):
    return {
        f"label {label}: finding centrelines": each.skeleton.report["seconds"]
        for label, each in found.items()
    }


def summary_of_vessels(
    options: Namespace,
    watch: Stopwatch,
    outcome: segmenting.Outcome,
    found: dict[int, skeletonizing.Outcome],
) -> list[str]:
    """Return the lines that the user reads at the end, for several vessels and a tree of each."""
    return [*segmenting.summary(outcome), *summary_of_labels(options, watch, found)]


def summary_of_labels(
    options: Namespace, watch: Stopwatch, found: dict[int, skeletonizing.Outcome]
) -> list[str]:
    """Return the lines that the user reads at the end, for one tree a label."""
    lines = [
        f"label {label:<5}{line.removeprefix('skeleton').strip()}"
        for label, each in found.items()
        for line in skeletonizing.summary(each)[:1]
    ]
    lines.append(f"computed   {sum(watch.seconds.values()):.1f} s in all")
    return [*lines, f"results    {Path(options.out).resolve()}"]


def summary(
    options: Namespace,
    watch: Stopwatch,
    outcome: segmenting.Outcome | None,
    found: skeletonizing.Outcome | None = None,
) -> list[str]:
    """Return the lines that the user reads at the end."""
    lines, computed = [], []
    if outcome is not None:
        lines += segmenting.summary(outcome)
        computed.append(segmenting.computed(outcome))
    if found is not None:
        lines += skeletonizing.summary(found)
        computed.append(skeletonizing.computed(found))
    computed.append(f"{sum(watch.seconds.values()):.1f} s in all")
    lines.append(f"computed   {', '.join(computed)}")
    return [*lines, f"results    {Path(options.out).resolve()}"]
