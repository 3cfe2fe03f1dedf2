"""The report, report.json, which names the files of its result."""

import json
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.files.folder_lock import others_in

PROGRAM = "fuzzy-vessel"
REPORT = "report.json"


def write_report(folder: Path, report: dict) -> None:
    """Write the report, a dict, as `report.json`."""
    text = json.dumps(report, indent=2, ensure_ascii=False, default=_plain)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")


def list_files(folder: Path, without: str = "") -> None:
    """Name the result's files in its report, so that no later run takes others for them."""
    path = folder / REPORT
    if path.exists():
        report = json.loads(path.read_text(encoding="utf-8"))
        report["files"] = [name for name in files_in(folder) if name != without]
        text = json.dumps(report, indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def files_in(folder: Path) -> list[str]:
    """Return the files in a folder and in those within it, and empty folders, relative to it.

    Without those that keep other runs out.
    """
    found = []
    for entry in others_in(folder):
        inside = files_in(entry) if entry.is_dir() and not entry.is_symlink() else []
        found += [f"{entry.name}/{name}" for name in inside] or [entry.name]
    return sorted(found)


def files_of_result(report: Path) -> set[str]:
    """Return the names of a result's files by its report; none if it is no report."""
    try:
        content = json.loads(report.read_text(encoding="utf-8"))
        return set(content["files"]) if content["program"] == PROGRAM else set()
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return set()


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a report")
