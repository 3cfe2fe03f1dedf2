"""The jobs of the command line: segment, skeleton, both in a run or on a phantom; benchmark."""

from pathlib import Path

from FuzzyConnectedGPULib import SOLVERS
from FuzzyConnectedGPULib.threshold.gaps import check_rounds
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import choose_device

from .stopwatch import Stopwatch
from .writing.output_folder import OutputFolder

# Opacity of the vessels in 3D where there are centrelines in them.
CLEAR = 0.35
PHANTOM = "phantom.nrrd"
PHANTOM_VESSELS = "phantom-vessels.nrrd"


def segment(options, progress):
    """Segment a file.

    Parameters
    ----------
    options : argparse.Namespace
    progress : ProgressBar

    Returns
    -------
    lines : list of str
        A summary.
    warnings : list of str
    """
    _refuse_segmentation(options)
    watch = Stopwatch(progress)
    with OutputFolder(options.out) as folder:
        segmenting = _start(watch)
        with _quiet():
            watch.stage("Reading")
            inputs = segmenting.read_inputs(options)
            outcome = segmenting.segment(inputs, options, watch)
            origin = segmenting.write(folder, inputs, outcome, watch)
            _finish(folder, watch, origin, inputs, outcome)
    return _summary(options, watch, outcome), outcome.warnings


def skeleton(options, progress):
    """Find the centrelines of a labelmap; parameters and results as for `segment`."""
    _refuse_skeleton(options)
    if not Path(options.labelmap).exists():
        raise InputError(f"{options.labelmap}: there is no such file or folder.")
    watch = Stopwatch(progress)
    with OutputFolder(options.out) as folder:
        _start(watch)
        from . import report, skeletonizing
        from .writing import writing

        with _quiet():
            watch.stage("Reading")
            labelmap, origin, notes = skeletonizing.read_input(options)
            outcome = skeletonizing.extract(labelmap, options.label, options, watch)
            outcome.warnings[:0] = notes
            title = Path(options.labelmap).resolve().name
            skeletonizing.write(folder, labelmap, options.label, outcome, watch, title)
            writing.write_slicer_scene(folder, labelmap, skeletonizing.focus(outcome))
            watch.stage(None)
            content = {**report.heading(origin), **report.skeleton(outcome)}
            steps = {"finding centrelines": outcome.skeleton.report["seconds"]}
            content |= report.ending(watch.seconds, outcome.warnings, **steps)
            writing.write_report(folder, content)
    return _summary(options, watch, None, outcome), outcome.warnings


def run(options, progress):
    """Segment a file and find the centrelines; parameters and results as for `segment`."""
    _refuse_segmentation(options)
    _refuse_skeleton(options)
    watch = Stopwatch(progress)
    with OutputFolder(options.out) as folder:
        segmenting = _start(watch)
        with _quiet():
            watch.stage("Reading")
            inputs = segmenting.read_inputs(options)
            outcome = segmenting.segment(inputs, options, watch)
            found = _centrelines(outcome, options, watch)
            _write_both(folder, inputs, outcome, found, watch)
    return _summary(options, watch, outcome, found), outcome.warnings + found.warnings


def demo(options, progress):
    """Do what `run` does on the liver phantom; parameters and results as for `segment`."""
    options.threshold, options.cut, options.mask = None, None, None
    _refuse_segmentation(options)
    _refuse_skeleton(options)
    watch = Stopwatch(progress)
    with OutputFolder(options.out) as folder:
        segmenting = _start(watch)
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        from .centreline_distance import distances

        watch.stage("Making the phantom")
        phantom = liver_phantom((options.size,) * 3, options.seed_number)
        with _quiet():
            inputs = segmenting.phantom_inputs(phantom, options)
            outcome = segmenting.segment(inputs, options, watch)
            liver = phantom.liver
            outcome.dice = segmenting.dice(outcome.labels & liver, phantom.mask & liver)
            found = _centrelines(outcome, options, watch)
            found.distances = distances(found.skeleton, phantom)
            segmenting.write_phantom(folder, inputs, phantom, PHANTOM, PHANTOM_VESSELS)
            _write_both(folder, inputs, outcome, found, watch)
    return _summary(options, watch, outcome, found), outcome.warnings + found.warnings


