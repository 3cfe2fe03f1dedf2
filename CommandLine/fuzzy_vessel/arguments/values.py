"""Types of arguments: from text to numbers."""

import argparse

from ..writing.tree_files import FORMATS


def voxel(text: str) -> tuple[int, int, int]:
    """Parse I,J,K.

    Raises
    ------
    argparse.ArgumentTypeError
    """
    try:
        i, j, k = (int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a voxel I,J,K such as 265,206,70"
        ) from None
    return i, j, k


def count(text: str) -> int:
    """Parse a whole number from 1 up; raises as `voxel`."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return number


def share(text: str) -> float:
    """Parse a number from 0 to 1; raises as `voxel`."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


def formats(text: str) -> tuple[str, ...]:
    """Parse a list of formats of trees, all or none; raises as `voxel`."""
    if text in ("all", "none"):
        return FORMATS if text == "all" else ()
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is no format: use {', '.join(FORMATS)}, all or none"
        )
    return tuple(dict.fromkeys(names))


def labels(text: str) -> str | tuple[int, ...]:
    """Parse "all" or a list of labels such as 1,3; raises as `voxel`."""
    if text == "all":
        return text
    try:
        numbers = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        numbers = ()
    if not numbers or 0 in numbers:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of labels such as 1,3, and not all")
    return numbers


def threshold(text: str) -> float | None:
    """Parse a number from 0 to 1, or auto (None); raises as `voxel`."""
    return None if text == "auto" else share(text)
