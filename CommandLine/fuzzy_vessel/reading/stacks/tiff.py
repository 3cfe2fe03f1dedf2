"""TIFF stacks: OME-TIFF, ImageJ's, and plain pages."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from FuzzyVesselCoreLib.files.inflate import MAX_RATIO

from .choice import Choice
from .stack import SPACE, UNITS, Stack, in_space, refuse_too_large, selection, three_d

# Axes of pages whose meaning the file does not say.
UNNAMED = "qi"


def read(path: Path, choice: Choice, tifffile: ModuleType) -> Stack:
    """Read one channel and time point of the first image series.

    Raises
    ------
    InputError, ValueError
    """
    if not path.is_file() or path.stat().st_size == 0:
        raise ValueError("the file is empty")
    with _errors_raised(), tifffile.TiffFile(path) as file:
        series = file.series[0]
        axes, shape = _named(series.axes.lower()), series.shape
        if series.dtype is None or series.dtype.kind not in "uifb":
            raise ValueError(f"its voxels are of the type {series.dtype}")
        index = selection(path, axes, shape, choice)
        refuse_too_large(path, shape, series.dtype.itemsize)
        _refuse_cut(series, path.stat().st_size)
        spacing, known = _spacing(file)
        voxels = series.asarray()[index]
    notes: tuple[str, ...] = ()
    if choice.spacing is not None:
        spacing = dict(zip("xyz", choice.spacing))
    elif not known:
        notes = (
            f"{path.name} does not say how large its voxels are: they count as 1 mm; give "
            "--spacing I,J,K.",
        )
    return Stack(path, three_d(voxels), in_space(axes, spacing), notes=notes)


class _Raises(logging.Handler):
    """Makes a logged error one that is raised."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError(record.getMessage())


@contextmanager
def _errors_raised() -> Iterator[None]:
    """Let what tifffile only logs end the reading: it leaves lost pages out without a word."""
    logger, handler = logging.getLogger("tifffile"), _Raises(logging.ERROR)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _named(axes):
    """Pages that say nothing of their meaning are slices."""
    unnamed = [axis for axis in axes if axis in UNNAMED]
    if len(unnamed) == 1 and "z" not in axes:
        return axes.replace(unnamed[0], "z")
    return axes


def _refuse_cut(series, length):
    """Refuse pages that the file cannot hold."""
    if series.dataoffset is not None:
        if series.dataoffset + series.nbytes > length:
            raise ValueError("the file was cut short")
        return
    if series.nbytes > length * MAX_RATIO:
        raise ValueError("it declares more voxels than the file can hold")
    for page in series.pages:
        if page is None:
            continue
        parts = zip(page.dataoffsets, page.databytecounts)
        if any(offset + count > length for offset, count in parts):
            raise ValueError("the file was cut short")


def _spacing(file: Any) -> tuple[dict[str, float], bool]:
    """Lengths of voxels in mm by axis, and whether the file says them."""
    if file.ome_metadata:
        found = _ome(file.ome_metadata)
    elif file.imagej_metadata:
        found = _imagej(file)
    else:
        found = {}
    good = {axis: mm for axis, mm in found.items() if 0 < mm < float("inf")}
    return good, len(good) == len(SPACE)


def _ome(text):
    found = {}
    for axis in SPACE:
        size = re.search(rf'PhysicalSize{axis.upper()}="([0-9.eE+-]+)"', text)
        unit = re.search(rf'PhysicalSize{axis.upper()}Unit="([^"]*)"', text)
        scale = UNITS.get(unit[1].lower() if unit else "um")  # OME's default is the micrometre
        if size and scale:
            found[axis] = float(size[1]) * scale
    return found


def _imagej(file):
    metadata, tags = file.imagej_metadata, file.pages[0].tags
    scale = UNITS.get(str(metadata.get("unit", "")).lower())
    if scale is None:
        return {}
    found = {"z": float(metadata.get("spacing", 0)) * scale}
    for axis, tag in (("x", "XResolution"), ("y", "YResolution")):
        if tag in tags:
            pixels, unit = tags[tag].value
            found[axis] = scale * unit / pixels if pixels else 0.0
    return found
