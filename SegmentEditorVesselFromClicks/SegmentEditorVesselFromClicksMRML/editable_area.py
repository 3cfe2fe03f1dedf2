"""Where the Segment Editor allows to edit: its editable area and its intensity range."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.images import array_from_image
from FuzzyVesselCoreLib.translation import tr as _


def editable_area(editor_node: Any, source_image: Any) -> np.ndarray | None:
    """The voxels of the editable area, whatever their intensity.

    Parameters
    ----------
    editor_node : vtkMRMLSegmentEditorNode
        Its mask mode, mask segment and selected segment count.
    source_image : vtkOrientedImageData
        As for `editor_grid.editor_grid`.

    Returns
    -------
    ndarray, shape (K, J, I), bool; or None
        None where all is editable.

    Raises
    ------
    InputError
        The editor cannot tell the area, or no voxel is editable.
    """
    import slicer

    segmentation_node, mode = editor_node.GetSegmentationNode(), editor_node.GetMaskMode()
    if mode == slicer.vtkMRMLSegmentationNode.EditAllowedEverywhere:
        return None
    refused = slicer.vtkOrientedImageData()
    done = segmentation_node.GenerateEditMask(
        refused,
        mode,
        source_image,
        editor_node.GetSelectedSegmentID() or "",
        editor_node.GetMaskSegmentID() or "",
    )
    area = array_from_image(refused) == 0 if done else np.zeros(1, bool)
    if not area.any():
        raise InputError(_("The editable area is empty: choose another one under Masking."))
    return area


def in_intensity_range(editor_node: Any, voxels: np.ndarray) -> np.ndarray | None:
    """The voxels within the editable intensity range.

    Parameters
    ----------
    editor_node : vtkMRMLSegmentEditorNode
    voxels : ndarray, shape (K, J, I)

    Returns
    -------
    ndarray, shape (K, J, I), bool; or None
        None where any intensity is editable.

    Raises
    ------
    InputError
        No voxel is within the range.
    """
    if not editor_node.GetSourceVolumeIntensityMask():
        return None
    lowest, highest = editor_node.GetSourceVolumeIntensityMaskRange()
    within = (voxels >= lowest) & (voxels <= highest)
    if not within.any():
        raise InputError(
            _(
                "No voxel is within the editable intensity range of {lowest:g} to "
                "{highest:g}: change it under Masking."
            ).format(lowest=lowest, highest=highest)
        )
    return within


def masking_of(editor_node: Any) -> tuple:
    """The settings of *Masking*: equal where the same voxels may be edited."""
    limits = editor_node.GetSourceVolumeIntensityMask() and tuple(
        editor_node.GetSourceVolumeIntensityMaskRange()
    )
    return editor_node.GetMaskMode(), editor_node.GetMaskSegmentID(), limits
