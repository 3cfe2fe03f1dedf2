"""Masks from MRML nodes: labelmaps, segmentations and regions of interest on a volume's voxels."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry import box_mask, sample_nearest
from ..translation import tr as _
from ..voxels.mask_voxels import mask_voxels
from .reading import array_from_matrix, ijk_to_ras, node_name, slices_between, voxels_of
from .segment_masks import segmentation_mask


def region_mask(
    mask_node: Any, roi_node: Any, volume_node: Any, shape: tuple[int, ...], segment_id: str = ""
) -> np.ndarray | None:
    """Which voxels both a mask and a region of interest leave; see `mask_of` and `roi_mask`.

    Parameters
    ----------
    mask_node, roi_node : nodes or None
    volume_node : vtkMRMLScalarVolumeNode
    shape : tuple of int
        K, J, I of the volume.
    segment_id : str
        Of the mask; see `mask_of`.

    Returns
    -------
    ndarray, shape (K, J, I), bool; or None
        None where neither node is given.

    Raises
    ------
    InputError
        One of them cannot be used, or they leave no voxel.
    """
    masks = []
    if mask_node is not None:
        masks.append(mask_of(mask_node, volume_node, shape, segment_id))
    if roi_node is not None:
        masks.append(roi_mask(roi_node, volume_node, shape))
    if not masks:
        return None
    region = np.logical_and.reduce(masks)
    if not region.any():
        raise InputError(
            _("The mask {mask} and the region {region} have no voxel in common.").format(
                mask=node_name(mask_node), region=node_name(roi_node)
            )
        )
    return region


def roi_mask(roi_node: Any, volume_node: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Which voxels have their centre inside a region of interest.

    Parameters
    ----------
    roi_node : vtkMRMLMarkupsROINode
        May be rotated and under transforms; the box is the one that Slicer draws (always with
        right angles). An "inside out" box selects what is outside.
    volume_node : vtkMRMLScalarVolumeNode
    shape : tuple of int
        K, J, I of the volume.

    Returns
    -------
    ndarray, shape (K, J, I), bool

    Raises
    ------
    InputError
        It is no ROI, it has not been placed, or it misses the volume.
    """
    if not roi_node.IsA("vtkMRMLMarkupsROINode"):
        raise InputError(
            _("{region} is not a region of interest (a markups ROI).").format(
                region=node_name(roi_node)
            )
        )
    half_sizes = np.array(roi_node.GetSize()) / 2
    if roi_node.GetNumberOfDefinedControlPoints() == 0 or not half_sizes.all():
        raise InputError(
            _("The region {region} has not been placed, or has no size.").format(
                region=node_name(roi_node)
            )
        )
    world_to_box = np.linalg.inv(array_from_matrix(roi_node.GetObjectToWorldMatrix()))
    mask = box_mask(slices_between(volume_node, shape, None, world_to_box), half_sizes)
    if roi_node.GetInsideOut():
        np.logical_not(mask, out=mask)
    if not mask.any():
        raise InputError(
            _("The region {region} holds no voxel of {volume}: move or enlarge it.").format(
                region=node_name(roi_node), volume=node_name(volume_node)
            )
        )
    return mask


def mask_of(
    mask_node: Any, volume_node: Any, shape: tuple[int, ...], segment_id: str = ""
) -> np.ndarray:
    """A labelmap or a segmentation as a mask on the volume's voxels, by nearest neighbour.

    Parameters
    ----------
    mask_node : vtkMRMLLabelMapVolumeNode, vtkMRMLScalarVolumeNode or vtkMRMLSegmentationNode
        Not 0, or in any segment, counts as inside. Geometry and transforms may be its own.
    volume_node : vtkMRMLScalarVolumeNode
    shape : tuple of int
        K, J, I of the volume.
    segment_id : str
        Of a segmentation: only this segment; empty for all of them.

    Returns
    -------
    ndarray, shape (K, J, I), bool

    Raises
    ------
    InputError
        It is neither, it lacks the segment, it holds what is not a number, or no voxel of the
        volume is inside.
    """
    if mask_node.IsA("vtkMRMLSegmentationNode"):
        mask = segmentation_mask(mask_node, volume_node, shape, segment_id)
    elif mask_node.IsA("vtkMRMLScalarVolumeNode"):
        mask = _labelmap_mask(mask_node, volume_node, shape)
    else:
        raise InputError(
            _("The mask {mask} is no labelmap and no segmentation.").format(
                mask=node_name(mask_node)
            )
        )
    if not mask.any():
        raise InputError(
            _("The mask {mask} is empty within {volume}: no voxel is left to segment.").format(
                mask=node_name(mask_node), volume=node_name(volume_node)
            )
        )
    return mask


def _labelmap_mask(mask_node: Any, volume_node: Any, shape: tuple[int, ...]) -> np.ndarray:
    name = _("The mask {mask}").format(mask=node_name(mask_node))
    values = mask_voxels(voxels_of(mask_node), name)
    if values.shape == tuple(shape) and _same_grid(mask_node, volume_node):
        return values
    ras_to_ijk = np.linalg.inv(ijk_to_ras(mask_node))
    return sample_nearest(values, slices_between(volume_node, shape, mask_node, ras_to_ijk))


def _same_grid(one: Any, other: Any) -> bool:
    """Whether voxel I, J, K of both volumes (of one shape) is at the same place."""
    same_frame = one.GetParentTransformNode() is other.GetParentTransformNode()
    return same_frame and np.allclose(ijk_to_ras(one), ijk_to_ras(other), rtol=0, atol=1e-6)
