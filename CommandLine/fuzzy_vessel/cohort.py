"""Many cases: `fuzzy-vessel run` for each row of a list, a process each, and one table of all.

A process for each case, so that one that crashes stops no other; a thread waits for each.
"""

import csv
import glob
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

from filelock import FileLock, Timeout

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.folder_lock import is_device_name

from .arguments import Parser, make_parser
from .progress_bar import ProgressBar
from .reading.itk_files import one_line
from .writing.nodes import BRANCHES
from .writing.report_file import OF_FILE_MANAGERS, REPORT

PROGRAM = "fuzzy-vessel cohort"
RECORD, TABLE, LOG, LOCK = "cohort.json", "cases.csv", ".log", ".cohort.lock"
DONE, FAILED = "done", "failed"
COLUMNS = ("case", "volume", "seeds", "vessels", "background", "mask")
OPTIONS = {"seeds": "--seed", "vessels": "--vessel", "background": "--background"}
TABLE_COLUMNS = (
    "case", "status", "volume_ml", "each_vessel_ml", "length_mm", "branches", "components",
    "mean_radius_mm", "threshold", "threshold_chosen", "confidence", "warnings", "seconds", "error",
)  # fmt: skip
# A name is a folder on every system: no separators, nothing that Windows keeps for itself.
NAME = re.compile(r"[\w][\w .+-]*")
LONGEST = 200  # bytes of a name: file systems take 255, of which what is half written needs some
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MAX_ERROR = 400  # letters of a message that the table shows


@dataclass(frozen=True)
class Case:
    """One row: its name (of its folder), files that it reads, arguments of `run`, and a problem."""

    name: str
    inputs: tuple[Path, ...]
    arguments: tuple[str, ...]
    problem: str = ""


def run_cohort(options: Namespace, progress: ProgressBar) -> tuple[list[str], list[str]]:
    """Run every case that is not done yet; returns the summary and a line for each failed case.

    Raises
    ------
    InputError
        The list or the folder cannot be used, or another run works in the folder.
    """
    cases, folder = read_cases(options.list), Path(options.out)
    _check_shared(options.options)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK, timeout=0):
            entries = _read_record(folder)
            _run_all(cases, options, folder, entries, progress)
            rows = [_row(folder, case.name, entries) for case in cases]
    except Timeout as error:
        raise InputError(f"{folder} is in use by another run; wait until it has ended.") from error
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written: {error.strerror or error}; finished cases are kept: free "
            "some space and run the same again, or name another folder."
        ) from error
    failed = [row for row in rows if row["status"] != DONE]
    place = folder.resolve()
    lines = [
        f"cases      {len(rows) - len(failed)} of {len(rows)} done",
        f"table      {place / TABLE}",
        f"results    {place}",
    ]
    return lines, [f"case {row['case']}: {row['error']}" for row in failed]


# The list


