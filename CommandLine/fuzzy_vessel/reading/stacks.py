"""Stacks of microscopes: OME-Zarr folders (OME-NGFF 0.4 and 0.5) by zarr, TIFF files by tifffile.

What a Zarr folder says of itself is checked before zarr opens it (`zarr_guard`).
"""

import importlib
import logging
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import (
    ZARR,
    attributes_of,
    checked_array,
    image_of,
    path_inside,
)

from .itk_files import MEMORY_SHARE, memory_of_the_machine, one_line, refuse_colours

TIFF = (".tif", ".tiff")
SPACE = "zyx"
# Lengths of a unit in mm, as OME and ImageJ write it.
UNITS = {
    "nanometer": 1e-6, "nm": 1e-6, "angstrom": 1e-7,
    "micrometer": 1e-3, "micron": 1e-3, "microns": 1e-3, "um": 1e-3, "µm": 1e-3, "μm": 1e-3,
    "\\u00b5m": 1e-3, "millimeter": 1.0, "mm": 1.0, "centimeter": 10.0, "cm": 10.0,
    "meter": 1e3, "m": 1e3,
}  # fmt: skip
MAX_DEPTH = 4  # how far above an array its image's metadata may be
MAX_RATIO = 1032  # deflate packs at most so many bytes into one


@dataclass(frozen=True)
class Choice:
    """Which part of a stack is wanted.

    Attributes
    ----------
    frame, channel : int or None
        Counted from 0; None where there is one only.
    spacing : tuple of float or None
        I, J, K in mm; None for the file's own.
    """

    frame: int | None = None
    channel: int | None = None
    spacing: tuple[float, float, float] | None = None

    @classmethod
    def of(cls, options: Namespace) -> "Choice":
        """What the user has chosen."""
        names = ("frame", "channel", "spacing")
        return cls(**{name: getattr(options, name, None) for name in names})

    @property
    def for_stacks(self) -> str:
        """The option that is for stacks alone, if one was given."""
        if self.channel is not None:
            return "--channel"
        return "--spacing" if self.spacing is not None else ""


@dataclass(frozen=True)
class Stack:
    """Voxels (K, J, I) of one channel and time point; spacing and origin (K, J, I in mm, LPS)."""

    voxels: np.ndarray
    spacing: tuple[float, ...]
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    notes: tuple[str, ...] = ()

    @property
    def ijk_to_ras(self) -> np.ndarray:
        """From voxels I, J, K to millimetres R, A, S, (4, 4)."""
        matrix = np.diag([*self.spacing[::-1], 1.0])
        matrix[:3, 3] = self.origin[::-1]
        matrix[:2] *= -1
        return matrix


def is_stack(path: Path) -> bool:
    """Whether a path is an OME-Zarr folder or a TIFF file, by its name or its files' names."""
    if path.is_dir():
        return any((path / name).exists() for name in ZARR)
    return path.name.lower().endswith(TIFF)


def read_stack(path: Path, choice: Choice) -> Stack:
    """Read one channel and time point of a stack.

    Raises
    ------
    InputError
        The package is not installed, the file is damaged or of another kind, or a choice is
        missing; the message names the file.
    """
    name, extra = ("zarr", "zarr") if path.is_dir() else ("tifffile", "tiff")
    try:
        library = importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"{path}: the package {name} is needed and not installed ({error}); install it with: "
            f"pip install 'fuzzy-vessel-gpu[{extra}]'"
        ) from error
    try:
        return (_read_zarr if path.is_dir() else _read_tiff)(path, choice, library)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # the libraries raise errors of many kinds for damaged files
        reason = one_line(error) or type(error).__name__
        raise InputError(f"{path}: this is not an image that can be read: {reason}.") from error


def _selection(path, axes, shape, choice):
    """The index of one channel and time point of an array with axes t, c, z, y, x."""
    in_space = [axis for axis in axes if axis in SPACE]
    if in_space not in (list(SPACE), list(SPACE[1:])) or len(set(axes)) != len(axes):
        raise InputError(
            f"{path}: its axes are {one_line(axes)}; t, c, z, y, x in this order are read."
        )
    index: list[int | slice] = []
    for axis, size in zip(axes, shape, strict=True):
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


def _one_of(path, size, chosen, what, option):
    if chosen is None and size > 1:
        raise InputError(
            f"{path}: it holds {size} {what}; choose one with {option} N, N = 0 to {size - 1}."
        )
    chosen = chosen or 0
    if not 0 <= chosen < size:
        raise InputError(f"{path}: there is no {option} {chosen}; N = 0 to {size - 1}.")
    return chosen


