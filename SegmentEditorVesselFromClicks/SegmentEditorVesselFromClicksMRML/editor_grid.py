"""The source volume on the voxels that the Segment Editor edits, and points on them.

The editor resamples the source volume to the segmentation's reference geometry, which may be
cropped, turned or of another spacing. Frames: the segmentation's is the one below its parent
transform; points are in the world.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import (
    inside,
    points_to_voxels,
    voxel_volume,
    voxels_to_points,
)
from FuzzyVesselCoreLib.mrml.images import array_from_image, image_from_array
from FuzzyVesselCoreLib.mrml.reading import array_from_matrix, ijk_to_ras
from FuzzyVesselCoreLib.translation import tr as _


@dataclass(frozen=True)
class EditorGrid:
    """Voxels of an image of the Segment Editor.

    Attributes
    ----------
    voxels : ndarray, shape (K, J, I)
        The image's own, not to be kept: the editor fills them anew.
    ijk_to_segmentation : ndarray, shape (4, 4)
        From I, J, K of `voxels` to the segmentation's frame, in mm.
    spacing : tuple of 3 float
        Along K, J, I, in mm.
    """

    voxels: np.ndarray
    ijk_to_segmentation: np.ndarray
    spacing: tuple

    @property
    def millilitres(self) -> float:
        """Volume of a voxel in the segmentation's frame."""
        return voxel_volume(self.ijk_to_segmentation) / 1000

    def voxels_of(self, world: np.ndarray, segmentation_node: Any) -> np.ndarray:
        """The voxels (n, 3; K, J, I; int64) that hold points of the world; maybe outside."""
        own = _transformed(world, None, segmentation_node)
        return points_to_voxels(own, self.ijk_to_segmentation)


def editor_grid(source_image: Any) -> EditorGrid:
    """The grid of the source volume as the editor has resampled it.

    Parameters
    ----------
    source_image : vtkOrientedImageData or None
        What `sourceVolumeImageData` of the scripted effect returns; its extent may begin anywhere.

    Returns
    -------
    EditorGrid

    Raises
    ------
    InputError
        There is no image, or it is empty.
    """
    import vtk

    if source_image is None or source_image.GetPointData().GetScalars() is None:
        raise InputError(
            _(
                "The segmentation and its source volume have no voxel in common: choose "
                "another source volume, or set the segmentation's geometry from it."
            )
        )
    matrix = vtk.vtkMatrix4x4()
    source_image.GetImageToWorldMatrix(matrix)
    first = np.eye(4)
    first[:3, 3] = source_image.GetExtent()[::2]
    return EditorGrid(
        array_from_image(source_image),
        array_from_matrix(matrix) @ first,
        tuple(source_image.GetSpacing()[::-1]),
    )


def scanned_area(source_image: Any, volume_node: Any, segmentation_node: Any) -> np.ndarray | None:
    """Which voxels of the grid the source volume reaches; elsewhere the editor fills in a constant.

    Parameters
    ----------
    source_image : vtkOrientedImageData
        As for `editor_grid`.
    volume_node : vtkMRMLScalarVolumeNode
        The source volume; it and the segmentation may each be under any transform.
    segmentation_node : vtkMRMLSegmentationNode

    Returns
    -------
    ndarray, shape (K, J, I), bool; or None
        None where it reaches all of them.

    Raises
    ------
    InputError
        It reaches none.
    """
    import slicer
    import vtk

    grid = editor_grid(source_image)
    shape = volume_node.GetImageData().GetDimensions()[::-1]
    ends = np.array(np.meshgrid(*[(0, n - 1) for n in grid.voxels.shape])).reshape(3, -1).T
    corners = voxels_to_points(ends, grid.ijk_to_segmentation)
    corners = _transformed(corners, segmentation_node, volume_node)
    if (
        _linear(segmentation_node, volume_node)
        and inside(points_to_voxels(corners, ijk_to_ras(volume_node)), shape).all()
    ):
        return None
    ones = slicer.vtkOrientedImageData()
    image_from_array(np.ones(shape, np.uint8), ones)
    matrix = vtk.vtkMatrix4x4()
    volume_node.GetIJKToRASMatrix(matrix)
    ones.SetGeometryFromImageToWorldMatrix(matrix)
    reached = slicer.vtkOrientedImageData()
    slicer.vtkOrientedImageDataResample.ResampleOrientedImageToReferenceOrientedImage(
        ones, source_image, reached, False, False, _transform(volume_node, segmentation_node)
    )
    area = array_from_image(reached) > 0
    if not area.any():
        raise InputError(
            _(
                "The source volume lies outside the segmentation's geometry: choose another "
                "source volume, or specify the geometry anew (button beside the source "
                "volume)."
            )
        )
    return None if area.all() else area


def _transform(source_node, target_node):
    """From one node's frame to another's; None is the world."""
    import slicer
    import vtk

    parents = [each and each.GetParentTransformNode() for each in (source_node, target_node)]
    transform = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(*parents, transform)
    return transform


def _transformed(points, source_node, target_node):
    transform = _transform(source_node, target_node)
    return np.array([transform.TransformPoint(point) for point in points]).reshape(-1, 3)


def _linear(*nodes):
    parents = [node.GetParentTransformNode() for node in nodes]
    return all(parent is None or parent.IsTransformToWorldLinear() for parent in parents)
