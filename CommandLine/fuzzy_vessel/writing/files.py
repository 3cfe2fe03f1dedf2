"""Nodes, trees and the whole scene as files; trees also in other programs' formats."""

import gzip
import json
import shutil
import zipfile
import zlib
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

BRANCHES = "branches.csv"


def write_nodes(folder: Path, nodes: Mapping[str, Any]) -> None:
    """Write nodes, a mapping from file names, into a folder.

    Raises
    ------
    OSError
        If a file could not be written, or is not complete.
    """
    for name, node in nodes.items():
        path = folder / name
        node.AddDefaultStorageNode(str(path))
        storage = node.GetStorageNode()
        storage.SetFileName(str(path))
        if not storage.WriteData(node) or not is_whole(path):
            raise _not_written(path)


def is_whole(path: Path) -> bool:
    """Whether a file was written to its end: a full disk does not always show as an error."""
    try:
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".vtp":
            return path.read_bytes()[-64:].rstrip().endswith(b"</VTKFile>")
        else:
            with path.open("rb") as file:
                if path.suffix == ".nrrd":
                    while (line := file.readline()).strip():
                        if line.startswith(b"encoding: raw"):
                            return True
                with gzip.GzipFile(fileobj=file) as packed:
                    whole = bool(packed.read(1))
                    while packed.read(1 << 22):
                        pass
                return whole
    except (OSError, EOFError, ValueError, zlib.error):
        return False
    return True


def _not_written(path):
    """The error of a file that could not be written, with the reason if it is known."""
    full = " (the disk is full)" if shutil.disk_usage(path.parent).free < 1 << 20 else ""
    return OSError(f"{path.name} could not be written{full}")


def write_curves(folder: Path, curves: Sequence[Any]) -> None:
    """Write markups nodes as one file, `curves.mrk.json`; raises as `write_nodes`."""
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
    together = {**written[0], "markups": [one for each in written for one in each["markups"]]}
    (folder / "curves.mrk.json").write_text(json.dumps(together) + "\n", encoding="utf-8")


# The scene.


def write_slicer_scene(folder: Path, volume: Any, focus: Sequence[float]) -> None:
    """Write the whole scene as `scene.mrb`; Slicer opens it with the volume in the slice views.

    The slices go through the focus (RAS); a labelmap is laid over an empty background.
    """
    import slicer

    path, parts = folder / "scene.mrb", folder / "parts"
    _arrange_slice_views(volume, focus)
    # The scene's parts are written here first, on the disk that has to hold the result anyway.
    (parts / "scene").mkdir(parents=True)
    try:
        if not slicer.mrmlScene.SaveSceneToSlicerDataBundleDirectory(str(parts / "scene")):
            raise _not_written(path)
        # The volumes are packed already: packing them once more would only take time.
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, strict_timestamps=False) as bundle:
            for part in sorted(parts.rglob("*")):
                bundle.write(part, part.relative_to(parts))
    finally:
        shutil.rmtree(parts, ignore_errors=True)
        _remove_slice_views()


def _arrange_slice_views(volume, focus):
    """Let the slice views that Slicer will open show the volume, at the focus, in full."""
    import slicer

    _remove_slice_views()
    for name, orientation in (("Red", "Axial"), ("Green", "Coronal"), ("Yellow", "Sagittal")):
        logic = slicer.vtkMRMLSliceLogic()
        logic.SetMRMLApplicationLogic(slicer.app.applicationLogic())
        logic.SetMRMLScene(slicer.mrmlScene)
        node = logic.AddSliceNode(name)
        node.SetOrientation(orientation)
        views = logic.GetSliceCompositeNode()
        if volume.IsA("vtkMRMLLabelMapVolumeNode"):
            views.SetLabelVolumeID(volume.GetID())
        else:
            views.SetBackgroundVolumeID(volume.GetID())
        logic.FitSliceToAll()
        node.JumpSliceByCentering(*focus)


def _remove_slice_views():
    """Views are singletons: without this the next bundle of this process would inherit them."""
    import slicer

    for kind in ("vtkMRMLSliceNode", "vtkMRMLSliceCompositeNode"):
        for node in slicer.util.getNodesByClass(kind):
            slicer.mrmlScene.RemoveNode(node)


# Formats of other programs.


def check_roots(voxels: Iterable[tuple[int, int, int]], size: Sequence[int]) -> None:
    """Refuse a root (I, J, K) outside a labelmap of this size (I, J, K)."""
    for voxel in voxels:
        if not all(0 <= at < count for at, count in zip(voxel, size)):
            given, whole = (",".join(str(at) for at in each) for each in (voxel, size))
            raise InputError(f"--root {given} lies outside the labelmap of {whole} voxels.")


def write_trees(
    folder: Path, skeleton: Any, labels: Any, ijk_to_ras: Any, options: Namespace
) -> tuple[dict, list[str]]:
    """Write a skeleton as table, SWC, rooted trees and networks; details for the report, warnings.

    Each root (I, J, K) chooses the nearest end of its tree. Without labels (the object, K, J, I)
    .stl and .ply have the tubes only.
    """
    import numpy as np

    from PotentialSkeletonLib.tree import rooted_forest
    from PotentialSkeletonMRML.interchange import write_tree_files

    skeleton.to_csv(folder / BRANCHES)
    text = "# x y z: right, anterior, superior (RAS), as Slicer shows them\n"
    text += skeleton.to_swc(voxel_to_world=ijk_to_ras)
    (folder / "skeleton.swc").write_text(text, encoding="utf-8", newline="\n")
    near = np.array(options.root)[:, ::-1] if options.root else None
    forest = rooted_forest(skeleton, near=near)
    details = {
        "formats": list(options.formats),
        "roots": [int(root) for root in forest.roots],
        "branches_cut_in_trees": forest.cut,
    }
    return details, write_tree_files(folder, forest, ijk_to_ras, options.formats, labels)