def _refuse_too_large(path, shape: Sequence[int], value_bytes: int) -> None:
    wanted, memory = float(value_bytes), memory_of_the_machine()
    for size in shape:
        wanted *= int(size)
    if memory and wanted > MEMORY_SHARE * memory:
        raise InputError(
            f"{path}: the image has {wanted / 2**30:,.1f} GiB, and this machine has "
            f"{memory / 2**30:,.1f} GiB of memory; crop it, or name a smaller resolution of an "
            "OME-Zarr by its folder (image.zarr/1)."
        )


def _in_space(axes: str, lengths: Mapping[str, float], otherwise: float = 1.0):
    """Lengths of the axes K, J, I."""
    return tuple(float(lengths.get(axis, 1.0)) if axis in axes else otherwise for axis in SPACE)


def _three_d(voxels):
    """A single slice as a volume; in the machine's byte order."""
    voxels = voxels[np.newaxis] if voxels.ndim == 2 else voxels
    voxels = voxels.astype(np.uint8) if voxels.dtype == bool else voxels
    return np.ascontiguousarray(voxels, voxels.dtype.newbyteorder("="))


# OME-Zarr


def _read_zarr(path: Path, choice: Choice, zarr: ModuleType) -> Stack:
    image, multiscale, dataset = _image(path)
    axes = [_axis(each) for each in multiscale["axes"]]
    letters = "".join(name for name, _ in axes)
    folder = image / path_inside(dataset["path"])
    header, notes = checked_array(folder)
    if len(letters) != len(header.shape):
        raise ValueError(f"its axes {one_line(letters)} do not fit the shape {header.shape}")
    index = _selection(path, letters, header.shape, choice)
    wanted = [size for size, at in zip(header.shape, index) if isinstance(at, slice)]
    for shape in (wanted, header.chunks):
        _refuse_too_large(path, shape, header.value_bytes)
    voxels = zarr.open_array(str(folder), mode="r")[index]
    spacing, origin, unknown = _placed(axes, multiscale, dataset)
    if choice.spacing is not None:
        spacing = dict(zip("xyz", choice.spacing))
    elif unknown:
        notes += (f"{path.name} names no unit of length for its axes: its lengths count as mm.",)
    origin = _in_space(letters, origin, 0.0)
    return Stack(_three_d(voxels), _in_space(letters, spacing), origin, tuple(notes))


def place_of(path: Path) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Spacing and origin (K, J, I, mm) of an OME-Zarr image; None if the path is none."""
    folders = (path, path / "0", *list(path.parents)[:MAX_DEPTH])
    if all(_multiscale(folder) is None for folder in folders):
        return None
    _folder, multiscale, dataset = _image(path)
    axes = [_axis(each) for each in multiscale["axes"]]
    letters = "".join(name for name, _ in axes)
    spacing, origin, _unknown = _placed(axes, multiscale, dataset)
    return _in_space(letters, spacing), _in_space(letters, origin, 0.0)


def _image(path):
    """Folder of the image, its multiscale and the dataset that a path names."""
    multiscale = _multiscale(path)
    if multiscale is None and _multiscale(path / "0"):  # as bioformats2raw writes a single image
        path = path / "0"
        multiscale = _multiscale(path)
    if multiscale is not None:
        return path, multiscale, multiscale["datasets"][0]
    for image in list(path.parents)[:MAX_DEPTH]:
        for dataset in (_multiscale(image) or {}).get("datasets", ()):
            if image / path_inside(dataset["path"]) == path:
                return image, _multiscale(image), dataset
    raise InputError(
        f"{path}: this folder is Zarr, but no OME-Zarr image: it has no 'multiscales', which name "
        "its axes and resolutions."
    )


def _multiscale(folder: Path) -> dict[str, Any] | None:
    """The first multiscale image in a folder's attributes."""
    found = image_of(attributes_of(folder)).get("multiscales")
    return found[0] if found else None


def _axis(entry):
    """Name and unit of an axis; OME-NGFF before 0.4 has the name alone."""
    return (entry, None) if isinstance(entry, str) else (str(entry["name"]), entry.get("unit"))


