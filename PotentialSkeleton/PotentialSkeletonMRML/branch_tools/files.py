"""A tree of the scene as a file of another program, with the names of its branches."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import interchange
from PotentialSkeletonLib.interchange.whole_files import whole_file

from ..interchange.vtp import write_vtp
from ..stored_skeleton import stored_skeleton
from .names import names_of


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
