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
import subprocess  # noqa: TID251
import sys
from argparse import Namespace
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import folder_lock

from .arguments import make_parser
from .jobs import Report
from .progress import Progress
from .reading.process import one_line
from .writing import BRANCHES, NOT_RESULTS, REPORT

CASES_FAILED = 3  # exit status
RECORD, TABLE, LOG = "cohort.json", "cases.csv", ".log"
DONE, FAILED, NOT_RUN = "done", "failed", "not run"
COLUMNS = ("case", "volume", "seeds", "vessels", "background", "mask")
OPTIONS = {"seeds": "--seed", "vessels": "--vessel", "background": "--background"}
TABLE_COLUMNS = (
    "case", "status", "volume_ml", "each_vessel_ml", "length_mm", "branches", "components",
    "mean_radius_mm", "threshold", "threshold_chosen", "confidence", "warnings", "seconds", "error",
)  # fmt: skip
NAME = re.compile(r"\w[\w .+-]{0,79}(?<![ .])")  # of a folder, on every system


class Case(NamedTuple):
    """One row: its name (of its folder), files that it reads, arguments of `run`, and a problem."""

    name: str
    inputs: tuple[Path, ...]
    arguments: tuple[str, ...]
    problem: str = ""


def cohort(options: Namespace, progress: Progress) -> Report:
    """Run every case that is not done yet; a line for each failed one."""
    cases, folder = read_cases(options.list), Path(options.out)
    _check_shared(options.options)
    try:
        with folder_lock(folder):
            rows = _run_all(cases, options, folder, progress)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written: {error.strerror or error}; finished cases are kept: free "
            "some space and run the same again, or name another folder."
        ) from error
    failed = [f"case {row['case']}: {row['error']}" for row in rows if row["status"] != DONE]
    lines = [
        f"cases      {len(rows) - len(failed)} of {len(rows)} done",
        f"table      {folder.resolve() / TABLE}",
        f"results    {folder.resolve()}",
    ]
    return Report(lines, failed, CASES_FAILED if failed else 0)


# The list


def read_cases(path: str | Path) -> list[Case]:
    """Read the cases of a CSV file with the columns `COLUMNS`; see `fuzzy-vessel cohort --help`.

    A row that cannot be run becomes a case with a `problem`.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        head = text.partition("\n")[0]
        separator = next((sign for sign in ";\t" if sign in head), ",")
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
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


def _case(row, folder):
    cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
    volume = folder / cells["volume"]
    name = cells["case"] or re.sub(r"\.(nii\.gz|[^.]+)$", "", volume.name)
    arguments, files = [str(volume)], {"--mask": cells["mask"]}
    for column, option in OPTIONS.items():
        if column == "seeds" and cells[column].endswith(".json"):
            files["--seeds"] = cells[column]
        else:
            voxels = [voxel.strip() for voxel in cells[column].split(";")]
            arguments += [f"{option}={voxel}" for voxel in voxels if voxel]
    files = {option: folder / file for option, file in files.items() if file}
    arguments += [f"{option}={file}" for option, file in files.items()]
    problem = ""
    if not all(cell.isprintable() for cell in cells.values()):
        problem = "a cell has a control character"
    elif None in row:
        problem = "the row has more cells than the list has columns: put lists in quotes"
    elif not cells["volume"]:
        problem = "the row names no volume"
    elif not NAME.fullmatch(name) or name.lower().endswith((RECORD, TABLE, LOG)):
        problem = f"the name {one_line(name)!r} cannot be a folder's: name it in the column case"
    return Case(one_line(name), (volume, *files.values()), tuple(arguments), problem)


def _check_shared(shared):
    """Refuse options that belong to one case; those that cannot be parsed end the process."""
    parsed = make_parser().parse_args(["run", "VOLUME", "--out=DIR", *shared])
    for name in ("seed", "seeds", "vessel", "background", "mask"):
        if getattr(parsed, name):
            raise InputError(f"--{name} belongs to one case: write it into the list.")
    if parsed.out != "DIR":
        raise InputError("each case has its folder in that of --out: give --out alone.")


# The runs


def _run_all(cases, options, folder, progress):
    """Run what is not done yet; the table, whose rows are returned, is written after each case."""
    entries, wanted = _read_record(folder), []
    for case in cases:
        known = entries.get(case.name, {})
        done = known.get("row", {}).get("status") == DONE and all(
            (folder / case.name / name).exists() for name in (REPORT, BRANCHES)
        )
        if not done or known | _entry(case, options) != known:
            wanted.append(case)
            entries.pop(case.name, None)
    rows = _write(folder, cases, entries)
    progress.stage(f"{len(wanted)} of {len(cases)} cases")
    with ThreadPoolExecutor(options.workers) as pool:
        tasks = {pool.submit(_run, case, options, folder): case for case in wanted}
        try:
            for count, task in enumerate(as_completed(tasks), 1):
                entries[tasks[task].name] = task.result()
                rows = _write(folder, cases, entries)
                progress(count / len(tasks))
        except BaseException:  # Ctrl+C reaches the running cases, too
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return rows


def _entry(case, options):
    """What a case was run with: arguments, and sizes and times of its files."""
    files: list = []
    for path in () if case.problem else case.inputs:
        for file in sorted(path.rglob("*")) if os.path.isdir(path) else [path]:
            status = file.stat() if os.path.exists(file) else None
            files.append([file.name, status and status.st_size, status and status.st_mtime_ns])
    arguments = [*case.arguments, *options.options]
    return {"arguments": arguments, "files": files}


def _run(case, options, folder):
    """One case: what the record says of it, its row of the table included."""
    entry = _entry(case, options)
    row = {"case": case.name, "status": FAILED, "seconds": 0.0, "error": case.problem}
    if case.problem:
        return entry | {"row": row}
    for rest in folder.glob(f".{glob.escape(case.name)}-partial-*"):  # of a run that was killed
        shutil.rmtree(rest, ignore_errors=True)
    begin = perf_counter()
    code, output = _process(["run", *entry["arguments"], f"--out={folder / case.name}"])
    row["seconds"] = round(perf_counter() - begin, 1)
    (folder / f"{case.name}{LOG}").write_text(output, encoding="utf-8")
    if code == 0:
        return entry | {"row": row | {"status": DONE} | _figures(folder / case.name)}
    lines = [line for line in output.splitlines() if "error:" in line] or output.splitlines()[-1:]
    said = lines[-1].partition("error: ")[2] or lines[-1] if lines else ""
    row["error"] = one_line(said) or f"the process ended with status {code}"
    return entry | {"row": row}


def _process(arguments):
    """Exit status and output of this program, in a process of its own."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "fuzzy_vessel", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    return done.returncode, done.stdout


