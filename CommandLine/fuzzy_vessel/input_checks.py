"""What can be said about the arguments before a large volume is read."""

from argparse import Namespace
from pathlib import Path

from FuzzyConnectedGPULib import SOLVERS
from FuzzyConnectedGPULib.threshold.gaps import check_rounds
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.selection import choose_device

from .reading.refusals import existing
from .writing.label_files import check_label_formats


def check_segmentation(options: Namespace) -> None:
    """Check the arguments of a segmentation.

    Raises
    ------
    InputError
        The message names the argument and what to do.
    """
    _refuse_overwriting(options)
    check_label_formats(options.label_formats)
    reads_file = options.command != "demo"
    if options.solver is not None and options.solver not in SOLVERS:
        raise InputError(f"unknown solver {options.solver!r}: use {', '.join(SOLVERS)}.")
    choose_device(options.device)
    check_rounds(options.fill_gaps)
    if reads_file and options.vessel:
        _check_vessels(options)
    elif reads_file and not (options.seed or options.seeds or options.automatic_seeds):
        raise InputError(
            "there is no seed: give voxels inside the vessels with --seed I,J,K (Slicer shows "
            "I,J,K under the mouse), or with --vessel NAME:I,J,K for several vessels, a list of "
            "points with --seeds FILE.mrk.json, or let the program find them with "
            "--automatic-seeds 6."
        )
    if options.threshold is not None and options.threshold < (options.cut or 0):
        raise InputError(
            f"the threshold {options.threshold:g} lies below the cut {options.cut:g}, where "
            "nothing is computed: lower --cut or raise --threshold."
        )
    if reads_file:
        for path in (options.volume, options.seeds, options.mask):
            if path:
                existing(path)


def _check_vessels(options):
    """Vessels with names have no points beside theirs, and no voxel has two names."""
    for name in ("seed", "seeds", "automatic_seeds"):
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"--vessel and {option} do not go together: give all points with "
                "--vessel NAME:I,J,K."
            )
    names = {}
    for name, voxel in options.vessel:
        other = names.setdefault(voxel, name)
        if other != name:
            place = ",".join(map(str, voxel))
            raise InputError(
                f"--vessel {place} is a point of {other!r} and of {name!r}: leave one out."
            )


def check_skeleton(options: Namespace) -> None:
    """Check the arguments of a skeleton; raises as `check_segmentation`."""
    _refuse_overwriting(options)
    check_label_formats(options.label_formats)
    check_centrelines(options)
    if options.command == "skeleton":
        existing(options.labelmap)


def check_centrelines(options: Namespace) -> None:
    """Check how a skeleton is to be made; raises as `check_segmentation`."""
    from PotentialSkeletonLib.field.force_field import check_options

    choose_device(options.device)
    check_options(options.strength, "auto", options.charge_distance or 0)
    for name in ("drop_islands", "close_tunnels"):
        value = getattr(options, name)
        if value is not None and not 0 <= value < float("inf"):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} {value:g} is not possible: give a number from 0 up.")


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
