"""The list of cases: a CSV file, one row a case."""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.device_names import is_device_name

from ..reading.refusals import one_line
from .case_table import LOG, RECORD, TABLE
from .thumbnails import PAGE

COLUMNS = ("case", "volume", "seeds", "vessels", "background", "mask")
# Columns of voxels, and the option of `fuzzy-vessel run` for one of them.
OPTIONS = {"seeds": "--seed", "vessels": "--vessel", "background": "--background"}
# A name is a folder on every system: no separators, nothing that Windows keeps for itself.
NAME = re.compile(r"[\w][\w .+-]*")
LONGEST = 200  # bytes of a name: file systems take 255, of which what is half written needs some
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes
    ----------
    name : str
        Of its folder of results.
    inputs : tuple of Path
        The files that it reads.
    arguments : tuple of str
        Of `fuzzy-vessel run`, without options that all cases share.
    problem : str
        Why it cannot be run, or empty.
    """

    name: str
    inputs: tuple[Path, ...]
    arguments: tuple[str, ...]
    problem: str = ""


def read_cases(path: str | Path) -> list[Case]:
    """Read the cases of a CSV file with the columns `COLUMNS`.

    Cells are separated by commas, semicolons or tabs. Files are relative to the list's folder.
    Seeds are a file (.mrk.json) or voxels I,J,K apart by semicolons; vessels are voxels NAME:I,J,K,
    background seeds voxels. Without a name a case is called as its volume. A row that cannot be run
    becomes a case with a `problem`.

    Raises
    ------
    InputError
        The list cannot be read, has no case or unknown columns, or two cases have one name.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=_separator(text))
        found = list(rows)
        columns = rows.fieldnames or []
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}: line {line} is not UTF-8: save the list as UTF-8, in Excel as 'CSV UTF-8'."
        ) from error
    except (OSError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: the list cannot be read: {reason}.") from error
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown or "volume" not in columns:
        wrong = f"the column {unknown[0]!r} is unknown" if unknown else "there is no column volume"
        raise InputError(f"{path}: {wrong}; the columns are {', '.join(COLUMNS)}.")
    cases = [_case(row, path.parent.resolve()) for row in found if any(row.values())]
    if not cases:
        raise InputError(f"{path}: the list has no case; write one row for each volume.")
    names = [case.name.lower() for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"{path}: {names.count(name)} cases are called {name!r}: name them in the column "
                "case."
            )
    return cases


def _separator(text: str) -> str:
    """What separates the cells: what makes a cell of the first row the column volume."""
    head = text.partition("\n")[0].strip()
    for separator in ",;\t":
        if "volume" in next(csv.reader([head], delimiter=separator), []):
            return separator
    return ","


def _case(row: dict, folder: Path) -> Case:
    cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
    volume = folder / cells["volume"]
    name = cells["case"] or re.sub(r"\.(nii\.gz|[^.]+)$", "", volume.name)
    arguments, inputs, problem = [str(volume)], [volume], ""
    if None in row:
        problem = "the row has more cells than the list has columns: put lists of voxels in quotes"
    elif not cells["volume"]:
        problem = "the row names no volume"
    for column, cell in cells.items():
        if CONTROL.search(cell):
            problem = f"the cell {one_line(cell)!r} of the column {column} has a control character"
    for column, option in OPTIONS.items():
        if column == "seeds" and cells[column].endswith(".json"):
            arguments.append(f"--seeds={folder / cells[column]}")
            inputs.append(folder / cells[column])
            continue
        voxels = [voxel.strip() for voxel in cells[column].split(";")]
        arguments += [f"{option}={voxel}" for voxel in voxels if voxel]
    if cells["mask"]:
        arguments.append(f"--mask={folder / cells['mask']}")
        inputs.append(folder / cells["mask"])
    problem = problem or _problem_of_name(name)
    # Tables, pages and messages show the name of a row that cannot be run, too.
    return Case(one_line(name) if problem else name, tuple(inputs), tuple(arguments), problem)


def _problem_of_name(name: str) -> str:
    """Why no folder of results can have a name, or nothing."""
    low, said = name.casefold(), f"the name {one_line(name)!r}"
    if not NAME.fullmatch(name) or name.endswith((" ", ".")) or is_device_name(name):
        return f"{said} cannot be a folder's: name it in the column case"
    if len(name.encode()) > LONGEST:
        return f"{said} has more than {LONGEST} bytes: give a shorter one in the column case"
    if low in (RECORD, TABLE, PAGE) or low.endswith(LOG):
        return f"{said} is that of a file of the cohort: give another one in the column case"
    return ""
