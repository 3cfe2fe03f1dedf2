"""Types of arguments: from text to numbers."""

import argparse

from ..writing.label_files import LABEL_FORMATS
from ..writing.tree_files import FORMATS

SMALLEST_PHANTOM = 8  # voxels along an axis, for `liver_phantom`


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
            f"{text!r} is not a voxel I,J,K such as 265,206,70 (indices, not R,A,S in mm)"
        ) from None
    return i, j, k


def vessel(text: str) -> tuple[str, tuple[int, int, int]]:
    """Parse NAME:I,J,K; raises as `voxel`."""
    name, colon, place = text.rpartition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME:I,J,K such as portal:265,206,70")
    return name.strip(), voxel(place)


def spacing(text: str) -> tuple[float, float, float]:
    """Parse three lengths I,J,K in mm; raises as `voxel`."""
    try:
        i, j, k = (float(part) for part in text.split(","))
    except ValueError:
        i = j = k = 0.0
    if not all(0 < length < float("inf") for length in (i, j, k)):
        raise argparse.ArgumentTypeError(f"{text!r} are not three lengths such as 0.5,0.5,2")
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


def natural(text: str) -> int:
    """Parse a whole number from 0 up; raises as `voxel`."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return number


def phantom_size(text: str) -> int:
    """Parse the voxels of the phantom along an axis; raises as `voxel`."""
    number = count(text)
    if number < SMALLEST_PHANTOM:
        raise argparse.ArgumentTypeError(
            f"{text!r} is too small: give a whole number from {SMALLEST_PHANTOM} up"
        )
    return number


def folder(text: str) -> str:
    """Return the name of a folder, if there is one; raises as `voxel`."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return text


def share(text: str) -> float:
    """Parse a number from 0 to 1; raises as `voxel`."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


def affinity(text: str) -> tuple[float, float, float]:
    """Parse MEAN,SIGMA,GRADIENT; raises as `voxel`."""
    try:
        mean, sigma, gradient = (float(part) for part in text.split(","))
    except ValueError:
        mean = sigma = gradient = float("nan")
    if not (abs(mean) < float("inf") and 0 < sigma < float("inf") and 0 < gradient < float("inf")):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not MEAN,SIGMA,GRADIENT such as 220,60,30, the last two above 0"
        )
    return mean, sigma, gradient


def gigabytes(text: str) -> int:
    """Parse gigabytes to bytes; raises as `voxel`."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of gigabytes such as 16")
    return int(number * 1e9)


def formats(text: str) -> tuple[str, ...]:
    """Parse a list of formats of trees, all or none; raises as `voxel`."""
    if text in ("all", "none"):
        return FORMATS if text == "all" else ()
    return _names(text, FORMATS, ", all or none")


def label_formats(text: str) -> tuple[str, ...]:
    """Parse a list of formats of labels; raises as `voxel`."""
    return _names(text, LABEL_FORMATS)


def _names(text, known, more=""):
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is no format: use {', '.join(known)}{more}"
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
