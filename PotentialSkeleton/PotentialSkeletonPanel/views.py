"""What the views show besides the result: chosen branches, the vessels around the lines."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.reading import array_from_matrix, matrix_from_array
from PotentialSkeletonMRML.lines import RADIUS, polylines, tubes, vtk_array
from PotentialSkeletonMRML.outputs import INPUT, SEGMENT, tree_segment
from PotentialSkeletonMRML.straightening import is_straightened, patient_position

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
            self._node = hidden_node("vtkMRMLModelNode", NAME)
            self._node.SetSelectable(False)
            display = self._node.GetDisplayNode()
            display.SetColor(COLOR)
            display.SetSliceIntersectionThickness(WIDTH)
            display.SetVisibility2D(True)
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


def hidden_node(class_name: str, name: str) -> Any:
    """A new node, with its display, that is neither listed nor saved."""
    node = getattr(slicer, class_name)()
    node.SetName(name)
    node.SetHideFromEditors(True)
    node.SetSaveWithScene(False)
    slicer.mrmlScene.AddNode(node)
    node.CreateDefaultDisplayNodes()
    node.GetDisplayNode().SetSaveWithScene(False)
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


# ---- A straightened volume in one slice view, turned about the vessel, and the way to the patient

SLICE = "vtkMRMLSliceNode"
LAYOUT_NAME = "Green"  # coronal in Slicer's own layouts
MARGIN = 1.05


def background_volume() -> Any:
    """The patient's volume that most slice views show, or None."""
    composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    shown = [slicer.mrmlScene.GetNodeByID(c.GetBackgroundVolumeID() or "") for c in composites]
    shown = [node for node in shown if node is not None and not is_straightened(node)]
    return max(shown, key=shown.count, default=None)


class StraightenedView:
    """Shows a straightened volume in the view `LAYOUT_NAME`, or in the last one without it."""

    def __init__(self) -> None:
        self._nodes: Any = None
        self._composite: Any = None
        self._view: Any = None
        self._before: tuple = ()

    @property
    def volume(self) -> Any:
        """The volume that is shown; None without one, or if it left the scene."""
        node = None if self._nodes is None else self._nodes.volumeNode
        return node if node is not None and slicer.mrmlScene.IsNodePresent(node) else None

    def show(self, nodes: Any) -> str:
        """Show nodes of `straightening.straighten`, whole, and return the name of the view."""
        self.hide()
        composites = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
        named = [each for each in composites if each.GetLayoutName() == LAYOUT_NAME]
        if not composites:
            raise InputError(_("There is no slice view that could show it."))
        self._nodes, self._composite = nodes, (named or list(composites))[-1]
        name, views = self._composite.GetLayoutName(), slicer.util.getNodesByClass(SLICE)
        view = self._view = next(each for each in views if each.GetLayoutName() == name)
        layers = self._composite.GetBackgroundVolumeID(), self._composite.GetLabelVolumeID()
        turned, outline = array_from_matrix(view.GetSliceToRAS()), view.GetUseLabelOutline()
        self._before = *layers, outline, turned, view.GetFieldOfView()
        self._composite.SetBackgroundVolumeID(nodes.volumeNode.GetID())
        self._composite.SetLabelVolumeID(nodes.labelmapNode.GetID())
        view.SetUseLabelOutline(True)
        self.turn(0)
        width, height, depth = view.GetFieldOfView()
        sides = np.ptp(self._bounds(), axis=1)
        tall = MARGIN * max(sides[2], sides[0] * height / width)
        view.SetFieldOfView(width * tall / height, tall, depth)
        return name

    def hide(self) -> None:
        """Show in the view what it has shown before; the volumes stay in the scene."""
        if self._nodes is None:
            return
        self._nodes = None
        background, label, outline, matrix, size = self._before
        self._composite.SetBackgroundVolumeID(background)
        self._composite.SetLabelVolumeID(label)
        self._place(matrix)
        self._view.SetFieldOfView(*size)
        self._view.SetUseLabelOutline(outline)

    def turn(self, degrees: float) -> None:
        """Turn the view about the vessel."""
        if self.volume is None:
            return
        angle, matrix = np.radians(degrees), np.eye(4)
        across, up = np.array([-np.cos(angle), -np.sin(angle), 0.0]), np.array([0.0, 0.0, 1.0])
        matrix[:3, :3] = np.stack([across, up, np.cross(across, up)], axis=1)
        matrix[:3, 3] = self._bounds().mean(axis=1)
        self._place(matrix)

    def go_to_patient(self, position: Any) -> None:
        """Centre the other slices on a place of the straightened volume (R, A, S).

        `InputError` where the place lies beside it.
        """
        low, high = self._bounds().T
        if ((position < low) | (position > high)).any():
            raise InputError(_("This is not in the straightened view."))
        there = patient_position(self.volume, position)
        for view in slicer.util.getNodesByClass(SLICE):
            if view is not self._view:
                view.JumpSliceByCentering(*there)

    def _bounds(self) -> np.ndarray:
        bounds = [0.0] * 6
        self.volume.GetRASBounds(bounds)
        return np.reshape(bounds, (3, 2))

    def _place(self, matrix: np.ndarray) -> None:
        self._view.GetSliceToRAS().DeepCopy(matrix_from_array(matrix))
        self._view.UpdateMatrices()
