"""The cases of the click tables: scans with known vessels from a data folder, or the phantom.

The folder holds ``ircadb01_NN_{ct,liver,portalvein,venoussystem}.nrrd`` (3D-IRCADb-01, case NN) and
``vessels/*.npz`` with the arrays ``image`` and ``truth``. Cases are read one at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from ...reading.formats.nrrd import read_voxels

PHANTOM = "phantom"
LIVER_MARGIN = 2  # voxels by which the liver's mask is dilated, and its box enlarged
VESSEL_MASKS = ("portalvein", "venoussystem")
SLICE_SPACING = (5.0, 1.0, 1.0)  # of the microscopy stacks vnn_*; their true spacing is unknown
NO_DATA = (
    "The built-in phantom alone was measured: --data names no folder with ircadb01_01_*.nrrd or "
    "vessels/*.npz."
)


@dataclass(frozen=True)
class ClickCase:
    """A volume whose vessels are known. Arrays are (K, J, I).

    Attributes
    ----------
    name : str
    volume : ndarray
    truth : ndarray of bool
    mask : ndarray of bool or None
        Where a method may look for vessels; None: everywhere.
    spacing : tuple of 3 float
        K, J, I in mm.
    """

    name: str
    volume: np.ndarray
    truth: np.ndarray
    mask: np.ndarray | None
    spacing: tuple[float, float, float]


def cases(
    folder: Path | None,
    names: Sequence[str] = (),
    phantom_shape: tuple[int, int, int] = (96, 160, 160),
) -> Iterator[ClickCase]:
    """Read the cases one by one.

    Parameters
    ----------
    folder : Path or None
        Without a folder, or without cases in it, there is the phantom alone; else the phantom
        comes only if it is named.
    names : sequence of str
        Those that are wanted; empty: all.
    phantom_shape : (K, J, I)

    Raises
    ------
    InputError
        A name is unknown, or a file cannot be read.
    """
    found: dict[str, Callable[[str], ClickCase]] = {
        PHANTOM: partial(_phantom, phantom_shape),
        **_scans(folder),
    }
    for name in names:
        if name not in found:
            raise InputError(f"Unknown case {name!r}; one of {', '.join(found)}.")
    wanted = names or [name for name in found if name != PHANTOM] or [PHANTOM]
    return (found[name](name) for name in wanted)


def has_scans(folder: Path | None) -> bool:
    """Whether a folder has any case."""
    return bool(_scans(folder))


def _scans(folder) -> dict[str, Callable[[str], ClickCase]]:
    """Names of a folder's cases, with the function that reads each."""
    found: dict[str, Callable[[str], ClickCase]] = {}
    if folder is None:
        return found
    for path in sorted(folder.glob("ircadb01_*_ct.nrrd")):
        name = path.name.removesuffix("_ct.nrrd")
        if (folder / f"{name}_liver.nrrd").is_file():
            found[name] = partial(_liver_ct, folder)
    for path in sorted((folder / "vessels").glob("*.npz")):
        found[path.stem] = partial(_arrays, path)
    return found


def _phantom(shape, name):
    made = liver_phantom(shape)
    return _inside_liver(name, made.volume, made.mask > 0, made.liver > 0, made.spacing)


def _liver_ct(folder, name):
    try:
        volume, spacing = read_voxels(folder / f"{name}_ct.nrrd")
        liver, _ = read_voxels(folder / f"{name}_liver.nrrd")
        vessels = np.zeros(volume.shape, bool)
        for part in VESSEL_MASKS:
            path = folder / f"{name}_{part}.nrrd"
            if path.is_file():  # some livers of the database lack one of the two
                vessels |= read_voxels(path)[0] > 0
        return _inside_liver(name, volume, vessels, liver > 0, spacing)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{folder / name}_*.nrrd cannot be read: {error}") from error


def _arrays(path, name):
    try:
        with np.load(path) as arrays:
            volume, truth = arrays["image"], arrays["truth"] > 0
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    spacing = SLICE_SPACING if name.startswith("vnn") else (1.0, 1.0, 1.0)
    return ClickCase(name, volume, _with_vessels(truth, name), None, spacing)


def _inside_liver(name, volume, vessels, liver, spacing):
    """Crop to the box of the dilated liver and a margin; the dilated liver is the mask."""
    mask = ndimage.binary_dilation(liver, iterations=LIVER_MARGIN)
    truth = _with_vessels(vessels & mask, name)
    box = ndimage.find_objects(mask.astype(np.uint8))[0]
    box = tuple(slice(max(s.start - LIVER_MARGIN, 0), s.stop + LIVER_MARGIN) for s in box)
    volume, truth, mask = (np.ascontiguousarray(array[box]) for array in (volume, truth, mask))
    return ClickCase(name, volume, truth, mask, tuple(spacing))


def _with_vessels(truth, name):
    if not truth.any():
        raise InputError(f"{name}: the case has no vessel voxels; leave it out.")
    return truth
