"""One tree for each of several labels: a folder each, and one table of all branches."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.graph.exports import table_text

from ..progress_bar import Stopwatch
from ..reading import labelmaps, stacks
from ..writing import nodes
from .extraction import Outcome, extract, input_origin
from .files import write

ALL = "all"


def read_labels(options: Namespace) -> tuple[Any, dict, list[int], list[str]]:
    """Read the labelmap that the user named, and which of its labels are wanted.

    Returns
    -------
    node : vtkMRMLLabelMapVolumeNode
    origin : dict
        For the report.
    labels : list of int
    notes : list of str

    Raises
    ------
    InputError
        A label is not there.
    """
    node, values = labelmaps.read_labelmap(options.labelmap, None, stacks.Choice.of(options))
    there = [int(label) for label in values]
    labels = there if options.labels == ALL else list(options.labels)
    missing = [str(label) for label in labels if label not in there]
    if missing:
        listed = ", ".join(str(label) for label in there[: labelmaps.MAX_LISTED])
        raise InputError(f"{options.labelmap}: there is no label {missing[0]}; there are {listed}.")
    return node, input_origin(options, node, values), labels, stacks.notes_of(node)


def write_labels(
    folder: Path, labelmap: Any, titles: dict[int, str], options: Namespace, watch: Stopwatch
) -> dict[int, Outcome]:
    """Find the tree of each label and write its files into the folder label-N.

    `branches.csv` beside these folders has the branches of all trees, with the column label.

    Parameters
    ----------
    folder : Path
    labelmap : vtkMRMLLabelMapVolumeNode
    titles : dict
        By label, the title of its picture.
    options : Namespace
    watch : Stopwatch

    Raises
    ------
    FuzzyVesselError
        The options cannot be used, or the device fails.
    OSError
        A file could not be written.
    Cancelled
    """
    found = {}
    joint: dict[str, list] = {}
    for label, title in titles.items():
        outcome = extract(labelmap, label, options, watch)
        own = folder / f"label-{label}"
        own.mkdir()
        write(own, labelmap, label, outcome, watch, title)
        table = outcome.skeleton.to_table()
        rows = len(table["branch"])
        for column, values in {"label": [label] * rows, **table}.items():
            joint.setdefault(column, []).extend(values)
        found[label] = outcome
    table_text(joint, folder / nodes.BRANCHES)
    return found
