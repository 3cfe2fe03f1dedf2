"""The two jobs of the command line: segment a file, or a phantom to show what comes out."""

from pathlib import Path

from FuzzyConnectedGPULib import SOLVERS
from FuzzyVesselCommon.cuda import choose_device
from FuzzyVesselCommon.errors import InputError

from .output_folder import OutputFolder
from .stopwatch import Stopwatch

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
    _refuse_early(options)
    watch = Stopwatch(progress)
    with OutputFolder(options.out) as folder:
        watch.stage("Starting")
        from . import headless, segmenting

        headless.start().clear()
        with headless.vtk_messages():
            watch.stage("Reading")
            inputs = segmenting.read_inputs(options)
            outcome = segmenting.segment(inputs, options, watch)
            segmenting.write(folder, inputs, outcome, watch)
    return segmenting.summary(outcome, watch, options.out), outcome.warnings


def demo(options, progress):
    """Make the liver phantom and segment it; parameters and results as for `segment`."""
    options.threshold, options.cut, options.mask = None, 0.0, None
    _refuse_early(options)
    watch = Stopwatch(progress)
    with OutputFolder(options.out) as folder:
        watch.stage("Starting")
        from FuzzyVesselCommon.phantom import liver_phantom

        from . import headless, segmenting

        headless.start().clear()
        watch.stage("Making the phantom")
        phantom = liver_phantom((options.size,) * 3, options.seed_number)
        with headless.vtk_messages():
            inputs = segmenting.phantom_inputs(phantom, options)
            outcome = segmenting.segment(inputs, options, watch)
            liver = phantom.liver
            outcome.dice = segmenting.dice(outcome.labels & liver, phantom.mask & liver)
            segmenting.write_phantom(folder, inputs, phantom, PHANTOM, PHANTOM_VESSELS)
            segmenting.write(folder, inputs, outcome, watch)
    return segmenting.summary(outcome, watch, options.out), outcome.warnings


def _refuse_early(options):
    """What can be said before a large volume is read."""
    if options.solver not in SOLVERS:
        raise InputError(f"unknown solver {options.solver!r}: use {', '.join(SOLVERS)}.")
    choose_device(options.device)
    if options.command == "segment" and not options.seed and not options.seeds:
        raise InputError(
            "there is no seed: give voxels inside the vessels with --seed I,J,K (Slicer shows "
            "I,J,K under the mouse), or a list of points with --seeds FILE.mrk.json."
        )
    if options.threshold is not None and options.threshold < options.cut:
        raise InputError(
            f"the threshold {options.threshold:g} lies below the cut {options.cut:g}, where "
            "nothing is computed: lower --cut or raise --threshold."
        )
    if options.command == "segment" and not Path(options.volume).exists():
        raise InputError(f"{options.volume}: there is no such file or folder.")
