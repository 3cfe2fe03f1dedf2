"""Paths of arrays are opened: zarr arrays, OME-NGFF images and .npy files."""

import math
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import (
    array_header,
    attributes_of,
    image_of,
    path_inside,
    read_json,
)

ZIPPED = ".zip"  # a zarr array in one file
MAX_CHUNK_BYTES = 1 << 34  # of an array that is read: zarr unpacks whole chunks


def opened(path: str, name: str, mode: Literal["r", "r+"]) -> Any:
    if not Path(path).exists() and "://" not in path:
        raise InputError(f"The {name} {path} does not exist.")
    if path.endswith(".npy"):
        return _guarded(lambda: np.load(path, mmap_mode=mode), path, name)
    if Path(path).is_file() and not path.endswith(ZIPPED):
        raise InputError(
            f"The {name} {path} is a file of another kind: give a Zarr or OME-Zarr folder, or a "
            ".npy file."
        )
    zarr = import_zarr(path)
    if Path(path).is_dir():
        folder = _guarded(lambda: array_folder(Path(path)), path, name)
        return _guarded(lambda: zarr.open_array(str(folder), mode=mode), path, name)
    found = _guarded(lambda: zarr.open(path, mode=mode), path, name)
    if hasattr(found, "shape"):
        return found
    return _guarded(lambda: found[str(_first_resolution(dict(found.attrs)))], path, name)


def array_folder(folder: Path) -> Path:
    """The folder of the array, or of an image's first resolution; its header is checked."""
    content = read_json(folder / "zarr.json") if (folder / "zarr.json").exists() else {}
    if not (folder / ".zarray").exists() and content.get("node_type") != "array":
        folder = folder / _first_resolution(attributes_of(folder))
    header = array_header(folder)
    size = math.prod(header.chunks) * header.value_bytes
    if size > MAX_CHUNK_BYTES and "sharding_indexed" not in header.codecs:
        raise InputError(f"one chunk of {header.chunks} voxels would have {size / 2**30:,.0f} GiB")
    return folder


def _first_resolution(attributes: dict) -> PurePosixPath:
    images = image_of(attributes).get("multiscales")
    if not images:
        raise InputError("a group without OME-NGFF's multiscales: name the array in it")
    return path_inside(images[0]["datasets"][0]["path"])


def _guarded(open_it: Callable[[], Any], path: str, name: str) -> Any:
    try:
        return open_it()
    except Exception as error:
        raise InputError(f"The {name} {path} cannot be opened: {error}.") from error


def import_zarr(path: str) -> Any:
    """The package zarr.

    Raises
    ------
    InputError
        It is not installed.
    """
    try:
        import zarr
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path} is read and written by zarr, which is not installed: pip install 'zarr>=3' "
            "(or give a .npy file or an array)."
        ) from error
    return zarr
