"""Tables of results: in memory, as JSON, as text and as Markdown."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

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


def read(path):
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


def merge_into(path, environment, tables):
    """Write tables to a JSON file; tables of an earlier run on the same machine stay in it.

    The file is there as a whole or not at all.
    """
    path = Path(path)
    content = {"program": PROGRAM, "environment": environment, "tables": {}}
    if path.exists():
        earlier, _ = read(path)
        if same_machine(earlier["environment"], environment):
            content["tables"] = earlier["tables"]
    content["tables"] |= {name: asdict(table) for name, table in tables.items()}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_whole(path, text)


def refuse_foreign(path, environment):
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


def same_machine(first, second):
    """Whether the figures may stand in one file."""
    return all(first.get(key) == second.get(key) for key in ("card", "cpu", "cores", "quick"))


def described(environment):
    """One line on the machine."""
    card = environment.get("card") or "no card"
    quick = ", quick" if environment.get("quick") else ""
    return f"{card}, {environment.get('cpu')}, {environment.get('cores')} cores{quick}"


def write_whole(path, text):
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


def as_text(value):
    """A value as people read it: three digits that count, thousands apart."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value == 0 or 1e-3 <= abs(value) < 100:
            return f"{value:.3g}"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1e}"
    return str(value)


def markdown(table):
    """The table in Markdown."""
    cells = [list(table.columns.values()), ["---"] * len(table.columns)]
    cells += [[as_text(row.get(key)) for key in table.columns] for row in table.rows]
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([f"**{table.title}**", "", *lines, "", *(f"{note}  " for note in table.notes)])


def plain_text(table):
    """The table for a terminal."""
    cells = [list(table.columns.values())]
    cells += [[as_text(row.get(key)) for key in table.columns] for row in table.rows]
    widths = [max(len(line[n]) for line in cells) for n in range(len(table.columns))]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(line, widths)).rstrip() for line in cells]
    return "\n".join([table.title, *lines, *table.notes, ""])
