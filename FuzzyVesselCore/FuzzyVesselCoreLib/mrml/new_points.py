"""Lists of points: made from voxels, and how they look in views and tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..geometry import voxels_to_points
from .reading import ijk_to_ras, transform_between, transformed

VESSEL_COLOR, BACKGROUND_COLOR = (1.0, 0.78, 0.1), (0.25, 0.65, 1.0)


def add_points(
    voxels: np.ndarray, volume_node: Any, name: str, labels: Sequence[str] | None = None
) -> Any:
    """Add a vtkMRMLMarkupsFiducialNode with points at the centres of voxels (n, 3; K, J, I).

    The positions are in the world, under no transform.
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
    centres = voxels_to_points(voxels, ijk_to_ras(volume_node))
    return transformed(transform_between(volume_node, None), centres).tolist()


def paint(node: Any, color: tuple[float, float, float]) -> None:
    """Give a list of points its colour (red, green, blue, 0..1); labels would cover the vessels."""
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(color)
    display.SetColor(color)
    display.SetPointLabelsVisibility(False)
