"""Which paths are stacks, and by which library each is read."""

import importlib
from pathlib import Path
from types import ModuleType

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import ZARR

from ..refusals import one_line
from .choice import Choice
from .stack import Stack

TIFF = (".tif", ".tiff")


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
    name = "zarr" if path.is_dir() else "tifffile"
    library = _library(name, path)
    try:
        if path.is_dir():
            from . import ome_zarr

            return ome_zarr.read(path, choice, library)
        from . import tiff

        return tiff.read(path, choice, library)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # the libraries raise errors of many kinds for damaged files
        reason = one_line(error) or type(error).__name__
        raise InputError(f"{path}: this is not an image that can be read: {reason}.") from error


def _library(name: str, path: Path) -> ModuleType:
    extra = "zarr" if name == "zarr" else "tiff"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"{path}: the package {name} is needed and not installed ({error}); install it with: "
            f"pip install 'fuzzy-vessel-gpu[{extra}]'"
        ) from error
