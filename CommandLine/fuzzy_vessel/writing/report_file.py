"""The report, report.json, which names the files of its result."""

import hashlib
import json
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.files.folder_lock import others_in

PROGRAM = "fuzzy-vessel"
REPORT = "report.json"
# Left by programs that show a folder: nobody's work.
OF_FILE_MANAGERS = {".DS_Store", "Thumbs.db", "desktop.ini"}


def write_report(folder: Path, report: dict) -> None:
    """Write the report, a dict, as `report.json`."""
    text = json.dumps(report, indent=2, ensure_ascii=False, default=_plain)
    (folder / REPORT).write_text(text + "\n", encoding="utf-8")


def list_files(folder: Path, without: str = "", checksums: bool = False) -> None:
    """Name the result's files in its report, so that no later run takes others for them.

    With checksums no later run takes a file that somebody has edited for one of them, either.
    """
    path = folder / REPORT
    if path.exists():
        report = json.loads(path.read_text(encoding="utf-8"))
        names = [name for name in files_in(folder) if name != without]
        report["files"] = names
        if checksums:
            report["checksums"] = {name: _checksum(folder / name) for name in names}
            del report["checksums"][REPORT]  # it holds them
        text = json.dumps(report, indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def files_in(folder: Path) -> list[str]:
    """Return the files in a folder and in those within it, and empty folders, relative to it.

    Without those that keep other runs out or are of file managers.
    """
    found = []
    for entry in others_in(folder):
        if entry.name in OF_FILE_MANAGERS:
            continue
        inside = files_in(entry) if entry.is_dir() and not entry.is_symlink() else []
        found += [f"{entry.name}/{name}" for name in inside] or [entry.name]
    return sorted(found)


def result_in(folder: Path) -> tuple[set[str], list[str]]:
    """Return the files of a result by its report (none if it is no report), and the edited ones."""
    try:
        content = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        names = set(content["files"]) if content["program"] == PROGRAM else set()
        known = dict(content.get("checksums", {}))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return set(), []
    there = [name for name in sorted(known) if (folder / name).is_file()]
    return names, [name for name in there if _checksum(folder / name) != known[name]]


def _checksum(path: Path) -> str | None:
    """Of a file's content; None for an empty folder."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a report")
