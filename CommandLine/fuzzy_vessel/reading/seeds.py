"""Lists of points (.mrk.json), checked before Slicer's own reader gets them.

That reader ends the process where an entry is of another kind than it should be, so only what a
seed needs is handed on: label, position, and whether it is selected.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from ..slicer_host.vtk_messages import vtk_messages
from .refusals import existing, one_line
from .slicer_reader import name_of

SYSTEMS = {"RAS": "RAS", "LPS": "LPS", "0": "RAS", "1": "LPS"}
DEFINED = "defined"
STATUSES = (DEFINED, "undefined", "preview", "missing")
MAX_POSITION = 1e9  # mm
MAX_POINTS = 100_000


def read_seeds(path: str | Path) -> Any:
    """Read a list of points (.mrk.json, as Slicer saves it) into the scene.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    vtkMRMLMarkupsFiducialNode

    Raises
    ------
    InputError
        The file is missing, or is not a list of points; the message names it.
    """
    import slicer

    path = existing(path)
    markup = checked_markup(path)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        checked = Path(folder) / "points.mrk.json"
        checked.write_text(json.dumps({"markups": [markup]}), encoding="utf-8")
        with vtk_messages():
            node_id = slicer.modules.markups.logic().LoadMarkups(str(checked), name_of(path))
    if not node_id:
        raise InputError(f"{path}: the list of points cannot be read.")
    node = slicer.mrmlScene.GetNodeByID(node_id)
    # The checked file is gone: the node must not point to it.
    node.SetAndObserveStorageNodeID(None)
    return node


def checked_markup(path: Path) -> dict:
    """Read the one list of points of a file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        A markup of Slicer's own kind, of type Fiducial, with checked points.

    Raises
    ------
    InputError
        The file cannot be read, is no list of points, or holds another number of lists; the
        message names it.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the seeds cannot be read: {error.strerror or error}.") from error
    try:
        markups = json.loads(content.decode("utf-8"))["markups"]
        kinds = [str(markup["type"]) for markup in markups]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: this is not a markups file (.mrk.json); save the points from Slicer's "
            "Markups module, or give them one by one with --seed I,J,K."
        ) from error
    if kinds != ["Fiducial"]:
        raise InputError(
            f"{path}: one list of points is needed; the file holds "
            f"{one_line(', '.join(kinds)) or 'nothing'}."
        )
    (markup,) = markups
    try:
        return _checked(markup)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{path}: the list of points is damaged ({one_line(error)}); save it again from "
            "Slicer's Markups module."
        ) from error


def _checked(markup):
    system = str(markup.get("coordinateSystem", "LPS"))
    if system not in SYSTEMS:
        raise ValueError(f"its coordinate system is {system}")
    listed = markup.get("controlPoints", [])
    if not isinstance(listed, list) or len(listed) > MAX_POINTS:
        raise ValueError("its points are no list, or too many")
    return {
        "type": "Fiducial",
        "coordinateSystem": SYSTEMS[system],
        "controlPoints": [_point(entry, number) for number, entry in enumerate(listed, 1)],
    }


def _point(entry, number):
    """One point; a point that was not placed yet has no position."""
    status = str(entry.get("positionStatus", DEFINED))
    if status not in STATUSES:
        raise ValueError(f"point {number} has the status {status}")
    point = {
        "id": str(number),
        "label": one_line(entry.get("label", "")),
        "selected": bool(entry.get("selected", True)),
        "positionStatus": status,
    }
    if status == DEFINED:
        position = [float(length) for length in entry["position"]]
        if len(position) != 3 or not all(abs(length) <= MAX_POSITION for length in position):
            raise ValueError(f"point {number} has the position {position}")
        point["position"] = position
    return point
