"""What the views show besides the result: chosen branches, the vessels around the lines."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.mrml.changes import remove_node
from PotentialSkeletonMRML.lines import RADIUS, polylines, tubes, vtk_array
from PotentialSkeletonMRML.run_nodes import INPUT, SEGMENT, tree_segment

NAME = "Chosen branch"
COLOR = (0.1, 0.95, 1.0)  # none of the colours of radii is like it
WIDTH = 3  # pixels, of its outline in slices
THICKER = 1.1  # than the object, so that it is seen round the object's own tubes
OPACITY = 0.35  # of the vessels round new centrelines


class Highlight:
    """Chosen branches in all views: cyan tubes in one model, which is never saved."""

    def __init__(self) -> None:
        self._node: Any = None

    def show(self, ways: Sequence[tuple[np.ndarray, np.ndarray]], transform_id: str | None) -> None:
        """Draw branches (R, A, S below a transform, and radii in mm), and go to the first."""
        if self._node is None or not slicer.mrmlScene.IsNodePresent(self._node):
            self._node = self._new_model()
        data = polylines(np.concatenate([way for way, _ in ways]), [len(way) for way, _ in ways])
        radius = THICKER * np.concatenate([radius for _, radius in ways])
        data.GetPointData().SetScalars(vtk_array(radius, RADIUS))
        with slicer.util.NodeModify(self._node):
            self._node.SetAndObserveTransformNodeID(transform_id)
            self._node.SetAndObservePolyData(tubes(data))
        positions, _radius = ways[0]
        world = [0.0] * 3
        self._node.TransformPointToWorld(positions[len(positions) // 2].tolist(), world)
        jump_slices(world)

    def hide(self) -> None:
        """Draw nothing; the node goes."""
        if self._node is not None:
            remove_node(self._node)
        self._node = None

    @staticmethod
    def _new_model() -> Any:
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


def jump_slices(world: Any) -> None:
    """Centre all slices on a place (R, A, S)."""
    slices = slicer.vtkMRMLSliceNode
    slices.JumpAllSlices(slicer.mrmlScene, *world, slices.CenteredJumpSlice)


def centre_cameras(model: Any) -> None:
    """Let the 3D views show all of a model, from the side where they are."""
    bounds = [0.0] * 6
    model.GetRASBounds(bounds)
    low, high = np.reshape(bounds, (3, 2)).T
    center, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    for camera in slicer.util.getNodesByClass("vtkMRMLCameraNode") if radius > 0 else ():
        away = np.subtract(camera.GetPosition(), camera.GetFocalPoint())
        away = away / (np.linalg.norm(away) or 1.0)
        camera.SetFocalPoint(*center)
        half = math.radians(camera.GetViewAngle() / 2)
        camera.SetPosition(*(center + away * radius / math.sin(half)))
        camera.ResetClippingRange()


def make_translucent(model: Any) -> None:
    """Make the segment that a model's lines were found in translucent, so that they are seen."""
    node = model.GetNodeReference(INPUT)
    if tree_segment(model) is not None and node.GetDisplayNode() is not None:
        display, segment_id = node.GetDisplayNode(), model.GetAttribute(SEGMENT)
        opacity = display.GetSegmentOpacity3D(segment_id)
        display.SetSegmentOpacity3D(segment_id, min(opacity, OPACITY))