def read_cases(path: str | Path) -> list[Case]:
    """Read the cases of a CSV file with the columns `COLUMNS`; see `fuzzy-vessel cohort --help`.

    A row that cannot be run becomes a case with a `problem`.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        head = text.partition("\n")[0].strip()
        separators = [s for s in ",;\t" if "volume" in next(csv.reader([head], delimiter=s), [])]
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=(separators or [","])[0])
        rows, columns = list(reader), reader.fieldnames or []
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: the list is not UTF-8: save it so, in Excel as 'CSV UTF-8'."
        ) from error
    except (OSError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: the list cannot be read: {reason}.") from error
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown or "volume" not in columns:
        wrong = f"the column {unknown[0]!r} is unknown" if unknown else "there is no column volume"
        raise InputError(f"{path}: {wrong}; the columns are {', '.join(COLUMNS)}.")
    cases = [_case(row, path.parent.resolve()) for row in rows if any(row.values())]
    if not cases:
        raise InputError(f"{path}: the list has no case; write one row for each volume.")
    name, count = Counter(case.name.lower() for case in cases).most_common(1)[0]
    if count > 1:
        raise InputError(
            f"{path}: {count} cases are called {name!r}: name them in the column case."
        )
    return cases


def _case(row: dict, folder: Path) -> Case:
    cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
    volume = folder / cells["volume"]
    name = cells["case"] or re.sub(r"\.(nii\.gz|[^.]+)$", "", volume.name)
    arguments, inputs = [str(volume)], [volume]
    for column, option in OPTIONS.items():
        if column == "seeds" and cells[column].endswith(".json"):
            arguments.append(f"--seeds={folder / cells[column]}")
            inputs.append(folder / cells[column])
        else:
            voxels = [voxel.strip() for voxel in cells[column].split(";")]
            arguments += [f"{option}={voxel}" for voxel in voxels if voxel]
    if cells["mask"]:
        arguments.append(f"--mask={folder / cells['mask']}")
        inputs.append(folder / cells["mask"])
    problem = _problem(row, cells, name)
    # Tables, pages and messages show the name of a row that cannot be run, too.
    return Case(one_line(name) if problem else name, tuple(inputs), tuple(arguments), problem)


def _problem(row, cells, name):
    """Why a row cannot be run, or nothing."""
    for column, cell in cells.items():
        if CONTROL.search(cell):
            return f"the cell {one_line(cell)!r} of the column {column} has a control character"
    if None in row:
        return "the row has more cells than the list has columns: put lists of voxels in quotes"
    if not cells["volume"]:
        return "the row names no volume"
    low = name.casefold()
    if (
        not NAME.fullmatch(name)
        or name.endswith((" ", "."))
        or len(name.encode()) > LONGEST
        or is_device_name(name)
        or low in (RECORD, TABLE)
        or low.endswith(LOG)
    ):
        return f"the name {one_line(name)!r} cannot be a folder's: name it in the column case"
    return ""


def _check_shared(shared: Sequence[str]) -> None:
    """Refuse options that cannot be parsed, or belong to one case."""

    class SharedOptions(Parser):
        def error(self, message: str) -> NoReturn:
            raise InputError(f"--options: {message}; fuzzy-vessel run --help shows them.")

    parsed = make_parser(SharedOptions).parse_args(["run", "VOLUME", "--out=DIR", *shared])
    for name in ("seed", "seeds", "vessel", "background", "mask"):
        if getattr(parsed, name):
            raise InputError(f"--{name} belongs to one case: write it into the list.")
    if parsed.out != "DIR":
        raise InputError("each case has its folder in that of --out: give --out alone.")


# The runs


def _run_all(cases, options, folder, entries, progress):
    """Run what is not done yet; the table is written after each case."""
    wanted = [case for case in cases if not _is_done(case, options, folder, entries)]
    for case in wanted:
        entries.pop(case.name, None)
    _write(folder, cases, entries)
    progress.stage(f"{len(wanted)} of {len(cases)} cases")
    processes = _Processes()
    with ThreadPoolExecutor(options.workers) as pool:
        tasks = {pool.submit(_run, case, options, folder, processes): case for case in wanted}
        try:
            for count, task in enumerate(as_completed(tasks), 1):
                entries[tasks[task].name] = task.result()
                _write(folder, cases, entries)
                progress(count / len(tasks))
        except BaseException:
            processes.end()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _is_done(case, options, folder, entries):
    known = entries.get(case.name, {})
    now = {"arguments": [*case.arguments, *options.options], "files": _stamps(case), "status": DONE}
    same = all(known.get(name) == value for name, value in now.items())
    return same and (folder / case.name / REPORT).exists()


def _stamps(case: Case) -> list:
    """Sizes and times of a case's files, to run it again where one has changed."""
    found = []
    for path in case.inputs:
        # Not the methods of Path, which raise where a name cannot be that of a file.
        for file in sorted(path.rglob("*")) if os.path.isdir(path) else [path]:
            status = file.stat() if os.path.exists(file) else None
            found.append([file.name, status and status.st_size, status and status.st_mtime_ns])
    return found


