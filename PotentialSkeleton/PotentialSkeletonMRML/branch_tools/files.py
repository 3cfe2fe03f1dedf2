"""A tree of the scene as a file of another program, with the names of its branches."""

import shutil
import tempfile
from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path
from typing import Any, cast

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton, interchange
from PotentialSkeletonLib.interchange import whole_file
from PotentialSkeletonLib.tree import rooted_forest

from ..interchange.tree_files import FORMATS, write_tree_files
from ..interchange.vtp import write_vtp
from ..stored_skeleton import stored_skeleton
from .names import names_of
from .places import checked_places

LETTERS = 40  # of a folder's name in that of what is half written


def save_tree(model: Any, path: str | PathLike) -> None:
    """Write a tree in world coordinates, as a file of the path's ending.

    Parameters
    ----------
    model : vtkMRMLModelNode
    path : str or Path
        ".swc" (names as comments), ".graphml" (attribute name of the edges) or ".vtp" (lines with
        VMTK's arrays, and the cell array Name; in LPS).

    Raises
    ------
    InputError
        If the ending is another, or a name cannot be written.
    OSError
        If the file cannot be written; nothing of it is left.
    """
    write = _WRITERS.get(Path(path).suffix.lower())
    if write is None:
        raise InputError(
            _("{path}: trees are written as {endings}.").format(
                path=path, endings=", ".join(_WRITERS)
            )
        )
    write(stored_skeleton(model, in_world=True), names_of(model), path)


def save_formats(
    model: Any,
    folder: str | PathLike,
    formats: Collection[str] = FORMATS,
    root_places: Any = None,
) -> list[str]:
    """Write a tree in world coordinates, with its names, as a folder of files for other programs.

    Parameters
    ----------
    model : vtkMRMLModelNode
    folder : str or Path
        It is made; it must not hold anything yet.
    formats : collection of str
        Of `interchange.tree_files.FORMATS`; "stl" and "ply" are the tubes.
    root_places : array_like, (n, 3), optional
        R, A, S in the world; each makes the nearest end the root of its tree.

    Returns
    -------
    list of str
        What was left out, and of which loops.

    Raises
    ------
    InputError
        If the folder holds something or the one above it is missing, a format is unknown, or a
        root or a name does not fit.
    OSError
        If a file cannot be written; nothing of the folder is left.
    """
    folder = Path(folder)
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        raise InputError(
            _("{name!r} is no format: use {formats}.").format(
                name=unknown[0], formats=", ".join(FORMATS)
            )
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            _("{folder} is there already: choose another folder.").format(folder=folder)
        )
    near = None if root_places is None else checked_places(root_places)[:, ::-1]
    skeleton = cast(CurveSkeleton, stored_skeleton(model, in_world=True))
    forest = rooted_forest(skeleton, near=near)
    partial = _folder_beside(folder)
    try:
        partial.chmod(0o755)  # not for its owner alone, as temporary folders are
        said = write_tree_files(partial, forest, None, formats, names=names_of(model))
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return said


def _folder_beside(folder):
    """A new folder to write in; what goes wrong names the folder that was asked for."""
    if not folder.parent.is_dir():
        raise InputError(
            _("{folder} cannot be made: there is no folder {parent}.").format(
                folder=folder, parent=folder.parent
            )
        )
    try:
        return Path(tempfile.mkdtemp(prefix=f".{folder.name[:LETTERS]}-", dir=folder.parent))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


def _swc(skeleton, names, path):
    said = "".join(f"# branch {number}: {name}\n" for number, name in sorted(names.items()))
    with whole_file(path) as partial:
        partial.write_text(said + skeleton.to_swc(), encoding="utf-8", newline="\n")


def _graphml(skeleton, names, path):
    interchange.write_graphml(skeleton, path, names=names)


def _vtp(skeleton, names, path):
    write_vtp(interchange.network(skeleton, names=names), path)


_WRITERS: dict[str, Callable] = {".swc": _swc, ".graphml": _graphml, ".vtp": _vtp}
ENDINGS = tuple(_WRITERS)
