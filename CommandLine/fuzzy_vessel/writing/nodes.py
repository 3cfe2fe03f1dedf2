"""Nodes and the whole scene as files; the names of all files of a result."""

import gzip
import json
import shutil
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
    together = written[0]
    together["markups"] = [markup for each in written for markup in each["markups"]]
    (folder / CURVES).write_text(json.dumps(together) + "\n", encoding="utf-8")


def write_slicer_scene(folder: Path, volume: Any, focus: Sequence[float]) -> None:
    """Write the whole scene as `scene.mrb`; Slicer opens it with the volume in the slice views.

    The slices go through the focus (RAS); a labelmap is laid over an empty background.
    """
    import slicer

    path = folder / SLICER_SCENE
    _arrange_slice_views(volume, focus)
    # The scene's parts are written here first, on the disk that has to hold the result anyway.
    parts = folder / "parts"
    (parts / "scene").mkdir(parents=True)
    try:
        written = slicer.mrmlScene.SaveSceneToSlicerDataBundleDirectory(str(parts / "scene"))
        if written:
            # The volumes are packed already: packing them once more would only take time.
            with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, strict_timestamps=False) as bundle:
                for part in sorted(parts.rglob("*")):
                    bundle.write(part, part.relative_to(parts))
    finally:
        shutil.rmtree(parts, ignore_errors=True)
        _remove_slice_views()
    if not is_whole(path):
        raise _not_written(path)


def is_whole(path: Path) -> bool:
    """Whether a file was written to its end: a full disk does not always show as an error."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".mrb":
            with zipfile.ZipFile(path) as bundle:
                return bundle.testzip() is None
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
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error):
        return False
    return True


def _not_written(path):
    """The error of a file that could not be written, with the reason if it is known."""
    full = " (the disk is full)" if shutil.disk_usage(path.parent).free < 1 << 20 else ""
    return OSError(f"{path.name} could not be written{full}")


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
