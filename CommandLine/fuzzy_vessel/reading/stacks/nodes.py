"""Stacks as volumes of the MRML scene."""

from typing import Any

import numpy as np

from FuzzyConnectedGPULib.input_validation import VOXEL_TYPES
from FuzzyVesselCoreLib.errors import InputError

from ..slicer_reader import name_of, refuse_no_space
from .stack import Stack

MAX_LABEL = 2**31 - 1
# Attribute of a volume: what the user should know of its reading, a line each.
NOTES = "FuzzyVesselGPU.Notes"


def add_volume(stack: Stack) -> Any:
    """Add a scalar volume.

    Raises
    ------
    InputError
        The voxels are of a type that is not segmented, or have no place in space.
    """
    if stack.voxels.dtype.name not in VOXEL_TYPES:
        raise InputError(
            f"{stack.path}: the voxel type {stack.voxels.dtype.name} is not supported; "
            f"convert the volume to one of {', '.join(VOXEL_TYPES)}."
        )
    return _add(stack, stack.voxels, "vtkMRMLScalarVolumeNode")


def add_labelmap(stack: Stack) -> Any:
    """Add a labelmap; raises as `add_volume`."""
    voxels = stack.voxels
    if voxels.dtype.name not in VOXEL_TYPES:  # numbers of 64 bits, which VTK's writers do not take
        if np.abs(voxels).max(initial=0) > MAX_LABEL:
            raise InputError(f"{stack.path}: a label is larger than {MAX_LABEL}; number them anew.")
        voxels = voxels.astype(np.int32)
    return _add(stack, voxels, "vtkMRMLLabelMapVolumeNode")


def notes_of(node: Any) -> list[str]:
    """What there was to say when a volume was read."""
    return [note for note in (node.GetAttribute(NOTES) or "").split("\n") if note]


def _add(stack, voxels, kind):
    import slicer

    to_ras = np.diag([*stack.spacing[::-1], 1.0])
    to_ras[:3, 3] = stack.origin[::-1]
    to_ras[:2] *= -1  # L, P, S to R, A, S
    node = slicer.util.addVolumeFromArray(voxels, to_ras, nodeClassName=kind)
    within = stack.path.parent.name.endswith(".zarr")  # a resolution: a number is no name
    node.SetName(name_of(stack.path.parent if within else stack.path))
    node.SetAttribute(NOTES, "\n".join(stack.notes))
    refuse_no_space(node, stack.path)
    return node
