"""The jobs of the command line: segment, skeleton, both in a run or on a phantom, and so on.

Each takes the parsed arguments and a `ProgressBar`, and returns the lines of its summary and its
warnings. Libraries are imported by the job that needs them: the help comes at once.
"""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .input_checks import check_segmentation, check_skeleton
from .progress_bar import ProgressBar, Stopwatch

Texts = tuple[list[str], list[str]]  # summary and warnings
CASES_FAILED = 3  # exit status


class Report(NamedTuple):
    """What a job has to say, and the exit status."""

    lines: list[str]
    warnings: list[str]
    status: int = 0


PHANTOM = "phantom.nrrd"
PHANTOM_VESSELS = "phantom-vessels.nrrd"


def segment(options: Namespace, progress: ProgressBar) -> Texts:
    """Segment a file.

    Raises
    ------
    FuzzyVesselError
        The arguments or files cannot be used, or the results cannot be written.
    Cancelled
    """
    check_segmentation(options)
    with _job(options, progress) as (folder, watch):
        from . import results, segmenting

        watch.stage("Reading")
        inputs = segmenting.read_inputs(options)
        outcome = segmenting.segment(inputs, options, watch)
        origin = segmenting.write(folder, inputs, outcome, watch)
        results.finish(folder, watch, origin, inputs, outcome)
    return results.summary(options, watch, outcome), outcome.warnings


def skeleton(options: Namespace, progress: ProgressBar) -> Texts:
    """Find the centrelines of a labelmap; raises as `segment`."""
    check_skeleton(options)
    if options.labels:
        return _skeletons(options, progress)
    with _job(options, progress) as (folder, watch):
        from . import results, skeletonizing

        watch.stage("Reading")
        labelmap, origin, notes = skeletonizing.read_input(options)
        found = skeletonizing.extract(labelmap, options.label, options, watch)
        found.warnings[:0] = notes
        title = Path(options.labelmap).resolve().name
        skeletonizing.write(folder, labelmap, options.label, found, watch, title)
        results.finish_skeleton(folder, watch, origin, labelmap, found)
    return results.summary(options, watch, None, found), found.warnings


def _skeletons(options, progress):
    """The centrelines of several labels, a tree each."""
    with _job(options, progress) as (folder, watch):
        from . import results, skeletonizing

        watch.stage("Reading")
        labelmap, origin, labels, notes = skeletonizing.read_labels(options)
        title = Path(options.labelmap).resolve().name
        titles = {label: f"{title}, label {label}" for label in labels}
        found = skeletonizing.write_labels(folder, labelmap, titles, options, watch)
        warnings = results.finish_labels(folder, watch, origin, labelmap, found)
    return results.summary_of_labels(options, watch, found), [*notes, *warnings]


def run(options: Namespace, progress: ProgressBar) -> Texts:
    """Segment a file and find the centrelines; raises as `segment`."""
    check_segmentation(options)
    check_skeleton(options)
    with _job(options, progress) as (folder, watch):
        from . import results, segmenting

        watch.stage("Reading")
        inputs = segmenting.read_inputs(options)
        outcome = segmenting.segment(inputs, options, watch)
        if len(inputs.vessels) > 1:
            found = results.write_vessels(folder, inputs, outcome, options, watch)
            return results.summary_of_vessels(options, watch, outcome, found), outcome.warnings
        found = _centrelines(outcome, options, watch)
        results.write_both(folder, inputs, outcome, found, watch)
    return results.summary(options, watch, outcome, found), outcome.warnings + found.warnings


def demo(options: Namespace, progress: ProgressBar) -> Texts:
    """Do what `run` does on the liver phantom; raises as `segment`."""
    options.threshold, options.cut, options.mask = None, None, None
    check_segmentation(options)
    check_skeleton(options)
    with _job(options, progress) as (folder, watch):
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        from . import results, segmenting
        from .skeletonizing.centreline_distance import distances

        watch.stage("Making the phantom")
        phantom = liver_phantom((options.size,) * 3, options.seed_number)
        inputs = segmenting.phantom_inputs(phantom, options)
        outcome = segmenting.segment(inputs, options, watch)
        outcome.dice = segmenting.dice(outcome.labels & phantom.liver, phantom.mask & phantom.liver)
        found = _centrelines(outcome, options, watch)
        found.distances = distances(found.skeleton, phantom)
        segmenting.write_phantom(folder, inputs, phantom, PHANTOM, PHANTOM_VESSELS)
        results.write_both(folder, inputs, outcome, found, watch)
    return results.summary(options, watch, outcome, found), outcome.warnings + found.warnings


def cohort(options: Namespace, progress: ProgressBar) -> Report:
    """Do what `run` does for each case of a list; raises as `segment`.

    The status is `CASES_FAILED` if any case is not done.
    """
    from .cohort import running, summary

    record = running.run_cohort(running.cohort_of(options), progress)
    lines, failures = summary.summary(record)
    return Report(lines, failures, CASES_FAILED if failures else 0)


def large(options: Namespace, progress: ProgressBar) -> Texts:
    """Label a scene that does not fit in memory, and find its centrelines; raises as `segment`."""
    from .large.running import run_large

    return run_large(options, progress)


def slicer_cli(options: Namespace, progress: ProgressBar) -> Texts:
    """Write the CLI modules for Slicer; raises as `segment`."""
    from .report import version
    from .slicer_cli.wrappers import write_wrappers

    return [str(path) for path in write_wrappers(options.folder, version())], []


@contextmanager
def _job(options: Namespace, progress: ProgressBar) -> Iterator[tuple[Path, Stopwatch]]:
    """The folder of results and the stopwatch of a job, with an empty scene and no VTK messages."""
    from .writing.output_folder import OutputFolder

    watch = Stopwatch(progress)
    with OutputFolder(options.out) as folder:
        watch.stage("Starting")
        from .slicer_host import headless

        headless.start().clear()
        with headless.vtk_messages():
            yield folder, watch


def _centrelines(outcome, options, watch):
    """The centrelines of a segmentation; its surface gets clear, so that they are seen in it."""
    from . import segmenting, skeletonizing

    found = skeletonizing.extract(outcome.result.labelmapNode, None, options, watch)
    outcome.segmentation.GetDisplayNode().SetOpacity3D(segmenting.CLEAR)
    return found
