"""A segment is translucent while the centrelines inside it are shown, and comes back afterwards."""

from typing import Any

import slicer
import vtk
from slicer.util import VTKObservationMixin

from PotentialSkeletonMRML.kept_result import INPUT, ROLE, SEGMENT

OPACITY = 0.35
BEFORE = ROLE + "OpacityBefore"  # attribute of the model; saved, as the translucent segment is


class SeeThrough:
    """Watches models of centrelines; a segment whose opacity somebody changed is left alone."""

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
        """Follow whether a model is shown; None and models that are watched change nothing."""
        if model is None or model.GetID() in self._watched or not model.GetAttribute(BEFORE):
            return
        self._watched.add(model.GetID())
        events = model.DisplayModifiedEvent
        self._observers.addObserver(model, events, self._on_display)
        self._follow(model)

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
        self._follow(model)

    @vtk.calldata_type(vtk.VTK_OBJECT)
    def _on_node_leaving(self, scene: Any, event: Any, node: Any) -> None:
        if node.GetID() in self._watched and not scene.IsClosing():
            self._watched.discard(node.GetID())
            _set(node, shown=False)

    def _follow(self, model: Any) -> None:
        display = model.GetDisplayNode()
        _set(model, shown=display is not None and bool(display.GetVisibility()))


def _set(model: Any, shown: bool) -> None:
    """Make the segment translucent, or as it was before."""
    place, before = _place(model), float(model.GetAttribute(BEFORE) or 1.0)
    if place is None:
        return
    display, segment_id = place
    there = display.GetSegmentOpacity3D(segment_id)
    wanted, expected = (OPACITY, before) if shown else (before, OPACITY)
    if abs(there - expected) < 1e-6:
        display.SetSegmentOpacity3D(segment_id, wanted)


def _place(model: Any) -> tuple[Any, str] | None:
    """Return the display node of the segment that a model's lines were found in, and its ID."""
    node, segment_id = model.GetNodeReference(INPUT), model.GetAttribute(SEGMENT) or ""
    if node is None or not node.IsA("vtkMRMLSegmentationNode") or node.GetDisplayNode() is None:
        return None
    there = node.GetSegmentation().GetSegment(segment_id) is not None
    return (node.GetDisplayNode(), segment_id) if there else None
