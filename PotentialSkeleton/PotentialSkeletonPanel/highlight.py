"""Shows a chosen branch in all views: a yellow line, which is never saved, and a jump there."""

import slicer
import vtk
from vtk.util.numpy_support import numpy_to_vtk

NAME = "Chosen branch"
COLOR = (1.0, 0.9, 0.1)
WIDTH = 7  # pixels


class Highlight:
    """One line in the scene, made when it is first needed."""

    def __init__(self):
        self._node = None

    def show(self, positions, transform_id):
        """Draw a line.

        Parameters
        ----------
        positions : ndarray, shape (n, 3)
            R, A, S in the frame below a transform.
        transform_id : str or None
        """
        if self._node is None or not slicer.mrmlScene.IsNodePresent(self._node):
            self._node = _new_node()
        with slicer.util.NodeModify(self._node):
            self._node.SetAndObserveTransformNodeID(transform_id)
            self._node.SetAndObservePolyData(_line(positions))
        self._node.GetDisplayNode().SetVisibility(True)

    def hide(self):
        """Draw nothing; the node goes."""
        if self._node is not None and slicer.mrmlScene.IsNodePresent(self._node):
            slicer.mrmlScene.RemoveNode(self._node.GetDisplayNode())
            slicer.mrmlScene.RemoveNode(self._node)
        self._node = None

    def jump(self):
        """Centre all slices on the middle of the line."""
        data = self._node.GetPolyData()
        middle, world = data.GetPoint(data.GetNumberOfPoints() // 2), [0.0] * 3
        self._node.TransformPointToWorld(middle, world)
        slices = slicer.vtkMRMLSliceNode
        slices.JumpAllSlices(slicer.mrmlScene, *world, slices.CenteredJumpSlice)


def _new_node():
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
    display.SetLineWidth(WIDTH)
    display.SetSliceIntersectionThickness(WIDTH)
    display.LightingOff()
    display.SetVisibility2D(True)
    display.SetSliceDisplayModeToProjection()
    return node


def _line(positions):
    points, lines = vtk.vtkPoints(), vtk.vtkCellArray()
    points.SetData(numpy_to_vtk(positions.copy(), deep=True))
    lines.InsertNextCell(len(positions))
    for number in range(len(positions)):
        lines.InsertCellPoint(number)
    data = vtk.vtkPolyData()
    data.SetPoints(points)
    data.SetLines(lines)
    return data
