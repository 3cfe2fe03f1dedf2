"""Slice and 3D views that are fitted to a result."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.new_points import world_points
from FuzzyVesselCoreLib.mrml.reading import voxels_of

MARGIN = 1.3  # of the views, in sizes of the result
MIN_SIZE = 20.0  # mm


def result_bounds(labelmap_node: Any) -> np.ndarray | None:
    """Bounds of a labelmap's voxels: ndarray (2, 3), mm in the world; None where all are 0."""
    labels = voxels_of(labelmap_node, copy=False)
    ranges = []
    for axis in range(3):
        used = np.flatnonzero(labels.any(axis=tuple(a for a in range(3) if a != axis)))
        if not used.size:
            return None
        ranges.append((used[0], used[-1]))
    corners = np.array(np.meshgrid(*ranges, indexing="ij")).reshape(3, -1).T
    points = np.array(world_points(corners, labelmap_node))
    return np.array([points.min(axis=0), points.max(axis=0)])


def fit_views(labelmap_node: Any, point: Sequence[float]) -> None:
    """Show the whole result in all slice and 3D views.

    Parameters
    ----------
    labelmap_node : vtkMRMLLabelMapVolumeNode
    point : sequence of 3 float
        In the world; the slices go through it.
    """
    import slicer

    bounds = result_bounds(labelmap_node)
    if bounds is None:
        return
    center, size = bounds.mean(axis=0), np.maximum(np.ptp(bounds, axis=0), MIN_SIZE)
    for slice_node in slicer.util.getNodesByClass("vtkMRMLSliceNode"):
        _fit_slice(slice_node, center, size)
        slice_node.JumpSliceByOffsetting(*point)
    for camera_node in slicer.util.getNodesByClass("vtkMRMLCameraNode"):
        _fit_camera(camera_node, center, float(np.linalg.norm(size)) / 2)


def _fit_slice(slice_node: Any, center: np.ndarray, size: np.ndarray) -> None:
    to_ras = slice_node.GetSliceToRAS()
    across, down = (
        sum(abs(to_ras.GetElement(row, column)) * size[row] for row in range(3))
        for column in range(2)
    )
    width, height, depth = slice_node.GetFieldOfView()
    wanted = MARGIN * max(across, down * width / height)
    slice_node.SetFieldOfView(wanted, wanted * height / width, depth)
    slice_node.JumpSliceByCentering(*center)


def _fit_camera(camera_node: Any, center: np.ndarray, radius: float) -> None:
    """Look at the result from where the camera looks now."""
    position, focus = np.array(camera_node.GetPosition()), np.array(camera_node.GetFocalPoint())
    away = position - focus
    length = float(np.linalg.norm(away))
    away = away / length if length else np.array([0.0, 1.0, 0.0])
    distance = radius / math.sin(math.radians(camera_node.GetViewAngle() / 2))
    camera_node.SetFocalPoint(*center)
    camera_node.SetPosition(*(center + distance * away))
    camera_node.ResetClippingRange()
