"""What the views show besides the result: chosen branches, the vessels around the lines."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import slicer
import vtk
from slicer.util import VTKObservationMixin

from FuzzyVesselCoreLib.mrml.changes import remove_node
from PotentialSkeletonMRML.lines import RADIUS, polylines, tubes, vtk_array
from PotentialSkeletonMRML.run_nodes import INPUT, ROLE, SEGMENT, tree_segment

NAME = "Chosen branch"
COLOR = (0.1, 0.95, 1.0)  # none of the colours of radii is like it
WIDTH = 3  # pixels, of its outline in slices
THICKER = 1.1  # than the object, so that it is seen round the object's own tubes
OPACITY = 0.35
BEFORE = ROLE + "OpacityBefore"  # attribute of the model; saved, as the translucent segment is


class Highlight:
    """Chosen branches in all views: cyan tubes in one model, which is never saved."""

    def __init__(self) -> None:
        self._node: Any = None

    def show(self, ways: Sequence[tuple[np.ndarray, np.ndarray]], transform_id: str | None) -> None:
        """Draw branches (R, A, S below a transform, and radii in mm), and go to the first."""
        if self._node is None or not slicer.mrmlScene.IsNodePresent(self._node):
            self._node = _new_model()
        data = polylines(np.concatenate([way for way, _ in ways]), [len(way) for way, _ in ways])
        radius = THICKER * np.concatenate([radius for _, radius in ways])
        data.GetPointData().AddArray(vtk_array(radius, RADIUS))
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
    """Let the 3D views look at a model where they do not show all of it, from the same side."""
    bounds = [0.0] * 6
    model.GetRASBounds(bounds)
    low, high = np.reshape(bounds, (3, 2)).T
    center, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    if not radius > 0:
        return
    for camera in slicer.util.getNodesByClass("vtkMRMLCameraNode"):
        position = np.array(camera.GetPosition())
        half = math.radians(camera.GetViewAngle() / 2)
        ahead = np.array(camera.GetFocalPoint()) - position
        ahead = ahead / (np.linalg.norm(ahead) or 1.0)
        to_center = center - position
        along = float(to_center @ ahead)
        aside = float(np.linalg.norm(to_center - along * ahead))
        # The sphere round the model is within the cone of view, and not a speck in it.
        room = along * math.sin(half) - aside * math.cos(half)
        if room >= radius and along * math.sin(half) < 4 * radius:
            continue
        camera.SetFocalPoint(*center)
        camera.SetPosition(*(center - ahead * radius / math.sin(half)))
        camera.ResetClippingRange()


class SeeThrough:
    """A segment is translucent while the centrelines inside it are shown.

    A segment whose opacity somebody changed is left alone.
    """

    def __init__(self) -> None:
        self._observers = VTKObservationMixin()
        self._watched: set[str] = set()  # IDs of models
        scene = slicer.mrmlScene
        leaving = scene.NodeAboutToBeRemovedEvent
        self._observers.addObserver(scene, leaving, self._on_node_leaving)

    def begin(self, model: Any) -> None:
        """Make the segment of a new result translucent."""
        place = _place(model)
        if place is not None and not model.GetAttribute(BEFORE):
            display, segment_id = place
            opacity = display.GetSegmentOpacity3D(segment_id)
            if opacity > OPACITY:
                model.SetAttribute(BEFORE, f"{opacity:g}")
                display.SetSegmentOpacity3D(segment_id, OPACITY)
        self.watch(model)

    def watch(self, model: Any) -> None:
        """Follow whether a model is shown; models that are watched change nothing."""
        if model.GetID() in self._watched or not model.GetAttribute(BEFORE):
            return
        self._watched.add(model.GetID())
        self._observers.addObserver(model, model.DisplayModifiedEvent, self._on_display)
        self._on_display(model, None)

    def forget(self) -> None:
        """The scene is being closed."""
        for observed, event, method, *_rest in list(self._observers.Observations):
            if observed is not slicer.mrmlScene:
                self._observers.removeObserver(observed, event, method)
        self._watched.clear()

    def end(self) -> None:
        """The panel ends."""
        self._observers.removeObservers()

    def _on_display(self, model: Any, event: Any) -> None:
        display = model.GetDisplayNode()
        _set(model, shown=display is not None and bool(display.GetVisibility()))

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def _on_node_leaving(self, scene: Any, event: Any, node: Any) -> None:
        if node.GetID() in self._watched and not scene.IsClosing():
            self._watched.discard(node.GetID())
            _set(node, shown=False)


def _set(model: Any, shown: bool) -> None:
    """Make the segment translucent, or as it was before."""
    place, before = _place(model), float(model.GetAttribute(BEFORE) or 1.0)
    if place is None:
        return
    display, segment_id = place
    wanted, expected = (OPACITY, before) if shown else (before, OPACITY)
    if abs(display.GetSegmentOpacity3D(segment_id) - expected) < 1e-6:
        display.SetSegmentOpacity3D(segment_id, wanted)


def _place(model: Any) -> tuple[Any, str] | None:
    """Return the display node of the segment that a model's lines were found in, and its ID."""
    node = model.GetNodeReference(INPUT)
    if tree_segment(model) is None or node.GetDisplayNode() is None:
        return None
    return node.GetDisplayNode(), model.GetAttribute(SEGMENT)