def benchmark(options, progress):
    """Time the solvers on this machine; parameters and results as for `segment`."""
    from .benchmark import running

    return running.run(options, progress)


def _start(watch):
    """Load the libraries, which takes a second, with a scene that is empty."""
    watch.stage("Starting")
    from . import segmenting
    from .slicer_host import headless

    headless.start().clear()
    return segmenting


def _quiet():
    from .slicer_host import headless

    return headless.vtk_messages()


def _centrelines(outcome, options, watch):
    """The centrelines of a segmentation; its surface gets clear, so that they are seen in it."""
    from . import skeletonizing

    found = skeletonizing.extract(outcome.result.labelmapNode, None, options, watch)
    outcome.segmentation.GetDisplayNode().SetOpacity3D(CLEAR)
    return found


def _write_both(folder, inputs, outcome, found, watch):
    from . import segmenting, skeletonizing

    origin = segmenting.write(folder, inputs, outcome, watch)
    labelmap = outcome.result.labelmapNode
    skeletonizing.write(folder, labelmap, None, found, watch, inputs.title)
    found.warnings = [note for note in found.warnings if note not in outcome.warnings]
    _finish(folder, watch, origin, inputs, outcome, found)


def _finish(folder, watch, origin, inputs, outcome, found=None):
    """Write Slicer's scene and the report."""
    from . import report, segmenting
    from .writing import writing

    watch.stage("Writing the scene")
    writing.write_slicer_scene(folder, inputs.volume, segmenting.focus(inputs))
    watch.stage(None)
    content = {**report.heading(origin), **report.segmentation(outcome)}
    steps = {"connectedness": outcome.result.scene.seconds}
    notes = list(outcome.warnings)
    if found:
        content |= report.skeleton(found)
        steps["finding centrelines"] = found.skeleton.report["seconds"]
        notes += found.warnings
    writing.write_report(folder, content | report.ending(watch.seconds, notes, **steps))


def _summary(options, watch, outcome=None, found=None):
    """The lines that the user reads at the end."""
    from . import segmenting, skeletonizing

    lines, computed = [], []
    for part, room in ((outcome, segmenting), (found, skeletonizing)):
        if part is not None:
            lines += room.summary(part)
            computed.append(room.computed(part))
    computed.append(f"{sum(watch.seconds.values()):.1f} s in all")
    lines.append(f"computed   {', '.join(computed)}")
    return [*lines, f"results    {Path(options.out).resolve()}"]


def _refuse_overwriting(options):
    """The output folder is replaced as a whole, so no input may lie in it."""
    out = Path(options.out).resolve()
    for name in ("volume", "labelmap", "seeds", "mask"):
        given = getattr(options, name, None)
        if given and out in (Path(given).resolve(), *Path(given).resolve().parents):
            raise InputError(
                f"{given} lies in the output folder {options.out}, which is replaced: "
                "choose another folder with --out."
            )


def _refuse_segmentation(options):
    """What can be said before a large volume is read."""
    _refuse_overwriting(options)
    reads_file = options.command != "demo"
    if options.solver is not None and options.solver not in SOLVERS:
        raise InputError(f"unknown solver {options.solver!r}: use {', '.join(SOLVERS)}.")
    choose_device(options.device)
    check_rounds(options.fill_gaps)
    if reads_file and not (options.seed or options.seeds or options.automatic_seeds):
        raise InputError(
            "there is no seed: give voxels inside the vessels with --seed I,J,K (Slicer shows "
            "I,J,K under the mouse), a list of points with --seeds FILE.mrk.json, or let the "
            "program find them with --automatic-seeds 6."
        )
    if options.threshold is not None and options.threshold < (options.cut or 0):
        raise InputError(
            f"the threshold {options.threshold:g} lies below the cut {options.cut:g}, where "
            "nothing is computed: lower --cut or raise --threshold."
        )
    if reads_file and not Path(options.volume).exists():
        raise InputError(f"{options.volume}: there is no such file or folder.")


def _refuse_skeleton(options):
    from PotentialSkeletonLib.field.force_field import check_options

    _refuse_overwriting(options)
    choose_device(options.device)
    check_options(options.strength, "auto", options.charge_distance or 0)
    for name in ("drop_islands", "close_tunnels"):
        value = getattr(options, name)
        if value is not None and not 0 <= value < float("inf"):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} {value:g} is not possible: give a number from 0 up.")
