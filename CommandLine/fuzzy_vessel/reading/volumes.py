"""Volumes and masks from files or DICOM folders into the MRML scene."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.input_validation import VOXEL_TYPES
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.mask_voxels import mask_voxels

from . import formats, slicer_reader, stacks
from .dicom_series import sorted_slices
from .images import checked_header, read_image
from .refusals import existing, refuse_colours, refuse_stack_option
from .slicer_reader import K_REVERSED

__all__ = ["K_REVERSED", "read_mask", "read_volume"]


def read_volume(
    path: str | Path, frame: int | None = None, choice: stacks.Choice | None = None
) -> Any:
    """Read a volume into the scene.

    Parameters
    ----------
    path : str or Path
        .nrrd, .nhdr, .mha, .mhd, .nii, .nii.gz or TIFF, a folder with one DICOM series, or an
        OME-Zarr folder.
    frame : int, optional
        Which frame of a 4D file, counted from 0.
    choice : stacks.Choice, optional
        Of the part of a stack; its frame instead of `frame`.

    Returns
    -------
    vtkMRMLScalarVolumeNode
        With the attribute `K_REVERSED` where the file's axes are left-handed: Slicer makes them
        right-handed, and slice K of the file is another one here, as it is in Slicer.

    Raises
    ------
    InputError
        The message names the file and what to do.
    """
    path = existing(path)
    choice = choice or stacks.Choice(frame)
    frame = choice.frame
    if stacks.is_stack(path):
        return stacks.add_volume(stacks.read_stack(path, choice))
    refuse_stack_option(path, choice.for_stacks)
    if path.is_dir():
        if frame is not None:
            raise InputError(f"{path}: --frame is for 4D files, not for a DICOM folder.")
        return _read_dicom(path)
    header = checked_header(path)
    if header.type not in VOXEL_TYPES:
        raise InputError(
            f"{path}: the voxel type {header.type} is not supported; "
            f"convert the volume to one of {', '.join(VOXEL_TYPES)}."
        )
    return _with_one_value(read_image(header, frame), path)


def read_mask(path: str | Path, spacing: tuple[float, float, float] | None = None) -> Any:
    """Read a mask into the scene as a labelmap of 0 and 1; any voxel type will do.

    Parameters
    ----------
    path : str or Path
    spacing : tuple of float, optional
        I, J, K in mm; of a stack that says none, or another.

    Returns
    -------
    vtkMRMLLabelMapVolumeNode

    Raises
    ------
    InputError
        The message names the file and what to do.
    """
    import slicer

    path = existing(path)
    if stacks.is_stack(path):
        node = stacks.add_labelmap(stacks.read_stack(path, stacks.Choice(spacing=spacing)))
    elif path.is_dir():
        raise InputError(f"{path}: a mask is one file ({', '.join(formats.READERS)}).")
    else:
        node = read_image(checked_header(path), None, slicer_reader.LABELMAP)
    voxels = slicer.util.arrayFromVolume(node)
    inside = mask_voxels(voxels, f"{path}: the mask")
    slicer.util.updateVolumeFromArray(node, inside.astype(np.uint8))
    return node


def _read_dicom(folder: Path) -> Any:
    files = sorted_slices(folder)
    options = 0 if len(files) > 1 else slicer_reader.SINGLE_FILE
    node = slicer_reader.load(files[0], folder, options, files)
    slices = node.GetImageData().GetDimensions()[2]
    if len(files) > 1 and slices != len(files):
        raise InputError(
            f"{folder}: {slices} of {len(files)} slices could be read; convert the series to .nrrd."
        )
    return _with_one_value(node, folder)


def _with_one_value(node, path):
    count = node.GetImageData().GetNumberOfScalarComponents()
    if count != 1:
        refuse_colours(path, count)
    return node
