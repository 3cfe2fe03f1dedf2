"""Lists of points (.mrk.json) and scenes in one file (.mrb), checked before Slicer reads them.

Slicer's reader of points ends the process where an entry is of another kind than it should be, so
only label, position and selection are handed on. Its reader of bundles writes each part where the
file says, also outside of its folder (`../`, absolute paths, links).
"""

import contextlib
import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .itk_files import one_line

SYSTEMS = {"RAS": "RAS", "LPS": "LPS", "0": "RAS", "1": "LPS"}
DEFINED = "defined"
STATUSES = (DEFINED, "undefined", "preview", "missing")
MAX_POSITION = 1e9  # mm
MAX_PARTS = 10_000
# What zipfile raises for damaged archives of one kind or another.
DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError)


def read_seeds(path: str | Path) -> Any:
    """Read a list of points (.mrk.json, as Slicer saves it) into the scene.

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
    """
    import slicer

    from ..slicer_host.headless import vtk_messages
    from .volumes import existing, name_of

    path = existing(path)
    markup = _markup(path)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        checked = Path(folder) / "points.mrk.json"
        checked.write_text(json.dumps({"markups": [markup]}), encoding="utf-8")
        with vtk_messages():
            node_id = slicer.modules.markups.logic().LoadMarkups(str(checked), name_of(path))
    if not node_id:
        raise InputError(f"{path}: the list of points cannot be read.")
    node = slicer.mrmlScene.GetNodeByID(node_id)
    node.SetAndObserveStorageNodeID(None)  # the checked file is gone
    return node


def _markup(path):
    """The one list of points of a file, as far as Slicer's reader is safe with it."""
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
        system = str(markups[0].get("coordinateSystem", "LPS"))
        if system not in SYSTEMS:
            raise ValueError(f"its coordinate system is {system}")
        points = [_point(*each) for each in enumerate(markups[0].get("controlPoints", []), 1)]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{path}: the list of points is damaged ({one_line(error)}); save it again from "
            "Slicer's Markups module."
        ) from error
    return {"type": "Fiducial", "coordinateSystem": SYSTEMS[system], "controlPoints": points}


def _point(number, entry):
    """One point; a point that was not placed yet has no position."""
    status = str(entry.get("positionStatus", DEFINED))
    if status not in STATUSES:
        raise ValueError(f"point {number} has the status {status}")
    label, selected = one_line(entry.get("label", "")), bool(entry.get("selected", True))
    point = {"id": str(number), "label": label, "selected": selected, "positionStatus": status}
    if status == DEFINED:
        position = [float(length) for length in entry["position"]]
        if len(position) != 3 or not all(abs(length) <= MAX_POSITION for length in position):
            raise ValueError(f"point {number} has the position {position}")
        point["position"] = position
    return point


@contextlib.contextmanager
def checked_bundle(path: str | Path) -> Iterator[Path]:
    """Yield a copy of a bundle (.mrb) that holds nothing but files within it."""
    path = Path(path)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        copy = Path(folder) / path.name
        try:
            with zipfile.ZipFile(path) as bundle, zipfile.ZipFile(copy, "w") as target:
                parts = [part for part in bundle.infolist() if not part.is_dir()]
                _check_parts(path, parts, shutil.disk_usage(folder).free)
                for part in parts:  # no more is unpacked than its entry declares
                    entry = zipfile.ZipInfo(part.filename)
                    with (
                        bundle.open(part) as source,
                        target.open(entry, "w", force_zip64=True) as to,
                    ):
                        shutil.copyfileobj(source, to, 1 << 20)
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"{path}: the scene cannot be read: {reason}.") from error
        except InputError:
            raise
        except DAMAGED as error:
            raise InputError(f"{path}: this is no scene in one file, or it is damaged.") from error
        yield copy


def _check_parts(path, parts, free):
    """Refuse names that lead elsewhere, and more than the disk can hold twice."""
    if len(parts) > MAX_PARTS:
        raise InputError(
            f"{path}: the scene has {len(parts):,} parts, at most {MAX_PARTS:,} are read."
        )
    for part in parts:
        name = PurePosixPath(part.filename)
        outside = name.is_absolute() or ".." in name.parts or re.search(r"[\\:]", part.filename)
        if outside or not part.filename.isprintable():
            raise InputError(
                f"{path}: the scene was not loaded: its part {part.filename[:80]!r} would lie "
                "outside of it. Ask where the file comes from."
            )
    size = sum(part.file_size for part in parts)
    if 2 * size > free:
        raise InputError(
            f"{path}: unpacked, the scene has {size / 2**20:,.0f} MiB, and {free / 2**20:,.0f} MiB "
            "are free on the disk for temporary files."
        )
