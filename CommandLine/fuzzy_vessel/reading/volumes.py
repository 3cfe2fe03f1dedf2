"""Volumes, masks and labelmaps from files into the MRML scene."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.input_validation import VOXEL_TYPES
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.points import add_points
from FuzzyVesselCoreLib.voxels.masks import mask_voxels

from .process import Choice, Image, file_kind, one_line, read_image

# Attributes of a volume: its slices are in the opposite order of the file's, as in Slicer; what
# the user should know of its reading, a line each.
K_REVERSED, NOTES = "FuzzyVesselGPU.KReversed", "FuzzyVesselGPU.Notes"
WHOLE, STACKS = Choice(), ("zarr", "tiff")
# Voxels are between these lengths, mm: from far below a cell's to far above a patient's.
MIN_STEP, MAX_STEP = 1e-6, 1e4
MAX_POSITION = 1e9  # mm
# A file with more numbers than these is taken for a scan, unless one of them is asked for.
MAX_LABELS, MAX_LISTED = 256, 12
MAX_LABEL = 2**31 - 1


def read_volume(path: str | Path, choice: Choice = WHOLE) -> Any:
    """Read a file, a folder with one DICOM series or an OME-Zarr folder as a scalar volume node.

    Voxel I, J, K is the same as in Slicer: left-handed axes are made right-handed by reversing the
    third one, and the node gets the attribute `K_REVERSED`. Raises `InputError`, which names the
    file and what to do.
    """
    path = existing(path)
    return add_volume(path, load_volume(path, choice))


def load_volume(path: Path, choice: Choice = WHOLE) -> Image:
    """The image of `read_volume`; no node is touched, so that it may be done in a thread."""
    image = _read(path, choice)
    kind = image.voxels.dtype.name
    if kind not in VOXEL_TYPES:
        raise InputError(
            f"{path}: the voxel type {kind} is not supported; convert the volume to one of "
            f"{', '.join(VOXEL_TYPES)}."
        )
    return image


def add_volume(path: Path, image: Image, kind: str = "vtkMRMLScalarVolumeNode") -> Any:
    """Put an image into the scene, named as its file.

    Left-handed axes are made right-handed as Slicer does.
    """
    import slicer

    voxels, matrix, notes = image
    _refuse_no_space(path, matrix)
    reversed_k = np.linalg.det(matrix[:3, :3]) < 0
    if reversed_k:
        voxels, matrix = voxels[::-1], matrix.copy()
        matrix[:3, 3] += (len(voxels) - 1) * matrix[:3, 2]
        matrix[:3, 2] *= -1
    node = slicer.util.addVolumeFromArray(np.ascontiguousarray(voxels), matrix, nodeClassName=kind)
    within = path.parent.name.endswith(".zarr")  # a resolution: a number is no name
    node.SetName(name_of(path.parent if within else path))
    if notes:
        node.SetAttribute(NOTES, "\n".join(notes))
    if reversed_k:
        node.SetAttribute(K_REVERSED, "true")
    return node


def read_mask(path: str | Path, spacing: tuple[float, float, float] | None = None) -> Any:
    """Read a mask of any voxel type into the scene as a labelmap of 0 and 1.

    `spacing` (I, J, K in mm) is for a stack that says none, or another.
    """
    path = existing(path)
    image = _read(path, Choice(spacing=spacing) if file_kind(path) in STACKS else WHOLE)
    inside = mask_voxels(image.voxels, f"{path}: the mask").astype(np.uint8)
    return add_volume(path, image._replace(voxels=inside), "vtkMRMLLabelMapVolumeNode")


def read_labelmap(
    path: str | Path, wanted: Iterable[int] = (), choice: Choice = WHOLE
) -> tuple[Any, list[int]]:
    """Read a labelmap with all its labels into the scene, and list them (without 0)."""
    path = existing(path)
    image = _read(path, choice)
    values = np.unique(image.voxels)
    _refuse_scan(path, values, bool(wanted))
    labels = [int(value) for value in values[values != 0]]
    if not labels:
        raise InputError(f"{path}: the labelmap is empty: every voxel is 0.")
    for label in wanted:
        if label not in labels:
            listed = ", ".join(map(str, labels[:MAX_LISTED]))
            more = f" and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else ""
            raise InputError(f"{path}: there is no label {label}; there are {listed}{more}.")
    kind = image.voxels.dtype
    if kind.kind == "f" or kind.name not in VOXEL_TYPES:
        if max(map(abs, labels)) > MAX_LABEL:
            raise InputError(f"{path}: a label is larger than {MAX_LABEL}; renumber them.")
        image = image._replace(voxels=image.voxels.astype(np.int32))
    return add_volume(path, image, "vtkMRMLLabelMapVolumeNode"), labels


def notes_of(node: Any) -> list[str]:
    """What there was to say when a volume was read."""
    return [note for note in (node.GetAttribute(NOTES) or "").split("\n") if note]


def existing(path: str | Path) -> Path:
    """Return the path; raises `InputError` if there is nothing."""
    path = Path(path)
    if not os.path.exists(path):
        raise InputError(f"{path}: there is no such file or folder.")
    return path


def name_of(path: Path) -> str:
    """Return the name of a node: that of its file without the suffix."""
    return re.sub(r"(\.(nii|ome|mrk))?\.[^.]+$", "", path.name, flags=re.IGNORECASE) or path.name


def _read(path: Path, choice: Choice) -> Image:
    """Read a file or folder by the reader of its kind; refuse options that it does not support."""
    kind = file_kind(path)
    for option in ("channel", "spacing"):
        if kind not in STACKS and getattr(choice, option) is not None:
            raise InputError(f"{path}: --{option} is for OME-Zarr and TIFF; leave it out.")
    if kind == "series" and choice.frame is not None:
        raise InputError(f"{path}: --frame is for 4D files, not for a DICOM folder.")
    return read_image(path, choice)


def _refuse_no_space(path, matrix):
    """Refuse voxels without a place in space: steps of no length or in one plane, no numbers."""
    finite = np.isfinite(matrix).all() and np.abs(matrix).max() <= MAX_POSITION
    steps = np.linalg.norm(matrix[:3, :3], axis=0) if finite else np.diag(matrix)[:3]
    lengths_fit = finite and steps.min() >= MIN_STEP and steps.max() <= MAX_STEP
    if not lengths_fit or abs(np.linalg.det(matrix[:3, :3] / steps)) < MIN_STEP:
        lengths = " x ".join(f"{step:g}" for step in steps)
        raise InputError(
            f"{path}: the voxels' spacing ({lengths} mm), axes or position in the header are "
            "unusable; set them right in Slicer's Volumes module."
        )


def _refuse_scan(path, values, chosen):
    """Refuse what is no labelmap, by the different numbers in it."""
    way_out = "segment it first (fuzzy-vessel segment, or fuzzy-vessel run for both)."
    broken = values[~np.isfinite(values) | (values != np.rint(values))]
    if broken.size:
        raise InputError(
            f"{path}: this is no labelmap: it holds numbers that are not whole, such as "
            f"{broken[0]:g}; {way_out}"
        )
    if not chosen and (values[0] < 0 or values.size > MAX_LABELS):
        raise InputError(
            f"{path}: this looks like a scan, not a labelmap: it holds {values.size:,} different "
            f"numbers from {values[0]:g} to {values[-1]:g}; name one with --label N, or {way_out}"
        )


# ---- Lists of points (.mrk.json), read without Slicer's reader
# That ends the process where an entry is of another kind than it should be.

# Signs of the first two coordinates, from the file's system to R, A, S.
SIGNS = {"RAS": 1, "LPS": -1, "0": 1, "1": -1}


def read_seeds(path: str | Path) -> Any:
    """Read a list of points (.mrk.json, as Slicer saves it); only placed ones."""
    path = existing(path)
    try:
        (markup,) = json.loads(path.read_bytes().decode("utf-8"))["markups"]
        if markup["type"] != "Fiducial":
            raise ValueError(f"it holds {markup['type']}")
        points = [_point(entry) for entry in markup.get("controlPoints", [])]
        sign = SIGNS[str(markup.get("coordinateSystem", "LPS"))]
    except Exception as error:  # a damaged file can be wrong in any way
        raise InputError(
            f"{path}: this is not one list of points (.mrk.json): {one_line(error)}; save it from "
            "Slicer's Markups module, or give its points one by one with --seed I,J,K."
        ) from error
    placed = list(filter(None, points))
    positions = [(sign * x, sign * y, z) for _, (x, y, z) in placed]
    return add_points(positions, name_of(path), [label for label, _ in placed])


def _point(entry):
    """Label and position of a point; None if it was not placed."""
    status = str(entry.get("positionStatus", "defined"))
    if status not in ("defined", "undefined", "preview", "missing"):
        raise ValueError(f"a point has the status {status}")
    if status != "defined":
        return None
    x, y, z = (float(length) for length in entry["position"])
    if not all(abs(length) <= MAX_POSITION for length in (x, y, z)):
        raise ValueError(f"a point has the position {x:g}, {y:g}, {z:g}")
    return one_line(entry.get("label", "")), (x, y, z)
