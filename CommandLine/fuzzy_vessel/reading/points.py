"""Lists of points (.mrk.json), read without Slicer's reader.

That ends the process where an entry is of another kind than it should be.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .process import one_line
from .volumes import existing, name_of

# Signs of the first two coordinates, from the file's system to R, A, S.
SIGNS = {"RAS": 1, "LPS": -1, "0": 1, "1": -1}
MAX_POSITION = 1e9  # mm


def read_seeds(path: str | Path) -> Any:
    """Read a list of points (.mrk.json, as Slicer saves it): their positions and labels.

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
        Without points that were not placed yet.
    """
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
    placed = list(filter(None, points))
    positions = [(sign * x, sign * y, z) for _, (x, y, z) in placed]
    return add_positions(positions, name_of(path), [label for label, _ in placed])


def _point(entry):
    """Label and position of a point; None if it was not placed."""
    status = str(entry.get("positionStatus", "defined"))
    if status not in ("defined", "undefined", "preview", "missing"):
        raise ValueError(f"a point has the status {status}")
    if status != "defined":
        return None
    x, y, z = (float(length) for length in entry["position"])
    if not all(abs(length) <= MAX_POSITION for length in (x, y, z)):
        raise ValueError(f"a point has the position {x:g}, {y:g}, {z:g}")
    return one_line(entry.get("label", "")), (x, y, z)


def add_positions(
    positions: Sequence[Any], name: str, labels: Sequence[str] | None = None, into: Any = None
) -> Any:
    """Add points (R, A, S in mm) to a list of points, a new one by default."""
    import slicer

    if into is None:
        into = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    for number, position in enumerate(positions):
        into.AddControlPointWorld(position, labels[number] if labels else f"{name}-{number + 1}")
    return into
