"""OME-Zarr images (OME-NGFF 0.4 and 0.5): one resolution of a folder, or of a folder in it."""

from pathlib import Path
from types import ModuleType
from typing import Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import (
    attributes_of,
    checked_array,
    image_of,
    path_inside,
)

from ..refusals import one_line
from .choice import Choice
from .stack import UNITS, Stack, in_space, refuse_too_large, selection, three_d

# How far above an array its image's metadata may be.
MAX_DEPTH = 4


def read(path: Path, choice: Choice, zarr: ModuleType) -> Stack:
    """Read one channel and time point of one resolution.

    Parameters
    ----------
    path : Path
        Of the image (its finest resolution is read), or of a resolution in it: ``image.zarr/2``.
    choice : Choice
    zarr : module

    Raises
    ------
    InputError, ValueError
    """
    image, multiscale, dataset = _image(path)
    axes = [_axis(each) for each in multiscale["axes"]]
    letters = "".join(name for name, _ in axes)
    folder = image / path_inside(dataset["path"])
    header, notes = checked_array(folder)
    if len(letters) != len(header.shape):
        raise ValueError(f"its axes {one_line(letters)} do not fit the shape {header.shape}")
    index = selection(path, letters, header.shape, choice)
    wanted = [size for size, at in zip(header.shape, index) if isinstance(at, slice)]
    refuse_too_large(path, wanted, header.value_bytes)
    refuse_too_large(path, header.chunks, header.value_bytes)
    voxels = zarr.open_array(str(folder), mode="r")[index]
    spacing, origin, unknown = _placed(axes, multiscale, dataset)
    if choice.spacing is not None:
        spacing = dict(zip("xyz", choice.spacing))
    elif unknown:
        notes += (f"{path.name} names no unit of length for its axes: its lengths count as mm.",)
    return Stack(
        path=path,
        voxels=three_d(voxels),
        spacing=in_space(letters, spacing),
        origin=in_space("zyx", {"z": 0.0, "y": 0.0, "x": 0.0, **origin}),
        notes=notes,
    )


def place_of(path: Path) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Spacing and origin (K, J, I, mm) of an image, without its voxels; None if it is no image.

    Raises
    ------
    ValueError
    """
    if all(
        _multiscale(folder) is None
        for folder in (path, path / "0", *list(path.parents)[:MAX_DEPTH])
    ):
        return None
    _folder, multiscale, dataset = _image(path)
    axes = [_axis(each) for each in multiscale["axes"]]
    spacing, origin, _unknown = _placed(axes, multiscale, dataset)
    letters = "".join(name for name, _ in axes)
    at = {"z": 0.0, "y": 0.0, "x": 0.0, **origin}
    return in_space(letters, spacing), in_space("zyx", at)


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
    if isinstance(entry, str):
        return entry, None
    return str(entry["name"]), entry.get("unit")


def _placed(axes, multiscale, dataset):
    """Spacing and origin in mm by axis, and whether a unit is missing."""
    spacing = {name: 1.0 for name, _ in axes}
    origin = {name: 0.0 for name, _ in axes}
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
    units = {name: UNITS.get(str(unit).lower()) for name, unit in axes if name in "zyx"}
    for name, unit in units.items():
        spacing[name] *= unit or 1.0
        origin[name] *= unit or 1.0
    return spacing, origin, None in units.values()
