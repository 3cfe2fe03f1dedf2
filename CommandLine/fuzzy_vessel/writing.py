"""Nodes, trees and the whole scene as files; trees also in other programs' formats."""

import contextlib
import gzip
import hashlib
import json
import os
import shutil
import tempfile
import zlib
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import LOCK

BRANCHES = "branches.csv"


def write_nodes(folder: Path, nodes: Mapping[str, Any]) -> None:
    """Write nodes, by file names, into a folder; `OSError` if a file is not complete."""
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
                while path.suffix == ".nrrd" and file.readline().strip():
                    pass  # the header
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

    path = folder / "scene.mrb"
    _arrange_slice_views(volume, focus)
    try:
        if not slicer.mrmlScene.WriteToMRB(str(path)):
            raise _not_written(path)
    finally:
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


# ---- A folder of results that is complete or absent; its report, report.json, names its files

PROGRAM = "fuzzy-vessel"
REPORT = "report.json"
# Left by file managers and by runs: no user's work.
NOT_RESULTS = {".DS_Store", "Thumbs.db", "desktop.ini", LOCK}


def write_report(folder: Path, report: dict) -> None:
    """Write the report, a dict."""
    text = json.dumps(report, indent=2, ensure_ascii=False, default=lambda value: value.tolist())
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")


def list_files(folder: Path) -> None:
    """Name the result's files in its report, with checksums: no later run takes other files for
    them, or those that somebody has edited."""
    if (folder / REPORT).exists():
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        names = _files_in(folder)
        sums = {name: _checksum(folder / name) for name in names if name != REPORT}
        report |= {"files": names, "checksums": sums}
        own = _checksum_of_report(report)
        write_report(folder, report | {"checksums": {**sums, REPORT: own}})


def _files_in(folder):
    """Files and empty folders in a folder and those within it, but file managers' and locks."""
    found = (path for path in folder.rglob("*") if path.name not in NOT_RESULTS)
    return sorted(
        path.relative_to(folder).as_posix()
        for path in found
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
    )


def _checksum(path):
    """Of a file's content; None for an empty folder, or what is not there."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checksum_of_report(report):
    """Of all that a report says but this."""
    sums = {name: each for name, each in report["checksums"].items() if name != REPORT}
    text = json.dumps({**report, "checksums": sums}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ResultsFolder:
    """Context manager: results are written beside the folder and moved into place at the end.

    >>> with ResultsFolder("results") as place:
    ...     (place / "report.json").write_text(...)

    An existing folder is replaced if it is empty or holds an earlier result of this program, as it
    was written, and nothing else. If the block ends with an exception, nothing of it is left.
    Where a person changed the folder meanwhile, the results are moved beside it, under its name
    with a number. While folders are exchanged, the earlier and the new result exist at every
    moment.

    Raises
    ------
    InputError
        On entry, if the folder must not be replaced or cannot be written; on leaving, if the
        results could not be moved into place. The message names the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        self._place: Path | None = None

    def __enter__(self) -> Path:
        try:
            if reason := self._foreign() or self._working_folder():
                raise InputError(f"{reason}; name a new or an empty folder with --out.")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            name = f".{self.path.name}-partial-"
            self._place = Path(tempfile.mkdtemp(prefix=name, dir=self.path.parent))
        except OSError as error:
            raise self._cannot_write(error) from error
        return self._place

    def __exit__(self, _kind: Any, error: Any, _traceback: Any) -> None:
        try:
            if error is None and self._place is not None:
                list_files(self._place)
                self._move_into_place(self._place)
        except OSError as failure:
            raise self._cannot_write(failure) from failure
        finally:
            if self._place is not None:
                shutil.rmtree(self._place, ignore_errors=True)
        if isinstance(error, OSError):
            raise self._cannot_write(error) from error

    def _foreign(self):
        """Why the folder must not be replaced; empty where it may be."""
        if not self.path.exists():
            return ""
        if not self.path.is_dir():
            return f"{self.path}: this is a file"
        sums, own = {}, None
        damaged = OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError
        with contextlib.suppress(*damaged):
            report = json.loads((self.path / REPORT).read_text(encoding="utf-8"))
            if report["program"] == PROGRAM:
                own = _checksum_of_report(report)
                sums = {REPORT: own, **report["checksums"]}  # earlier versions had none of it
        there = _files_in(self.path)
        if foreign := [name for name in there if name not in sums]:
            return f"{self.path}: the folder holds other files ({foreign[0]}) and is left alone"
        for name in there:
            if (own if name == REPORT else _checksum(self.path / name)) != sums[name]:
                return f"{self.path}: {name} was changed after it was written, and is left alone"
        return ""

    def _working_folder(self):
        with contextlib.suppress(FileNotFoundError):  # that folder is gone
            if self.path.exists() and Path.cwd().is_relative_to(self.path):
                return f"{self.path}: the command runs in this folder, which would be replaced"
        return ""

    def _move_into_place(self, place):
        """Replace the folder; go beside it where it was changed meanwhile, or is held."""
        umask = os.umask(0)
        os.umask(umask)
        place.chmod(0o777 & ~umask)  # temporary folders are their owner's alone
        reason = self._foreign()
        if not reason:
            try:
                self._exchange(place)
            except OSError as error:
                reason = f"{self.path}: the folder cannot be replaced: {error.strerror or error}"
        if reason:
            number = 2
            while os.path.lexists(beside := self.path.with_name(f"{self.path.name}-{number}")):
                number += 1
            place.rename(beside)
            raise InputError(f"{reason}; the results are in {beside}.")

    def _exchange(self, place):
        earlier = place.with_name(f"{place.name}-earlier")
        try:
            if self.path.exists():
                self.path.rename(earlier)
            place.rename(self.path)
        finally:
            if earlier.exists() and not self.path.exists():
                earlier.rename(self.path)
            shutil.rmtree(earlier, ignore_errors=True)

    def _cannot_write(self, error):
        reason = error.strerror or str(error)
        return InputError(
            f"{self.path}: the results cannot be written: {reason}. Nothing was left there; "
            "choose another folder with --out."
        )
