"""The jobs of the command line: segment, skeleton, both in a run or on a phantom; the page.

Each takes the parsed arguments and a `Progress`, and returns a `Report`; it raises a
`FuzzyVesselError` for arguments and files that cannot be used, and `Cancelled`. Libraries are
imported by the job that needs them: the help comes at once.
"""

import importlib
import importlib.util
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from FuzzyVesselCoreLib.errors import InputError

from .progress import Progress

CLEAR = 0.35  # opacity of the vessels in 3D where there are centrelines in them


class Report(NamedTuple):
    """What a job has to say, and the exit status."""

    lines: list[str]
    warnings: list[str]
    status: int = 0


def run(options: Namespace, progress: Progress) -> Report:
    """Segment a file or a phantom, and find the centrelines where that is asked for."""
    check_run(options)
    if options.command != "segment":
        check_centrelines(options)
    with _job(options, progress) as folder:
        from . import segmenting, skeletonizing

        inputs = segmenting.read_inputs(options, progress)
        outcome = segmenting.segment(inputs, options, progress)
        segmenting.write(folder, inputs, outcome, options, progress)
        trees, result = [], outcome.result
        if options.command != "segment":
            wanted = [skeletonizing.Wanted(None, inputs.title)]
            if len(inputs.vessels) > 1:
                wanted = [
                    skeletonizing.Wanted(each.label, f"{inputs.title}, {each.name}", each.name)
                    for each in result.vessels
                    if each.volumeMl > 0
                ]
            trees = skeletonizing.find(folder, result.labelmapNode, wanted, options, progress)
            # The surface gets clear, so that the centrelines are seen in it.
            outcome.segmentation.GetDisplayNode().SetOpacity3D(CLEAR)
        focus = inputs.vessels[0].GetNthControlPointPositionWorld(0)
        origin, volume = inputs.origin, inputs.volume
        return _finish(options, folder, progress, origin, outcome, trees, volume, focus)


segment = demo = run


def skeleton(options: Namespace, progress: Progress) -> Report:
    """Find the centrelines of a labelmap, or of each of its labels."""
    _check_files(options)
    check_centrelines(options)
    with _job(options, progress) as folder:
        from . import skeletonizing

        progress.stage("Reading")
        labelmap, origin, wanted, notes = skeletonizing.read_input(options)
        trees = skeletonizing.find(folder, labelmap, wanted, options, progress)
        trees[0].warnings[:0] = notes
        # The slice views go through the place where the tree is widest.
        widest = max(trees[0].skeleton.nodes, key=lambda node: node.radius)
        focus = trees[0].result.ijkToRAS[:3] @ [*widest.position[::-1], 1.0]
        return _finish(options, folder, progress, origin, None, trees, labelmap, focus)


def _finish(options, folder, progress, origin, outcome, trees, volume, focus):
    """Write Slicer's scene and the report; returns what the user reads."""
    from . import report
    from .writing import write_report, write_slicer_scene

    progress.stage("Writing the scene")
    write_slicer_scene(folder, volume, focus)
    progress.stage("")
    notes = list(outcome.warnings) if outcome else []
    for tree in trees:
        head = f"{tree.wanted.called}: " if tree.wanted.called else ""
        notes += [head + note for note in tree.warnings if head + note not in notes]
    write_report(folder, report.content(origin, outcome, trees, progress.seconds, notes))
    return Report(report.summary(outcome, trees, progress.seconds, options.out), notes)


def serve(options: Namespace, _progress: Progress) -> Report:
    """Serve the page of `fuzzy_vessel_browser`, which stands on this package."""
    from FuzzyVesselCoreLib.gpu.device import choose_device

    choose_device(options.device)
    if options.volume is not None:
        from .reading.volumes import existing

        existing(options.volume)
    if importlib.util.find_spec("trame_slicer") is None:
        raise InputError(
            "the page needs trame-slicer, which is not installed; install it with: "
            "pip install 'fuzzy-vessel-gpu[mrml,browser]'"
        )
    from . import headless

    headless.start()
    server = importlib.import_module("fuzzy_vessel_browser.server")
    with headless.without_messages():
        server.serve(options)
    return Report([], [])


@contextmanager
def _job(options: Namespace, progress: Progress) -> Iterator[Path]:
    """The folder of results of a job, with an empty scene and no VTK messages."""
    from .writing import ResultsFolder

    with ResultsFolder(options.out) as folder:
        progress.stage("Starting")
        from . import headless

        headless.start().clear()
        with headless.without_messages():
            yield folder


# What can be said about the arguments before a large volume is read.


def check_run(options: Namespace) -> None:
    """Check the arguments of a segmentation."""
    from FuzzyConnectedGPULib import SOLVERS
    from FuzzyVesselCoreLib.gpu.device import choose_device

    _check_files(options)
    if options.solver is not None and options.solver not in SOLVERS:
        raise InputError(f"unknown solver {options.solver!r}: use {', '.join(SOLVERS)}.")
    choose_device(options.device)
    if options.command == "demo":
        return
    others = [name for name in ("seed", "seeds", "automatic_seeds") if getattr(options, name)]
    if options.vessel and others:
        raise InputError(
            f"--vessel and --{others[0].replace('_', '-')} do not go together: give all points "
            "with --vessel NAME:I,J,K."
        )
    if not (options.vessel or others):
        raise InputError(
            "there is no seed: give voxels inside the vessels with --seed I,J,K (Slicer shows "
            "I,J,K under the mouse), or with --vessel NAME:I,J,K for several vessels, a list of "
            "points with --seeds FILE.mrk.json, or let the program find them with "
            "--automatic-seeds 6."
        )


def check_centrelines(options: Namespace) -> None:
    """Check how a skeleton is to be made."""
    from FuzzyVesselCoreLib.gpu.device import choose_device
    from PotentialSkeletonLib import SkeletonOptions

    choose_device(options.device)
    SkeletonOptions(
        strength=options.strength,
        charge_distance=options.charge_distance,
        drop_islands=options.drop_islands,
        close_tunnels=options.close_tunnels or 0.0,
    )


def _check_files(options):
    """Inputs must be there; none may lie in the output folder, which is replaced as a whole."""
    from .reading.volumes import existing

    out = Path(options.out).resolve()
    for name in ("volume", "labelmap", "seeds", "mask"):
        given = getattr(options, name, None)
        if given and Path(given).resolve().is_relative_to(out):
            raise InputError(
                f"{given} lies in the output folder {options.out}, which is replaced: "
                "choose another folder with --out."
            )
        if given:
            existing(given)