def _run(case, options, folder, processes) -> dict[str, Any]:
    """One case: what the record says of it."""
    arguments = [*case.arguments, *options.options]
    entry = {"arguments": arguments, "files": _stamps(case), "status": FAILED, "seconds": 0.0}
    if case.problem:
        return {**entry, "error": case.problem}
    for rest in folder.glob(f".{glob.escape(case.name)}-partial-*"):
        shutil.rmtree(rest, ignore_errors=True)  # of a run that was killed
    begin = perf_counter()
    try:
        code, output = processes.run(["run", *arguments, f"--out={folder / case.name}"])
    except OSError as error:  # more text than a process takes
        return {**entry, "error": f"the case cannot be started: {error.strerror or error}"}
    entry["seconds"] = perf_counter() - begin
    (folder / f"{case.name}{LOG}").write_text(output, encoding="utf-8")
    if code == 0:
        return {**entry, "status": DONE, "error": ""}
    lines = [line for line in output.splitlines() if "error:" in line] or output.splitlines()[-1:]
    said = lines[-1].partition("error: ")[2] or lines[-1] if lines else ""
    return {**entry, "error": said[:MAX_ERROR] or f"the process ended with status {code}"}


class _Processes:
    """Runs this program in processes of their own, which can all be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen] = set()
        self._lock, self._ended = threading.Lock(), False

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """Exit status and output."""
        with self._lock:
            if self._ended:
                return 130, "cancelled"
            process = subprocess.Popen(
                [sys.executable, "-m", "fuzzy_vessel", *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, encoding="utf-8", errors="replace",
            )  # fmt: skip
            self._running.add(process)
        output = process.communicate()[0]
        self._running.discard(process)
        return process.returncode, output

    def end(self) -> None:
        """End all, which removes what they have half written."""
        with self._lock:
            self._ended = True
            for process in list(self._running):
                process.terminate()


# What is known of the cases


def _read_record(folder: Path) -> dict[str, dict[str, Any]]:
    """Arguments, files, status, seconds and error of each case that was run in the folder."""
    place = folder / RECORD
    if not place.exists():
        known = {LOCK, *OF_FILE_MANAGERS}
        if any(entry.name not in known for entry in folder.iterdir()):
            raise InputError(
                f"{folder}: the folder holds other files; name another one with --out."
            )
        return {}
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
        if content["program"] != PROGRAM:
            raise ValueError("it is of another program")
        return dict(content["cases"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{place} cannot be read ({error}); name another folder.") from error


def _write(folder: Path, cases: Sequence[Case], entries: dict) -> None:
    """Write the record and the table, each complete or not at all."""
    rows = [_row(folder, case.name, entries) for case in cases]
    record = {"program": PROGRAM, "cases": entries}
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, TABLE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    for name, text in (
        (RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n"),
        (TABLE, table.getvalue()),
    ):
        temporary = folder / f".{name}.partial"
        temporary.write_text(text, encoding="utf-8", newline="")
        os.replace(temporary, folder / name)


def _row(folder: Path, name: str, entries: dict) -> dict[str, Any]:
    entry = entries.get(name, {"status": "not run", "seconds": None, "error": ""})
    row = {"case": name, **{column: entry.get(column) for column in ("status", "error")}}
    row["seconds"] = entry["seconds"] and round(entry["seconds"], 1)
    if entry["status"] != DONE:
        return row
    report = json.loads((folder / name / REPORT).read_text(encoding="utf-8"))
    trees, threshold = report.get("skeletons") or {"": report["skeleton"]}, report["threshold"]
    with (folder / name / BRANCHES).open(newline="", encoding="utf-8") as file:
        branches = list(csv.DictReader(file))
    lengths = [float(branch["length_mm"]) for branch in branches]
    radii = [float(branch["mean_radius_mm"]) for branch in branches]
    if sum(lengths) > 0:
        weighted = sum(length * radius for length, radius in zip(lengths, radii))
        row["mean_radius_mm"] = round(weighted / sum(lengths), 6)
    return row | {
        "volume_ml": report["vessels"]["ml"],
        "each_vessel_ml": "; ".join(
            f"{vessel['name']}: {vessel['ml']}" for vessel in report.get("each_vessel", ())
        ),
        "length_mm": round(sum(tree["total_length_mm"] for tree in trees.values()), 6),
        "branches": sum(tree["branches"] for tree in trees.values()),
        "components": len({(each.get("label"), each["component"]) for each in branches}),
        "threshold": threshold["value"],
        "threshold_chosen": threshold["chosen"],
        "confidence": threshold.get("confidence"),
        "warnings": len(report["warnings"]),
    }
