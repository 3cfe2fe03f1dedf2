"""Tools that wait for clicks in the views: cut, remove, bridge, and the distance of two places."""

from typing import Any

import numpy as np
import qt
import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.points import placed_points

from .step_tools import branches_text

NAME = "Branch tool"
ASKS = {
    "cut": _("Click the branch where it is to be cut."),
    "remove": _("Click the branch that is to be removed."),
    "bridge": _("Click into the gap, between the two ends."),
    "distance": _("Click two places on the vessels."),
}
CLICKS = {"distance": 2}  # one for the others
WAY_RADIUS = 0.8  # mm of the way as it is drawn


class ClickTools:
    """One tool at a time waits for its clicks, in a list of points of its own.

    Parameters
    ----------
    tools : BranchTools
    """

    def __init__(self, tools: Any) -> None:
        self._tools, self.ui = tools, tools.ui
        self._observers = VTKObservationMixin()
        self._kind = ""
        self._points: Any = None
        self._buttons = {
            "cut": self.ui.cutButton,
            "remove": self.ui.removeButton,
            "bridge": self.ui.bridgeButton,
            "distance": self.ui.distanceButton,
        }
        for kind, button in self._buttons.items():
            button.connect("clicked(bool)", lambda on, kind=kind: self._on_button(kind, on))
        self.ui.clickPlaceWidget.hide()
        self.ui.clickPlaceWidget.connect("activeMarkupsPlaceModeChanged(bool)", self._on_mode)

    def end(self) -> None:
        """Wait for no click any more."""
        points, self._points, self._kind = self._points, None, ""
        for button in self._buttons.values():
            button.checked = False
        if points is not None:
            self._observers.removeObservers()
            self.ui.clickPlaceWidget.placeModeEnabled = False
            self.ui.clickPlaceWidget.setCurrentNode(None)
            remove_node(points)

    def _on_button(self, kind: str, on: bool) -> None:
        self.end()
        if not on:
            self._tools.say("")
            return
        self._kind, self._points = kind, _new_points()
        self._buttons[kind].checked = True
        self._tools.say(ASKS[kind])
        event = self._points.PointPositionDefinedEvent
        self._observers.addObserver(self._points, event, self._on_point)
        place = self.ui.clickPlaceWidget
        place.placeMultipleMarkups = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
        place.setCurrentNode(self._points)
        place.placeModeEnabled = True

    def _on_mode(self, on: bool) -> None:
        """Placing was ended with the right mouse button, Escape or another tool."""
        if not on and self._points is not None:
            qt.QTimer.singleShot(0, self._end_unless_placing)

    def _end_unless_placing(self) -> None:
        if self._points is not None and not self.ui.clickPlaceWidget.placeModeEnabled:
            self.end()
            self._tools.say("")

    def _on_point(self, caller: Any, event: Any) -> None:
        """A place was clicked; the list goes when its own event is over."""
        if len(placed_points(caller).world) >= CLICKS.get(self._kind, 1):
            qt.QTimer.singleShot(0, self._finish)

    def _finish(self) -> None:
        if self._points is None:
            return
        places, kind = placed_points(self._points).world, self._kind
        self.end()
        tree = self._tools.tree()
        if tree is not None:
            act = self._distance if kind == "distance" else _edit
            self._tools.attempt(lambda: act(tree, kind, places))

    def _distance(self, tree: Any, _kind: str, places: np.ndarray) -> str:
        way = tree.distance(*places[:2])
        radius = np.full(len(way.points), WAY_RADIUS)
        self._tools.panel.result.show_way(tree.model, way.points, radius)
        text = _("{length:.1f} mm along the vessels, {straight:.1f} mm straight").format(
            length=way.length, straight=way.straight
        )
        if np.isfinite(way.tortuosity):
            text += _("; tortuosity {ratio:.2f}").format(ratio=way.tortuosity)
        return f"{text}."


def _edit(tree: Any, kind: str, places: np.ndarray) -> str:
    before = len(tree.skeleton.branches)
    {"cut": tree.cut, "remove": tree.remove, "bridge": tree.bridge}[kind](places[0])
    return branches_text(before, len(tree.skeleton.branches))


def _new_points() -> Any:
    """A list of points that is not saved and not listed."""
    node = slicer.vtkMRMLMarkupsFiducialNode()
    node.SetName(NAME)
    node.SetHideFromEditors(True)
    node.SetSaveWithScene(False)
    slicer.mrmlScene.AddNode(node)
    node.CreateDefaultDisplayNodes()
    node.GetDisplayNode().SetSaveWithScene(False)
    node.GetDisplayNode().SetPointLabelsVisibility(False)
    return node
