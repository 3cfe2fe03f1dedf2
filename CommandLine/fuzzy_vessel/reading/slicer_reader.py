"""Slicer's own image reader: the one that makes voxels, geometry and the node from a file."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

from ..slicer_host.vtk_messages import vtk_messages
from . import formats
from .refusals import times

# Options of vtkSlicerVolumesLogic::AddArchetypeVolume.
LABELMAP, SINGLE_FILE = 1, 4
# Attribute of a volume whose slices Slicer has put into the opposite order.
K_REVERSED = "FuzzyVesselGPU.KReversed"
# Voxels are between these lengths, mm: from far below a cell's to far above a patient's.
MIN_STEP, MAX_STEP = 1e-6, 1e4


def load(file: Path, path: Path, options: int, series: list[Path] | None = None) -> Any:
    """Let Slicer's reader load a file that the guard has accepted.

    Parameters
    ----------
    file : Path
    path : Path
        What the user named.
    options : int
        Bits `LABELMAP` and `SINGLE_FILE`.
    series : list of Path, optional
        All files of a DICOM series, in order.

    Returns
    -------
    vtkMRMLVolumeNode

    Raises
    ------
    InputError
        It cannot be read, or its voxels have no place in space; the message names `path`.
    """
    import slicer

    arguments: list[Any] = [str(file), name_of(path), options]
    if series:
        arguments.append(_string_array(series))
    with vtk_messages():
        node = slicer.modules.volumes.logic().AddArchetypeVolume(*arguments)
    if node is None or node.GetImageData() is None:
        raise InputError(
            f"{path}: the file cannot be read: it is damaged, no image, or its axes span no space "
            "(a spacing of 0)."
        )
    refuse_no_space(node, path)
    if series is None and _is_left_handed(file):
        node.SetAttribute(K_REVERSED, "true")
    return node


def name_of(path: Path) -> str:
    """Return the name of a node: that of its file without the suffix."""
    suffix = formats.suffix_of(path) or "".join(path.suffixes[-2:])
    return path.name[: -len(suffix)] or path.name if suffix else path.name


def _string_array(paths):
    import vtkmodules.vtkCommonCore as core

    names = core.vtkStringArray()
    for path in paths:
        names.InsertNextValue(str(path))
    return names


def refuse_no_space(node: Any, path: Path) -> None:
    """Refuse a volume whose voxels have no place in space: steps of no length, or not numbers."""
    matrix = ijk_to_ras(node)
    steps = np.linalg.norm(matrix[:3, :3], axis=0)
    if not np.isfinite(matrix).all() or steps.min() < MIN_STEP or steps.max() > MAX_STEP:
        raise InputError(
            f"{path}: the voxels' spacing or position in the header is unusable "
            f"({times(f'{step:g}' for step in steps)} mm); set it right in Slicer's Volumes "
            "module."
        )
    if abs(np.linalg.det(matrix[:3, :3] / steps)) < MIN_STEP:
        raise InputError(
            f"{path}: the axes in the header lie in one plane, so the voxels have no place in "
            "space; export the volume again."
        )


def _is_left_handed(file):
    """Whether the file's axes are left-handed, so that Slicer reversed the third one."""
    import slicer

    reader = slicer.vtkITKArchetypeImageSeriesScalarReader()
    reader.SetArchetype(str(file))
    reader.SetSingleFile(1)
    reader.SetDesiredCoordinateOrientationToNative()
    with vtk_messages():
        reader.UpdateInformation()
    matrix = reader.GetRasToIjkMatrix()
    return matrix is not None and matrix.Determinant() < 0
