"""The jobs of the command line: segment, skeleton, both in a run or on a phantom, and so on.

Each takes the parsed arguments and a `ProgressBar`, and returns a `Report`. Libraries are imported
by the job that needs them: the help comes at once.
"""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from FuzzyVesselCoreLib.errors import InputError

from .progress_bar import ProgressBar, Stopwatch
from .writing.formats import check_label_formats

CASES_FAILED = 3  # exit status
CLEAR = 0.35  # opacity of the vessels in 3D where there are centrelines in them


class Report(NamedTuple):
    """What a job has to say, and the exit status."""

    lines: list[str]
    warnings: list[str]
    status: int = 0


def segment(options: Namespace, progress: ProgressBar) -> Report:
    """Segment a file.

    Raises
    ------
    FuzzyVesselError
        The arguments or files cannot be used, or the results cannot be written.
    Cancelled
    """
    check_segmentation(options)
    return _segment(options, progress, centrelines=False)


def run(options: Namespace, progress: ProgressBar) -> Report:
    """Segment a file and find the centrelines; raises as `segment`."""
    check_segmentation(options)
    check_centrelines(options)
    return _segment(options, progress, centrelines=True)


def demo(options: Namespace, progress: ProgressBar) -> Report:
    """Do what `run` does on the liver phantom; raises as `segment`."""
    options.threshold, options.cut, options.mask = None, None, None
    check_segmentation(options)
    check_centrelines(options)
    return _segment(options, progress, centrelines=True)


def _segment(options, progress, centrelines):
    with _job(options, progress) as (folder, watch):
        from . import segmenting, skeletonizing

        phantom = None
        if options.command == "demo":
            from FuzzyVesselCoreLib.phantom.liver import liver_phantom

            watch.stage("Making the phantom")
            phantom = liver_phantom((options.size,) * 3, options.seed_number)
            inputs = segmenting.phantom_inputs(phantom, options)
            segmenting.write_phantom(folder, inputs, phantom)
        else:
            watch.stage("Reading")
            inputs = segmenting.read_inputs(options)
        outcome = segmenting.segment(inputs, options, watch)
        if phantom is not None:
            found, known = outcome.labels & phantom.liver, phantom.mask & phantom.liver
            outcome.dice = segmenting.dice(found, known)
        segmenting.write(folder, inputs, outcome, watch)
        trees = []
        if centrelines:
            wanted = [skeletonizing.Wanted(None, inputs.title)]
            if len(inputs.vessels) > 1:
                wanted = [
                    skeletonizing.Wanted(each.label, f"{inputs.title}, {each.name}", each.name)
                    for each in outcome.result.vessels
                    if each.volumeMl > 0
                ]
            labelmap = outcome.result.labelmapNode
            trees = skeletonizing.find(folder, labelmap, wanted, options, watch, phantom)
            # The surface gets clear, so that the centrelines are seen in it.
            outcome.segmentation.GetDisplayNode().SetOpacity3D(CLEAR)
        focus = inputs.vessels[0].GetNthControlPointPositionWorld(0)
        return _finish(options, folder, watch, inputs.origin, outcome, trees, inputs.volume, focus)


def skeleton(options: Namespace, progress: ProgressBar) -> Report:
    """Find the centrelines of a labelmap, or of each of its labels; raises as `segment`."""
    _check_output(options)
    check_centrelines(options)
    _existing(options.labelmap)
    with _job(options, progress) as (folder, watch):
        from . import skeletonizing

        watch.stage("Reading")
        labelmap, origin, wanted, notes = skeletonizing.read_input(options)
        trees = skeletonizing.find(folder, labelmap, wanted, options, watch)
        trees[0].warnings[:0] = notes
        focus = skeletonizing.focus(trees[0])
        return _finish(options, folder, watch, origin, None, trees, labelmap, focus)


def _finish(options, folder, watch, origin, outcome, trees, volume, focus):
    """Write Slicer's scene and the report; returns what the user reads."""
    from . import report
    from .writing.nodes import write_slicer_scene
    from .writing.report_file import write_report

    watch.stage("Writing the scene")
    write_slicer_scene(folder, volume, focus)
    watch.stage(None)
    notes = list(outcome.warnings) if outcome else []
    for tree in trees:
        called = tree.wanted.called
        more = [f"{called}: {note}" if called else note for note in tree.warnings]
        notes += [note for note in more if note not in notes]
    write_report(folder, report.content(origin, outcome, trees, watch.seconds, notes))
    return Report(report.summary(outcome, trees, watch.seconds, options.out), notes)


