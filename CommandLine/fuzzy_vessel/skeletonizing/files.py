"""The files of a skeleton."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml import reading as mrml

from ..pictures import page, skeleton_picture
from ..pictures.offscreen import CannotRender
from ..pictures.subject import Subject
from ..progress_bar import Stopwatch
from ..segmenting.summary import size_text
from ..writing import nodes, tree_files
from ..writing.label_files import write_labels
from .extraction import Outcome
from .summary import caption

# Beyond it a list of curves is no help in Slicer: the model has all of them.
MAX_CURVES = 2000


def write(
    folder: Path, labelmap: Any, label: int | None, outcome: Outcome, watch: Stopwatch, title: str
) -> None:
    """Write the picture and the files of the skeleton.

    Raises
    ------
    OSError
        A file could not be written.
    """
    skeleton, result = outcome.skeleton, outcome.result
    labels = _labels(labelmap, label)
    if skeleton.branches:
        watch.stage("Drawing centrelines")
        _write_picture(folder, labelmap, labels, outcome, title)
    watch.stage("Writing centrelines")
    written = {nodes.SKELETON: result.labelmapNode}
    if skeleton.branches:  # VTK writes no file without points
        written[nodes.CENTRELINES] = result.modelNode
    nodes.write_nodes(folder, written)
    stem = Path(nodes.SKELETON).stem
    outcome.warnings += write_labels(folder, stem, result.labelmapNode, outcome.label_formats)
    if 0 < len(result.curveNodes) <= MAX_CURVES:
        nodes.write_curves(folder, result.curveNodes)
    skeleton.to_csv(folder / nodes.BRANCHES)
    text = skeleton.to_swc(voxel_to_world=result.ijkToRAS)
    text = "# x y z: right, anterior, superior (RAS), as Slicer shows them\n" + text
    (folder / nodes.SWC).write_text(text, encoding="utf-8", newline="\n")
    outcome.trees, warnings = tree_files.write(
        folder, skeleton, labels, result.ijkToRAS, outcome.formats, outcome.roots
    )
    outcome.warnings += warnings


def focus(outcome: Outcome) -> np.ndarray:
    """Return the point (RAS) through which the slice views go: where the skeleton is widest."""
    node = max(outcome.skeleton.nodes, key=lambda node: node.radius)
    return outcome.result.ijkToRAS[:3] @ [*node.position[::-1], 1.0]


def _labels(labelmap, label):
    """The object, bool (K, J, I)."""
    import slicer

    values = slicer.util.arrayFromVolume(labelmap)
    return values != 0 if label is None else values == label


def _write_picture(folder, labelmap, labels, outcome, title):
    subject = Subject(
        volume=labels,
        labels=labels.astype(np.uint8),
        ijk_to_ras=mrml.ijk_to_ras(labelmap),
        seeds=outcome.skeleton.voxels[:1],
    )
    texts = {"title": title, "subtitle": size_text(labelmap), "caption": caption(outcome)}
    try:
        picture = skeleton_picture.draw(subject, outcome.skeleton, **texts)
    except CannotRender as reason:
        outcome.warnings.append(f"{reason}.")
    else:
        page.save(picture, folder / nodes.SKELETON_PICTURE)