def _placed(axes, multiscale, dataset):
    """Spacing and origin in mm by axis, and whether a unit is missing."""
    spacing, origin = {name: 1.0 for name, _ in axes}, {name: 0.0 for name, _ in axes}
    both = (dataset, multiscale)
    for step in (each for where in both for each in where.get("coordinateTransformations", ())):
        kind, numbers = step["type"], step.get(step["type"])
        if kind == "identity":
            continue
        if kind not in ("scale", "translation") or not isinstance(numbers, list):
            raise ValueError(
                f"its place in space is given by {one_line(kind)!r}, which is not read"
            )
        for (name, _), number in zip(axes, numbers, strict=True):
            if kind == "scale":
                spacing[name] *= float(number)
                origin[name] *= float(number)
            else:
                origin[name] += float(number)
    units = {name: UNITS.get(str(unit).lower()) for name, unit in axes if name in SPACE}
    for name, unit in units.items():
        spacing[name] *= unit or 1.0
        origin[name] *= unit or 1.0
    return spacing, origin, None in units.values()


# TIFF: OME-TIFF, ImageJ's, and plain pages


def _read_tiff(path: Path, choice: Choice, tifffile: ModuleType) -> Stack:
    if not path.is_file() or path.stat().st_size == 0:
        raise ValueError("the file is empty")
    with _errors_raised(), tifffile.TiffFile(path) as file:
        series = file.series[0]
        axes, shape = _named(series.axes.lower()), series.shape
        if series.dtype is None or series.dtype.kind not in "uifb":
            raise ValueError(f"its voxels are of the type {series.dtype}")
        index = _selection(path, axes, shape, choice)
        _refuse_too_large(path, shape, series.dtype.itemsize)
        _refuse_cut(series, path.stat().st_size)
        spacing = _tiff_spacing(file)
        voxels = series.asarray()[index]
    notes: tuple[str, ...] = ()
    if choice.spacing is not None:
        spacing = dict(zip("xyz", choice.spacing))
    elif len(spacing) < len(SPACE):
        notes = (
            f"{path.name} does not say how large its voxels are: they count as 1 mm; give "
            "--spacing I,J,K.",
        )
    return Stack(_three_d(voxels), _in_space(axes, spacing), notes=notes)


class _Raises(logging.Handler):
    """Makes a logged error one that is raised."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError(record.getMessage())


@contextmanager
def _errors_raised() -> Iterator[None]:
    """Raise what tifffile only logs: it leaves out lost pages silently."""
    logger, handler = logging.getLogger("tifffile"), _Raises(logging.ERROR)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _named(axes):
    """Pages that say nothing of their meaning are slices."""
    unnamed = [axis for axis in axes if axis in "qi"]
    return axes.replace(unnamed[0], "z") if len(unnamed) == 1 and "z" not in axes else axes


def _refuse_cut(series, length):
    """Refuse pages that the file cannot hold."""
    if series.dataoffset is not None:
        if series.dataoffset + series.nbytes > length:
            raise ValueError("the file was cut short")
        return
    if series.nbytes > length * MAX_RATIO:
        raise ValueError("it declares more voxels than the file can hold")
    for page in filter(None, series.pages):
        parts = zip(page.dataoffsets, page.databytecounts)
        if any(offset + count > length for offset, count in parts):
            raise ValueError("the file was cut short")


def _tiff_spacing(file: Any) -> dict[str, float]:
    """Lengths of voxels in mm by axis, as far as the file says them."""
    found = {}
    if file.ome_metadata:
        for axis in SPACE:
            name = f"PhysicalSize{axis.upper()}"
            size = re.search(rf'{name}="([0-9.eE+-]+)"', file.ome_metadata)
            unit = re.search(rf'{name}Unit="([^"]*)"', file.ome_metadata)
            # OME's default is the micrometre.
            scale = UNITS.get(unit[1].lower() if unit else "um")
            if size and scale:
                found[axis] = float(size[1]) * scale
    elif file.imagej_metadata:
        metadata, tags = file.imagej_metadata, file.pages[0].tags
        scale = UNITS.get(str(metadata.get("unit", "")).lower())
        if scale is not None:
            found["z"] = float(metadata.get("spacing", 0)) * scale
            for axis, tag in (("x", "XResolution"), ("y", "YResolution")):
                if tag in tags:
                    pixels, unit = tags[tag].value
                    found[axis] = scale * unit / pixels if pixels else 0.0
    return {axis: mm for axis, mm in found.items() if 0 < mm < float("inf")}
