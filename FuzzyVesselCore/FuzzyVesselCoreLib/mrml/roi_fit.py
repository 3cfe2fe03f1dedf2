"""A region of interest as large as a volume."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..geometry import transform_points
from .reading import array_from_matrix, ijk_to_ras


def fit_roi(roi_node: Any, volume_node: Any) -> None:
    """Move and resize a region of interest, so that it just holds all voxels of a volume.

    Parameters
    ----------
    roi_node : vtkMRMLMarkupsROINode
        Keeps its axes; under any transform.
    volume_node : vtkMRMLScalarVolumeNode
        Under any transform, also one that bends.
    """
    import slicer

    box_to_world = array_from_matrix(roi_node.GetObjectToWorldMatrix())
    points = transform_points(np.linalg.inv(box_to_world), _border(volume_node))
    low, high = points.min(axis=0), points.max(axis=0)
    center = transform_points(box_to_world, [(low + high) / 2])[0]
    with slicer.util.NodeModify(roi_node):
        roi_node.SetCenterWorld(center)
        roi_node.SetSize(high - low)


def _border(volume_node: Any) -> np.ndarray:
    """World positions on the border of a volume, between which all of it lies."""
    import slicer
    import vtk

    parent, to_world = volume_node.GetParentTransformNode(), vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(parent, None, to_world)
    straight = parent is None or parent.IsTransformToWorldLinear()
    ends = [(-0.5, size - 0.5) for size in volume_node.GetImageData().GetDimensions()]
    indices = _grid(ends) if straight else _faces(ends)
    local = transform_points(ijk_to_ras(volume_node), indices)
    return np.array([to_world.TransformPoint(point) for point in local])


def _faces(ends: Sequence[Any]) -> np.ndarray:
    """Points one voxel apart on the six faces of a box of indices."""
    found = []
    for axis in range(3):
        steps = [np.arange(low, high + 0.5) for low, high in ends]
        steps[axis] = ends[axis]
        found.append(_grid(steps))
    return np.concatenate(found)


def _grid(steps: Sequence[Any]) -> np.ndarray:
    return np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
