"""From a labelmap to the outcome of a skeleton, by the module's logic."""

from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..progress_bar import Stopwatch
from ..reading import labelmaps, stacks
from ..writing import tree_files

# Noise leaves tunnels through a segmentation, each of which would become a loop: so many voxels
# wide they are closed, where the user has not chosen.
NOISE_VOXELS = 2


@dataclass
class Outcome:
    """What came out.

    Attributes
    ----------
    result : PotentialSkeletonMRML.run_nodes.SkeletonResult
    length : float
        Of all branches, mm.
    options : dict
        What was asked for.
    warnings : list of str
    distances : dict or None
        To the known centrelines of a phantom.
    formats : tuple of str
        Of `tree_files.FORMATS`, to be written.
    roots : list of (int, int, int)
        Voxels I, J, K that choose the trees' roots.
    trees : dict
        What `tree_files.write` found.
    label_formats : tuple of str
        Of the skeleton's voxels, beside .nrrd.
    """

    result: Any
    length: float
    options: dict
    warnings: list[str] = field(default_factory=list)
    distances: dict | None = None
    formats: tuple[str, ...] = ()
    roots: list[tuple[int, int, int]] = field(default_factory=list)
    trees: dict = field(default_factory=dict)
    label_formats: tuple[str, ...] = ()

    @property
    def skeleton(self) -> Any:
        """The `PotentialSkeletonLib.CurveSkeleton`."""
        return self.result.skeleton


def read_input(options: Namespace) -> tuple[Any, dict, list[str]]:
    """Read the labelmap that the user named.

    Returns
    -------
    node : vtkMRMLLabelMapVolumeNode
    origin : dict
        For the report.
    notes : list of str
    """
    node, labels = labelmaps.read_labelmap(
        options.labelmap, options.label, stacks.Choice.of(options)
    )
    origin = input_origin(options, node, labels)
    notes = stacks.notes_of(node)
    if options.label is not None or labels.size == 1:
        return node, origin, notes
    note = (
        f"The labelmap holds {labels.size} labels, which are taken as one object; "
        "--label N takes one of them, --labels all makes a tree of each."
    )
    return node, origin, [*notes, note]


def input_origin(options: Namespace, node: Any, labels: np.ndarray) -> dict:
    """Return what the report says of a labelmap."""
    return {
        "labelmap": str(Path(options.labelmap).resolve()),
        "label": options.label,
        "labels": [int(label) for label in labels[: labelmaps.MAX_LABELS]],
        "size": list(node.GetImageData().GetDimensions()),
        "spacing_mm": list(node.GetSpacing()),
    }


def extract(labelmap: Any, label: int | None, options: Namespace, watch: Stopwatch) -> Outcome:
    """Let the module's logic find the centrelines.

    Raises
    ------
    FuzzyVesselError
        The options cannot be used, or the device fails.
    Cancelled
    """
    from PotentialSkeleton import PotentialSkeletonLogic

    tree_files.check_roots(options.root, labelmap.GetImageData().GetDimensions())
    watch.stage("Finding centrelines")
    chosen = {
        name: getattr(options, name)
        for name in ("level", "strength", "charge_distance", "drop_islands", "close_tunnels")
    }
    if chosen["close_tunnels"] is None:
        chosen["close_tunnels"] = NOISE_VOXELS * float(np.median(labelmap.GetSpacing()))
    result = PotentialSkeletonLogic().extract(
        labelmap,
        label=label,
        device=options.device,
        plotChartNodes=True,
        progress=watch.progress,
        **chosen,
    )
    length = sum(result.skeleton.length(branch) for branch in result.skeleton.branches)
    wanted = {"formats": options.formats, "roots": options.root}
    wanted["label_formats"] = options.label_formats
    return Outcome(result, length, chosen, list(result.warnings), **wanted)
