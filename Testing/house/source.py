"""Measures of the source: folders, lines, functions and type annotations."""

import ast
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from support.places import ROOT

SOURCE = (".py", ".cu", ".cuh")
SMALL_FILE = 30  # lines
LONG_FUNCTION = 50  # lines
MANY_PARAMETERS = 10


@dataclass(frozen=True)
class Function:
    """One function or method.

    Attributes
    ----------
    place : str
        ``path:line``.
    public : bool
        Neither it nor what it lies in begins with an underscore.
    body_lines : int
        Lines without the docstring.
    """

    name: str
    place: str
    public: bool
    lines: int
    body_lines: int
    parameters: int
    typed: bool


def product_files() -> list[Path]:
    """Every source file that is no test, relative to the project's folder."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    paths = [Path(line) for line in listed]
    return [p for p in paths if p.suffix in SOURCE and p.parts[0] != "Testing"]


def line_count(path: Path) -> int:
    """Lines of a file, relative to the project's folder."""
    return len((ROOT / path).read_text(encoding="utf-8").splitlines())


def largest_folder(paths: list[Path]) -> tuple[Path, int]:
    """The folder with the most files side by side, and how many they are."""
    return Counter(path.parent for path in paths).most_common(1)[0]


def functions_of(path: Path) -> list[Function]:
    """All functions of one Python file, those inside of other functions left out."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    private = any(part.startswith("_") and part != "__init__.py" for part in path.parts)
    return list(_functions(tree, path, not private))


def _functions(parent, path, public):
    for node in ast.iter_child_nodes(parent):
        own = public and not getattr(node, "name", "").startswith("_")
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, path, own)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            arguments = [a for a in arguments if a.arg not in ("self", "cls")]
            typed = node.returns is not None and all(a.annotation for a in arguments)
            lines = node.end_lineno - node.lineno + 1
            place = f"{path}:{node.lineno}"
            docstring = ast.get_docstring(node, clean=False) or ""
            body = lines - len(docstring.splitlines())
            yield Function(node.name, place, own, lines, body, len(arguments), typed)
