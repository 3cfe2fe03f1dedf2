"""Refusals that several readers share; each message names the file and what to do."""

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from FuzzyVesselCoreLib.errors import InputError

MAX_MESSAGE = 300


def one_line(text: object) -> str:
    """Return the text without control characters, and not too long.

    What a file says about itself is quoted through this, so that it cannot spoil the terminal.
    """
    line = "".join(sign if sign.isprintable() else "?" for sign in str(text))
    return line if len(line) <= MAX_MESSAGE else line[:MAX_MESSAGE] + "..."


def existing(path: str | Path) -> Path:
    """Return the path.

    Raises
    ------
    InputError
        There is nothing.
    """
    path = Path(path)
    try:
        is_there = path.exists()
    except OSError as error:  # too long a name, a folder that must not be entered
        raise InputError(f"{path}: {error.strerror or error}.") from error
    if not is_there:
        raise InputError(f"{path}: there is no such file or folder.")
    return path


def refuse_colours(path: Path, count: int) -> NoReturn:
    """Refuse a file whose voxels hold several values each."""
    raise InputError(
        f"{path}: each voxel holds {count} values (colours or vectors); one intensity is needed. "
        "Export the original scan, or one component of it."
    )


def refuse_stack_option(path: Path, option: str) -> None:
    """Refuse an option that is for stacks of microscopes, if one was given."""
    if option:
        raise InputError(f"{path}: {option} is for OME-Zarr and TIFF; leave it out.")


def times(sizes: Iterable[object]) -> str:
    """Return sizes as text: 3 x 4 x 5."""
    return " x ".join(str(size) for size in sizes)