def _figures(folder):
    """The columns of the table that are of a case's results."""
    report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    trees, threshold = report.get("skeletons") or {"": report["skeleton"]}, report["threshold"]
    with (folder / BRANCHES).open(newline="", encoding="utf-8") as file:
        branches = list(csv.DictReader(file))
    lengths = [float(branch["length_mm"]) for branch in branches]
    radii = [float(branch["mean_radius_mm"]) for branch in branches]
    weighted = sum(length * radius for length, radius in zip(lengths, radii))
    each = (f"{vessel['name']}: {vessel['ml']}" for vessel in report.get("each_vessel", ()))
    return {
        "volume_ml": report["vessels"]["ml"],
        "each_vessel_ml": "; ".join(each),
        "length_mm": round(sum(tree["total_length_mm"] for tree in trees.values()), 6),
        "branches": sum(tree["branches"] for tree in trees.values()),
        "components": len({(each.get("label"), each["component"]) for each in branches}),
        "mean_radius_mm": round(weighted / sum(lengths), 6) if sum(lengths) > 0 else None,
        "threshold": threshold["value"],
        "threshold_chosen": threshold["chosen"],
        "confidence": threshold.get("confidence"),
        "warnings": len(report["warnings"]),
    }


# What is known of the cases


def _read_record(folder):
    """Arguments, files and row of the table of each case that was run in the folder."""
    place = folder / RECORD
    if not place.exists():
        if {entry.name for entry in folder.iterdir()} - NOT_RESULTS:
            raise InputError(
                f"{folder}: the folder holds other files; name another one with --out."
            )
        return {}
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
        return dict(content["cases"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{place} cannot be read ({error}); name another folder.") from error


def _write(folder, cases, entries):
    """Write the record and the table, each complete or not at all; returns the table's rows."""
    none = {"row": {"status": NOT_RUN}}
    rows = [{"case": case.name, **entries.get(case.name, none)["row"]} for case in cases]
    record = json.dumps({"cases": entries}, indent=1, ensure_ascii=False)
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, TABLE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    for name, text in ((RECORD, f"{record}\n"), (TABLE, table.getvalue())):
        temporary = folder / f".{name}.partial"
        temporary.write_text(text, encoding="utf-8", newline="")
        os.replace(temporary, folder / name)
    return rows
