"""What is known of the cases: a record to go on from (JSON), and one table of all (CSV)."""

import csv
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.folder_lock import others_in

from ..writing.nodes import BRANCHES
from ..writing.report_file import REPORT
from .thumbnails import PAGE, page

RECORD, TABLE, LOG = "cohort.json", "cases.csv", ".log"
PROGRAM = "fuzzy-vessel cohort"
DONE, FAILED = "done", "failed"
COLUMNS = (
    "case", "status", "volume_ml", "each_vessel_ml", "length_mm", "branches", "components",
    "mean_radius_mm", "threshold", "threshold_chosen", "confidence", "warnings", "seconds", "error",
)  # fmt: skip


@dataclass
class CohortRecord:
    """What was run in a folder.

    Attributes
    ----------
    folder : Path
    names : list of str
        Of the cases, in the order of the table.
    entries : dict of str to dict
        Of each case that was run: arguments, files, status, seconds and error.
    """

    folder: Path
    names: list[str]
    entries: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, folder: Path, names: list[str]) -> "CohortRecord":
        """The record of a folder, or an empty one.

        Raises
        ------
        InputError
            The folder holds other files.
        """
        place = folder / RECORD
        if not place.exists():
            if others_in(folder):
                raise InputError(
                    f"{folder}: the folder holds other files; name another one with --out."
                )
            record = cls(folder, names, {})
            record.write()
            return record
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
            entries = dict(content["cases"]) if content["program"] == PROGRAM else None
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{place} cannot be read ({error}); name another folder.") from error
        if entries is None:
            raise InputError(f"{place} is of another program; name another folder with --out.")
        return cls(folder, names, entries)

    def put(self, name: str, entry: dict[str, Any]) -> None:
        """Keep what a case has given, at once."""
        self.entries[name] = entry
        self.write()

    def write(self) -> None:
        """Write the record, the table and the page of pictures."""
        content = {"program": PROGRAM, "cases": self.entries}
        _write_whole(self.folder / RECORD, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        rows, place = self.rows(), self.folder / TABLE
        with tempfile.TemporaryFile("w+", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
            file.seek(0)
            _write_whole(place, file.read())
        _write_whole(self.folder / PAGE, page(self.folder, rows))

    def rows(self) -> list[dict[str, Any]]:
        """The table: one row for each case."""
        return [self._row(name) for name in self.names]

    def _row(self, name: str) -> dict[str, Any]:
        entry = self.entries.get(name, {"status": "not run", "seconds": None, "error": ""})
        row = {column: entry.get(column) for column in ("status", "seconds", "error")}
        if row["seconds"] is not None:
            row["seconds"] = round(row["seconds"], 1)
        if entry["status"] != DONE:
            return {"case": name, **row}
        report = json.loads((self.folder / name / REPORT).read_text(encoding="utf-8"))
        found, threshold = report["skeleton"], report["threshold"]
        return {
            "case": name,
            **row,
            "volume_ml": report["vessels"]["ml"],
            "each_vessel_ml": "; ".join(
                f"{vessel['name']}: {vessel['ml']}" for vessel in report.get("each_vessel", ())
            ),
            "length_mm": round(found["total_length_mm"], 6),
            "branches": found["branches"],
            **_of_branches(self.folder / name / BRANCHES),
            "threshold": threshold["value"],
            "threshold_chosen": threshold["chosen"],
            "confidence": threshold.get("confidence"),
            "warnings": len(report["warnings"]),
        }


def _of_branches(path: Path) -> dict[str, float | int]:
    """Connected components, and the mean radius along all centrelines."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lengths = [float(row["length_mm"]) for row in rows]
    radii = [float(row["mean_radius_mm"]) for row in rows]
    found: dict[str, float | int] = {"components": len({row["component"] for row in rows})}
    if sum(lengths) > 0:
        weighted = sum(length * radius for length, radius in zip(lengths, radii))
        found["mean_radius_mm"] = round(weighted / sum(lengths), 6)
    return found


def _write_whole(path: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all."""
    temporary = path.with_name(f".{path.name}.partial")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