def cohort(options: Namespace, progress: ProgressBar) -> Report:
    """Do what `run` does for each case of a list; raises as `segment`.

    The status is `CASES_FAILED` if any case is not done.
    """
    from .cohort import run_cohort

    lines, failures = run_cohort(options, progress)
    return Report(lines, failures, CASES_FAILED if failures else 0)


def large(options: Namespace, progress: ProgressBar) -> Report:
    """Label a scene that does not fit in memory, and find its centrelines; raises as `segment`."""
    from .large import run_large

    return Report(*run_large(options, progress))


def slicer_cli(options: Namespace, progress: ProgressBar) -> Report:
    """Write the CLI modules for Slicer; raises as `segment`."""
    from .slicer_cli.programs import write_wrappers

    return Report([str(path) for path in write_wrappers(options.folder)], [])


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


# What can be said about the arguments before a large volume is read.


def check_segmentation(options: Namespace) -> None:
    """Check the arguments of a segmentation."""
    from FuzzyConnectedGPULib import SOLVERS
    from FuzzyConnectedGPULib.threshold.gaps import check_rounds
    from FuzzyVesselCoreLib.gpu.selection import choose_device

    _check_output(options)
    if options.solver is not None and options.solver not in SOLVERS:
        raise InputError(f"unknown solver {options.solver!r}: use {', '.join(SOLVERS)}.")
    choose_device(options.device)
    check_rounds(options.fill_gaps)
    if options.threshold is not None and options.threshold < (options.cut or 0):
        raise InputError(
            f"the threshold {options.threshold:g} lies below the cut {options.cut:g}, where "
            "nothing is computed: lower --cut or raise --threshold."
        )
    if options.command == "demo":
        return
    if options.vessel:
        _check_vessels(options)
    elif not (options.seed or options.seeds or options.automatic_seeds):
        raise InputError(
            "there is no seed: give voxels inside the vessels with --seed I,J,K (Slicer shows "
            "I,J,K under the mouse), or with --vessel NAME:I,J,K for several vessels, a list of "
            "points with --seeds FILE.mrk.json, or let the program find them with "
            "--automatic-seeds 6."
        )
    for path in (options.volume, options.seeds, options.mask):
        if path:
            _existing(path)


def check_centrelines(options: Namespace) -> None:
    """Check how a skeleton is to be made; raises as `check_segmentation`."""
    from FuzzyVesselCoreLib.gpu.selection import choose_device
    from PotentialSkeletonLib.field.force_field import check_options

    choose_device(options.device)
    check_options(options.strength, "auto", options.charge_distance or 0)
    for name in ("drop_islands", "close_tunnels"):
        value = getattr(options, name)
        if value is not None and not 0 <= value < float("inf"):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} {value:g} is not possible: give a number from 0 up.")


def _check_vessels(options):
    """Vessels with names have no points beside theirs, and no voxel has two names."""
    for name in ("seed", "seeds", "automatic_seeds"):
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"--vessel and {option} do not go together: give all points with "
                "--vessel NAME:I,J,K."
            )
    names: dict = {}
    for name, voxel in options.vessel:
        other = names.setdefault(voxel, name)
        if other != name:
            place = ",".join(map(str, voxel))
            raise InputError(
                f"--vessel {place} is a point of {other!r} and of {name!r}: leave one out."
            )


def _check_output(options):
    """The output folder is replaced as a whole, so no input may lie in it."""
    out = Path(options.out).resolve()
    for name in ("volume", "labelmap", "seeds", "mask"):
        given = getattr(options, name, None)
        if given and out in (Path(given).resolve(), *Path(given).resolve().parents):
            raise InputError(
                f"{given} lies in the output folder {options.out}, which is replaced: "
                "choose another folder with --out."
            )
    check_label_formats(options.label_formats)


def _existing(path):
    from .reading.volumes import existing

    existing(path)
