"""Shows chosen branches in all views: cyan tubes, which are never saved, and a jump there."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import slicer
import vtk
from vtk.util.numpy_support import numpy_to_vtk

from FuzzyVesselCoreLib.mrml.changes import remove_node
from PotentialSkeletonMRML.nodes.lines import RADIUS, tubes

NAME = "Chosen branch"
COLOR = (0.1, 0.95, 1.0)  # none of the colours of radii is like it
WIDTH = 3  # pixels, of its outline in slices
THICKER = 1.1  # than the object, so that it is seen round the object's own tubes


class Highlight:
    """One model in the scene, made when it is first needed."""

    def __init__(self) -> None:
        self._node: Any = None

    def show(self, ways: Sequence[tuple[np.ndarray, np.ndarray]], transform_id: str | None) -> None:
        """Draw branches and centre all slices on the middle of the first.

        Parameters
        ----------
        ways : sequence of (ndarray, shape (n, 3), ndarray, shape (n,))
            Positions, R, A, S in the frame below a transform, and radii in mm; at least one.
        transform_id : str or None
        """
        if self._node is None or not slicer.mrmlScene.IsNodePresent(self._node):
            self._node = _new_node()
        with slicer.util.NodeModify(self._node):
            self._node.SetAndObserveTransformNodeID(transform_id)
            self._node.SetAndObservePolyData(tubes(_lines(ways)))
        positions, _radius = ways[0]
        world = [0.0] * 3
        self._node.TransformPointToWorld(positions[len(positions) // 2].tolist(), world)
        slices = slicer.vtkMRMLSliceNode
        slices.JumpAllSlices(slicer.mrmlScene, *world, slices.CenteredJumpSlice)

    def hide(self) -> None:
        """Draw nothing; the node goes."""
        if self._node is not None:
            remove_node(self._node)
        self._node = None


def _new_node() -> Any:
    node = slicer.vtkMRMLModelNode()
    node.SetName(NAME)
    node.SetHideFromEditors(True)
    node.SetSaveWithScene(False)
    node.SetSelectable(False)
    slicer.mrmlScene.AddNode(node)
    node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSaveWithScene(False)
    display.SetColor(COLOR)
    display.SetSliceIntersectionThickness(WIDTH)
    display.SetVisibility2D(True)
    return node


def _lines(ways: Sequence[tuple[np.ndarray, np.ndarray]]) -> Any:
    points, lines, count = vtk.vtkPoints(), vtk.vtkCellArray(), 0
    points.SetData(numpy_to_vtk(np.concatenate([way for way, _ in ways]), deep=True))
    for way, _ in ways:
        lines.InsertNextCell(len(way))
        for number in range(count, count + len(way)):
            lines.InsertCellPoint(number)
        count += len(way)
    data = vtk.vtkPolyData()
    data.SetPoints(points)
    data.SetLines(lines)
    thickness = numpy_to_vtk(THICKER * np.concatenate([radius for _, radius in ways]), deep=True)
    thickness.SetName(RADIUS)
    data.GetPointData().AddArray(thickness)
    return data
