"""Lists of points: made from voxels, and how they look in views and tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..geometry import voxels_to_points
from .reading import ijk_to_ras

VESSEL_COLOR, BACKGROUND_COLOR = (1.0, 0.78, 0.1), (0.25, 0.65, 1.0)


def add_points(
    voxels: np.ndarray, volume_node: Any, name: str, labels: Sequence[str] | None = None
) -> Any:
    """Add a list of points at the centres of a volume's voxels.

    Parameters
    ----------
    voxels : array_like, shape (n, 3)
        K, J, I.
    volume_node : vtkMRMLScalarVolumeNode
    name : str
    labels : sequence of str, optional

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
        In world coordinates, under no transform.
    """
    import slicer

    name = slicer.mrmlScene.GenerateUniqueName(name)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    for index, position in enumerate(world_points(voxels, volume_node)):
        label = labels[index] if labels is not None else f"{name}-{index + 1}"
        node.AddControlPointWorld(position, label)
    return node


def world_points(voxels: np.ndarray, volume_node: Any) -> list[Any]:
    """The centres of a volume's voxels (n, 3; K, J, I) in the world, as a list."""
    import slicer
    import vtk

    to_world = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
        volume_node.GetParentTransformNode(), None, to_world
    )
    centres = voxels_to_points(voxels, ijk_to_ras(volume_node))
    return [to_world.TransformPoint(centre) for centre in centres]


def paint(node: Any, color: tuple[float, float, float]) -> None:
    """Give a list of points its colour (red, green, blue, 0..1); labels would cover the vessels."""
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(color)
    display.SetColor(color)
    display.SetPointLabelsVisibility(False)
