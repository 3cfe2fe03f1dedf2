"""Nodes as files; the names of all files of a result."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..slicer_host.vtk_messages import vtk_messages
from .completeness import is_whole, not_written

LABELMAP = "labelmap.nrrd"
FUZZY_SCENE = "fuzzy-scene.nrrd"
SEGMENTATION = "segmentation.seg.nrrd"
SEEDS = "seeds.mrk.json"
VESSEL_SEEDS = "seeds-{number}.mrk.json"  # of several vessels
BACKGROUND_SEEDS = "background-seeds.mrk.json"
SLICER_SCENE = "scene.mrb"
PICTURE = "picture.png"
SKELETON = "skeleton.nrrd"
CENTRELINES = "centrelines.vtp"
CURVES = "curves.mrk.json"
BRANCHES = "branches.csv"
SWC = "skeleton.swc"
SKELETON_PICTURE = "skeleton.png"


def write_nodes(folder: Path, nodes: Mapping[str, Any]) -> None:
    """Write nodes into a folder.

    Parameters
    ----------
    folder : Path
    nodes : mapping of str to vtkMRMLStorableNode
        By file name.

    Raises
    ------
    OSError
        If a file could not be written, or is not whole.
    """
    import slicer

    for name, node in nodes.items():
        path = folder / name
        with vtk_messages():
            written = slicer.util.saveNode(node, str(path), {})
        if not written or not is_whole(path):
            raise not_written(path)


def write_curves(folder: Path, curves: Sequence[Any]) -> None:
    """Write markups nodes as one file, `curves.mrk.json`; Slicer opens them all.

    Raises
    ------
    OSError
        If the file could not be written, or is not whole.
    """
    import slicer

    parts = folder / "parts"
    parts.mkdir()
    try:
        names = [f"{number}.mrk.json" for number in range(len(curves))]
        write_nodes(parts, dict(zip(names, curves)))
        written = [json.loads((parts / name).read_text(encoding="utf-8")) for name in names]
    finally:
        shutil.rmtree(parts, ignore_errors=True)
        for curve in curves:  # the files of the parts are gone: nothing must point to them
            slicer.mrmlScene.RemoveNode(curve.GetStorageNode())
    together = written[0]
    together["markups"] = [markup for each in written for markup in each["markups"]]
    (folder / CURVES).write_text(json.dumps(together) + "\n", encoding="utf-8")
