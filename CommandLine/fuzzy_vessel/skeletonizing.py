"""Centrelines of labelmaps on the MRML scene: the module's logic, picture and files."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from PotentialSkeletonLib.curve_skeleton import table_text

from . import pictures, report, writing
from .progress import Progress
from .reading import volumes
from .reading.process import Choice, refuse_outside
from .rendering import CannotRender

# Noise leaves tunnels through a segmentation, each of which would become a loop: so many voxels
# wide they are closed, where the user has not chosen.
NOISE_VOXELS = 2
# Beyond it a list of curves is no help in Slicer: the model has all of them.
MAX_CURVES = 2000


class Wanted(NamedTuple):
    """A tree that is to be found: of a label (None: of all as one object), and its names."""

    label: int | None
    title: str  # of its picture
    called: str = ""  # beside others


@dataclass
class Outcome:
    """The centrelines of one object."""

    wanted: Wanted
    result: Any  # of PotentialSkeletonLogic.extract
    length: float  # of all branches, mm
    options: dict
    warnings: list[str]
    trees: dict = field(default_factory=dict)  # what `writing.write_trees` found

    @property
    def skeleton(self) -> Any:
        """The `PotentialSkeletonLib.CurveSkeleton`."""
        return self.result.skeleton


def read_input(options: Namespace) -> tuple[Any, dict, list[Wanted], list[str]]:
    """Read the user's labelmap; returns its node, origin (for the report), trees and notes."""
    given = () if options.labels == "all" else options.labels or ()
    if options.label is not None:
        given = (options.label,)
    node, there = volumes.read_labelmap(options.labelmap, given, Choice.of(options))
    title, notes = Path(options.labelmap).resolve().name, volumes.notes_of(node)
    wanted = [Wanted(options.label, title)]
    if options.labels:
        wanted = [Wanted(n, f"{title}, label {n}", f"Label {n}") for n in given or there]
    elif options.label is None and len(there) > 1:
        notes.append(
            f"The labelmap holds {len(there)} labels, which are taken as one object; "
            "--label N takes one of them, --labels all makes a tree of each."
        )
    origin = {
        "labelmap": str(Path(options.labelmap).resolve()),
        "label": options.label,
        "labels": there[: volumes.MAX_LABELS],
        "size": list(node.GetImageData().GetDimensions()),
        "spacing_mm": list(node.GetSpacing()),
    }
    return node, origin, wanted, notes


def find(
    folder: Path,
    labelmap: Any,
    wanted: Sequence[Wanted],
    options: Namespace,
    progress: Progress,
) -> list[Outcome]:
    """Find trees and write their files.

    A single tree goes into the folder itself; each of several into a folder label-N in it, and
    `branches.csv` beside these has the branches of all, with the column label.
    """
    found = []
    joint: dict[str, list] = {}
    for each in wanted:
        outcome = _extract(labelmap, each, options, progress)
        own = folder / f"label-{each.label}" if each.called else folder
        own.mkdir(exist_ok=True)
        _write(own, labelmap, outcome, options, progress)
        if each.called:
            table = outcome.skeleton.to_table()
            for column, values in {"label": [each.label] * len(table["branch"]), **table}.items():
                joint.setdefault(column, []).extend(values)
        found.append(outcome)
    if joint:
        table_text(joint, folder / writing.BRANCHES)
    return found


def _extract(labelmap, wanted, options, progress):
    """Let the module's logic find the centrelines."""
    from PotentialSkeleton import PotentialSkeletonLogic

    refuse_outside(options.root, labelmap.GetImageData().GetDimensions(), "--root")
    progress.stage("Finding centrelines")
    names = ("level", "strength", "charge_distance", "drop_islands", "close_tunnels")
    chosen = {name: getattr(options, name) for name in names}
    if chosen["close_tunnels"] is None:
        chosen["close_tunnels"] = NOISE_VOXELS * float(np.median(labelmap.GetSpacing()))
    result = PotentialSkeletonLogic().extract(
        labelmap,
        label=wanted.label,
        device=options.device,
        progress=progress,
        **chosen,
    )
    length = sum(result.skeleton.length(branch) for branch in result.skeleton.branches)
    return Outcome(wanted, result, length, chosen, list(result.warnings))


def _write(folder, labelmap, outcome, options, progress):
    """The picture and the files of one tree."""
    import slicer

    label, title, _ = outcome.wanted
    skeleton, result = outcome.skeleton, outcome.result
    values = slicer.util.arrayFromVolume(labelmap)
    labels = values != 0 if label is None else values == label
    if skeleton.branches:
        progress.stage("Drawing centrelines")
        subject = pictures.Subject(
            labels, labels.astype(np.uint8), ijk_to_ras(labelmap), skeleton.voxels[:1]
        )
        texts = title, report.size_text(labelmap), report.skeleton_caption(outcome)
        try:
            page = pictures.skeleton_picture(subject, skeleton, texts)
            pictures.save(page, folder / "skeleton.png")
        except CannotRender as reason:
            outcome.warnings.append(f"{reason}.")
    progress.stage("Writing centrelines")
    written = {"skeleton.nrrd": result.labelmapNode}
    if skeleton.branches:  # VTK writes no file without points
        written["centrelines.vtp"] = result.modelNode
    if options.nifti:
        written["skeleton.nii.gz"] = result.labelmapNode
    writing.write_nodes(folder, written)
    if 0 < len(result.curveNodes) <= MAX_CURVES:
        writing.write_curves(folder, result.curveNodes)
    outcome.trees, warnings = writing.write_trees(
        folder, skeleton, labels, result.ijkToRAS, options
    )
    outcome.warnings += warnings
