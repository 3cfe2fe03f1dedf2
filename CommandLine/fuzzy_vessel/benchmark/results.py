"""Tables of results: in memory, and in a JSON file."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

PROGRAM = "fuzzy-vessel benchmark"


@dataclass
class Table:
    """One table.

    Attributes
    ----------
    title : str
    columns : dict of str to str
        Key of a row -> heading.
    rows : list of dict
        Numbers, words, or None where there is nothing to say; keys that are no column are details.
    plot : dict
        How it is drawn; see `plots`.
    notes : list of str
    """

    title: str
    columns: dict
    rows: list
    plot: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)


def read(path: str | Path) -> tuple[dict, dict[str, Table]]:
    """What an earlier run has written.

    Raises
    ------
    InputError
        If the file is no such result.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["program"] != PROGRAM:
            raise KeyError("program")
        tables = {name: Table(**table) for name, table in content["tables"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: this is no result of the benchmark ({error}); name another file."
        ) from error
    return content, tables


def merge_into(path: str | Path, environment: dict, tables: dict[str, Table]) -> None:
    """Write tables to a JSON file; tables of an earlier run on the same machine stay in it.

    The file is there as a whole or not at all.
    """
    path = Path(path)
    content: dict[str, Any] = {"program": PROGRAM, "environment": environment, "tables": {}}
    if path.exists():
        earlier, _ = read(path)
        if same_machine(earlier["environment"], environment):
            content["tables"] = earlier["tables"]
    content["tables"] |= {name: asdict(table) for name, table in tables.items()}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_whole(path, text)


def refuse_foreign(path: str | Path, environment: dict) -> None:
    """`InputError` if the file holds something else, or the figures of another machine."""
    if Path(path).exists():
        earlier, _ = read(path)
        if not same_machine(earlier["environment"], environment):
            raise InputError(
                f"{path} holds figures of another machine or of other sizes "
                f"({described(earlier['environment'])}); name another file."
            )
    elif not Path(path).resolve().parent.is_dir():
        raise InputError(f"{path}: there is no such folder.")


def same_machine(first: dict, second: dict) -> bool:
    """Whether the figures may stand in one file."""
    return all(first.get(key) == second.get(key) for key in ("card", "cpu", "cores", "quick"))


def described(environment: dict) -> str:
    """One line on the machine."""
    card = environment.get("card") or "no GPU"
    quick = ", quick" if environment.get("quick") else ""
    return f"{card}, {environment.get('cpu')}, {environment.get('cores')} cores{quick}"


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file so that it is never seen half-written.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    path = Path(path)
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.resolve().parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(partial, 0o666 & ~umask)
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}; name another one."
        ) from error
