"""Voxels of one channel and time point, with their place in space."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..refusals import one_line, refuse_colours
from .choice import Choice

# Lengths of a unit in mm, as OME and ImageJ write it.
UNITS = {
    "nanometer": 1e-6, "nm": 1e-6, "angstrom": 1e-7,
    "micrometer": 1e-3, "micron": 1e-3, "microns": 1e-3, "um": 1e-3, "µm": 1e-3, "μm": 1e-3,
    "\\u00b5m": 1e-3, "millimeter": 1.0, "mm": 1.0, "centimeter": 10.0, "cm": 10.0,
    "meter": 1e3, "m": 1e3,
}  # fmt: skip
SPACE = "zyx"
# Of the memory of the machine: the voxels are needed several times over.
MAX_SHARE = 0.5


@dataclass(frozen=True)
class Stack:
    """A volume that is not yet in the scene.

    Attributes
    ----------
    path : Path
    voxels : ndarray, (K, J, I)
    spacing, origin : tuple of float
        K, J, I in mm; the axes are L, P, S, as Slicer takes a TIFF file's.
    notes : tuple of str
        What the user should know.
    """

    path: Path
    voxels: np.ndarray
    spacing: tuple[float, ...]
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    notes: tuple[str, ...] = ()


def selection(path: Path, axes: str, shape: Sequence[int], choice: Choice) -> tuple:
    """The index of one channel and time point.

    Parameters
    ----------
    path : Path
    axes : str
        Of t, c, z, y, x, one a dimension.
    shape : sequence of int
    choice : Choice

    Returns
    -------
    tuple of int or slice

    Raises
    ------
    InputError
        A choice is missing or does not exist, or the axes are not those of a stack.
    """
    in_space = [axis for axis in axes if axis in SPACE]
    if in_space not in (list(SPACE), list(SPACE[1:])) or len(set(axes)) != len(axes):
        raise InputError(
            f"{path}: its axes are {one_line(axes)}; t, c, z, y, x in this order are read."
        )
    index: list[int | slice] = []
    for axis, size in zip(axes, shape):
        if axis in SPACE:
            index.append(slice(None))
        elif axis == "t":
            index.append(_one_of(path, size, choice.frame, "time points", "--frame"))
        elif axis == "c":
            index.append(_one_of(path, size, choice.channel, "channels", "--channel"))
        elif size == 1:
            index.append(0)
        elif axis == "s":
            refuse_colours(path, size)
        else:
            raise InputError(f"{path}: it has a dimension {one_line(axis)!r} of {size}.")
    for axis, chosen, option in (
        ("t", choice.frame, "--frame"),
        ("c", choice.channel, "--channel"),
    ):
        if axis not in axes and chosen not in (None, 0):
            raise InputError(f"{path}: there is no {option} {chosen}: leave it out.")
    return tuple(index)


def refuse_too_large(path: Path, shape: Sequence[int], value_bytes: int) -> None:
    """Refuse what the machine cannot hold.

    Raises
    ------
    InputError
    """
    wanted = value_bytes
    for size in shape:
        wanted *= int(size)
    memory = _memory()
    if memory and wanted > MAX_SHARE * memory:
        raise InputError(
            f"{path}: the image has {wanted / 2**30:,.1f} GiB, and this machine has "
            f"{memory / 2**30:,.1f} GiB of memory; crop it, or name a smaller resolution of an "
            "OME-Zarr by its folder (image.zarr/1)."
        )


def in_space(axes: str, lengths: Mapping[str, float]) -> tuple[float, ...]:
    """Lengths of the axes K, J, I; 1 where there is none."""
    return tuple(float(lengths.get(axis, 1.0)) if axis in axes else 1.0 for axis in SPACE)


def three_d(voxels: np.ndarray) -> np.ndarray:
    """A single slice as a volume; in the machine's byte order."""
    voxels = voxels[np.newaxis] if voxels.ndim == 2 else voxels
    if voxels.dtype == bool:
        voxels = voxels.astype(np.uint8)
    return np.ascontiguousarray(voxels, voxels.dtype.newbyteorder("="))


def _one_of(path, size, chosen, what, option):
    if chosen is None and size > 1:
        raise InputError(
            f"{path}: it holds {size} {what}; choose one with {option} N, N = 0 to {size - 1}."
        )
    chosen = chosen or 0
    if not 0 <= chosen < size:
        raise InputError(f"{path}: there is no {option} {chosen}; N = 0 to {size - 1}.")
    return chosen


def _memory():
    """Bytes of memory of this machine; 0 where it cannot be told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
