"""Lists of points (.mrk.json), read without Slicer's reader.

That ends the process where an entry is of another kind than it should be.
"""

import json
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .process import one_line
from .volumes import existing, name_of

# Signs of the first two coordinates, from the file's system to R, A, S.
SIGNS = {"RAS": 1, "LPS": -1, "0": 1, "1": -1}
MAX_POSITION = 1e9  # mm


def read_seeds(path: str | Path) -> Any:
    """Read a list of points (.mrk.json, as Slicer saves it) into the scene.

    Their labels, positions and selections; points that were not placed yet are left out.

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
    """
    import slicer

    path = existing(path)
    try:
        markups = json.loads(path.read_bytes().decode("utf-8"))["markups"]
        kinds = [str(markup["type"]) for markup in markups]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: this is not a markups file (.mrk.json); save the points from Slicer's "
            "Markups module, or give them one by one with --seed I,J,K."
        ) from error
    if kinds != ["Fiducial"]:
        raise InputError(
            f"{path}: one list of points is needed; the file holds "
            f"{one_line(', '.join(kinds)) or 'nothing'}."
        )
    try:
        points = [_point(entry) for entry in markups[0].get("controlPoints", [])]
        sign = SIGNS[str(markups[0].get("coordinateSystem", "LPS"))]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{path}: the list of points is damaged ({one_line(error)}); save it again from "
            "Slicer's Markups module."
        ) from error
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name_of(path))
    for label, selected, (x, y, z) in filter(None, points):
        index = node.AddControlPointWorld([sign * x, sign * y, z], label)
        node.SetNthControlPointSelected(index, selected)
    return node


def _point(entry):
    """Label, selection and position of a point; None if it was not placed."""
    status = str(entry.get("positionStatus", "defined"))
    if status not in ("defined", "undefined", "preview", "missing"):
        raise ValueError(f"a point has the status {status}")
    if status != "defined":
        return None
    x, y, z = (float(length) for length in entry["position"])
    if not all(abs(length) <= MAX_POSITION for length in (x, y, z)):
        raise ValueError(f"a point has the position {x:g}, {y:g}, {z:g}")
    return one_line(entry.get("label", "")), bool(entry.get("selected", True)), (x, y, z)
