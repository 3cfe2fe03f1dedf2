"""Stacks of microscopes: OME-Zarr folders (OME-NGFF 0.4 and 0.5) by zarr, TIFF files by tifffile.

Runs in the child of `process`, but `place_of`. What a Zarr folder says of itself is checked before
a chunk is read (`zarr_guard`).
"""

import logging
import re
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import attributes_of, checked_array, image_of, path_inside

from .process import Choice, Image, chosen, one_line, refuse_colours, refuse_too_large

SPACE = "zyx"
# Lengths of a unit in mm, as OME and ImageJ write it.
UNITS = {
    "nanometer": 1e-6, "nm": 1e-6, "angstrom": 1e-7,
    "micrometer": 1e-3, "micron": 1e-3, "microns": 1e-3, "um": 1e-3, "µm": 1e-3, "μm": 1e-3,
    "\\u00b5m": 1e-3, "millimeter": 1.0, "mm": 1.0, "centimeter": 10.0, "cm": 10.0,
    "meter": 1e3, "m": 1e3,
}  # fmt: skip
MAX_DEPTH = 4  # how far above an array its image's metadata may be


def _selection(axes, shape, value_bytes, choice, memory):
    """The index of one channel and time point of an array with axes t, c, z, y, x."""
    in_space = [axis for axis in axes if axis in SPACE]
    if in_space not in (list(SPACE), list(SPACE[1:])) or len(set(axes)) != len(axes):
        raise InputError(f"its axes are {one_line(axes)}; t, c, z, y, x in this order are read")
    sizes = dict(zip(axes, shape, strict=True))
    named = {
        "t": chosen(choice.frame, sizes.get("t", 1), "time points", "--frame"),
        "c": chosen(choice.channel, sizes.get("c", 1), "channels", "--channel"),
    }
    for axis, size in sizes.items():
        if axis == "s" and size > 1:
            refuse_colours(size)
        if axis not in (*SPACE, *named) and size > 1:
            raise InputError(f"it has a dimension {one_line(axis)!r} of {size}")
    wanted = np.prod([float(sizes[axis]) for axis in in_space])
    refuse_too_large(wanted * value_bytes, memory)
    return tuple(slice(None) if axis in SPACE else named.get(axis, 0) for axis in axes)


def _image(voxels, spacing, origin, notes):
    """One part of a stack; spacing and origin are K, J, I in mm, in L, P, S."""
    voxels = voxels[np.newaxis] if voxels.ndim == 2 else voxels
    voxels = voxels.astype(np.uint8) if voxels.dtype == bool else voxels
    matrix = np.diag([*spacing[::-1], 1.0])
    matrix[:3, 3] = origin[::-1]
    matrix[:2] *= -1
    return Image(np.ascontiguousarray(voxels, voxels.dtype.newbyteorder("=")), matrix, notes)


def _in_space(axes: str, lengths: dict[str, float], otherwise: float = 1.0):
    """Lengths of the axes K, J, I."""
    return tuple(float(lengths.get(axis, 1.0)) if axis in axes else otherwise for axis in SPACE)


# OME-Zarr


def read_zarr(path: Path, choice: Choice, memory: float) -> Image:
    """One channel and time point of an OME-Zarr image."""
    folder, letters, spacing, origin, unknown = _array_in(path)
    array, notes = checked_array(folder)
    if len(letters) != len(array.shape):
        raise ValueError(f"its axes {one_line(letters)} do not fit the shape {array.shape}")
    index = _selection(letters, array.shape, array.dtype.itemsize, choice, memory)
    if choice.spacing is not None:
        spacing = choice.spacing[::-1]
    elif unknown:
        notes += (f"{path.name} names no unit of length for its axes: its lengths count as mm.",)
    return _image(array[index], spacing, origin, tuple(notes))


def place_of(path: Path) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Spacing and origin (K, J, I, mm) of an OME-Zarr image; None if the path is not one."""
    if all(_multiscale(folder) is None for folder in (path, path / "0", *path.parents[:MAX_DEPTH])):
        return None
    return _array_in(path)[2:4]


def _array_in(path):
    """Folder, axes, spacing, origin (K, J, I) of an array; and whether a unit is missing."""
    image, multiscale = path, _multiscale(path)
    if multiscale is None and _multiscale(path / "0"):  # as bioformats2raw writes a single image
        image, multiscale = path / "0", _multiscale(path / "0")
    if multiscale is not None:
        return _placed(image, multiscale, multiscale["datasets"][0])
    for image in path.parents[:MAX_DEPTH]:
        multiscale = _multiscale(image) or {}
        for dataset in multiscale.get("datasets", ()):
            if image / path_inside(dataset["path"]) == path:
                return _placed(image, multiscale, dataset)
    raise InputError(
        "this folder is Zarr, but no OME-Zarr image: it has no 'multiscales', which name its axes "
        "and resolutions"
    )


def _multiscale(folder: Path) -> dict[str, Any] | None:
    """The first multiscale image in a folder's attributes."""
    found = image_of(attributes_of(folder)).get("multiscales")
    return found[0] if found else None


def _placed(image, multiscale, dataset):
    # OME-NGFF before 0.4 has the names of axes alone.
    axes = [{"name": each} if isinstance(each, str) else each for each in multiscale["axes"]]
    names = [str(axis["name"]) for axis in axes]
    spacing, origin = dict.fromkeys(names, 1.0), dict.fromkeys(names, 0.0)
    for step in (
        each
        for where in (dataset, multiscale)
        for each in where.get("coordinateTransformations", ())
    ):
        kind, numbers = step["type"], step.get(step["type"])
        if kind == "identity":
            continue
        if kind not in ("scale", "translation") or not isinstance(numbers, list):
            raise ValueError(
                f"its place in space is given by {one_line(kind)!r}, which is not read"
            )
        for name, number in zip(names, numbers, strict=True):
            if kind == "scale":
                spacing[name] *= float(number)
                origin[name] *= float(number)
            else:
                origin[name] += float(number)
    units = {
        name: UNITS.get(str(axis.get("unit")).lower())
        for name, axis in zip(names, axes)
        if name in SPACE
    }
    for name, unit in units.items():
        spacing[name] *= unit or 1.0
        origin[name] *= unit or 1.0
    letters, unknown = "".join(names), None in units.values()
    places = _in_space(letters, spacing), _in_space(letters, origin, 0.0)
    return image / path_inside(dataset["path"]), letters, *places, unknown


# TIFF: OME-TIFF, ImageJ's, and plain pages


def read_tiff(path: Path, choice: Choice, memory: float) -> Image:
    """One channel and time point of a TIFF file."""
    import tifffile

    logging.getLogger("tifffile").addHandler(_Raises(logging.ERROR))
    with tifffile.TiffFile(path) as file:
        series = file.series[0]
        axes, shape = _named(series.axes.lower()), series.shape
        if series.dtype is None or series.dtype.kind not in "uifb":
            raise ValueError(f"its voxels are of the type {series.dtype}")
        index = _selection(axes, shape, series.dtype.itemsize, choice, memory)
        refuse_too_large(float(series.nbytes), memory)
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
    return _image(voxels, _in_space(axes, spacing), (0.0, 0.0, 0.0), notes)


class _Raises(logging.Handler):
    """Raises what tifffile only logs: it leaves out lost pages silently."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ValueError(record.getMessage())


def _named(axes):
    """Pages that say nothing of their meaning are slices."""
    unnamed = [axis for axis in axes if axis in "qi"]
    return axes.replace(unnamed[0], "z") if len(unnamed) == 1 and "z" not in axes else axes


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
