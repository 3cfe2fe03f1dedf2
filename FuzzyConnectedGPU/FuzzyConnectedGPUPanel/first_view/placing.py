"""Placing points: the buttons *Place*, and keys over a slice."""

from collections.abc import Callable
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.mrml.new_points import BACKGROUND_COLOR, VESSEL_COLOR, paint

# Keys that slice and 3D views, markups and main window do not use; the Segment Editor takes
# Z while it is open.
VESSEL_KEY, BACKGROUND_KEY = "A", "N"


class Placing:
    """One list at a time is placed into with the mouse; keys need no button.

    Parameters
    ----------
    panel : ConnectednessPanel
    actions : dict of str to callable
        What further keys do.
    """

    def __init__(self, panel: Any, actions: dict[str, Callable[[], None]]) -> None:
        self._panel, ui = panel, panel.ui
        self._shortcuts: list[Any] = []
        self._actions = {
            VESSEL_KEY: lambda: self.add_at_mouse("seeds"),
            BACKGROUND_KEY: lambda: self.add_at_mouse("backgroundSeeds"),
            **actions,
        }
        self._kinds = {
            "seeds": (ui.placeSeedsButton, ui.seedsPlaceWidget),
            "backgroundSeeds": (ui.placeBackgroundButton, ui.backgroundPlaceWidget),
        }
        many = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
        for name, (button, place_widget) in self._kinds.items():
            place_widget.placeMultipleMarkups = many
            place_widget.hide()
            button.connect("clicked(bool)", lambda on, name=name: self.place(name, on))
            place_widget.connect(
                "activeMarkupsPlaceModeChanged(bool)",
                lambda on, button=button: setattr(button, "checked", on),
            )
        for selector, color in (
            (ui.seedsSelector, VESSEL_COLOR),
            (ui.backgroundSelector, BACKGROUND_COLOR),
        ):
            selector.connect(
                "nodeAddedByUser(vtkMRMLNode*)", lambda node, color=color: paint(node, color)
            )

    def place(self, name: str, on: bool) -> None:
        """Begin or end to place points with the mouse; a list is made if there is none."""
        parameters = self._panel.parameters
        if parameters is None:
            return
        for _button, place_widget in self._kinds.values():
            place_widget.placeModeEnabled = False
        if not on:
            return
        node = self._list(parameters, name)
        button, place_widget = self._kinds[name]
        place_widget.setCurrentNode(node)
        place_widget.placeModeEnabled = True
        button.checked = True

    def add_at_mouse(self, name: str) -> bool:
        """Add a point where the mouse is in a slice; returns whether it is in one."""
        parameters, position = self._panel.parameters, [0.0, 0.0, 0.0]
        if parameters is None or parameters.inputVolume is None:
            return False
        crosshair = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLCrosshairNode")
        if crosshair is None or not crosshair.GetCursorPositionRAS(position):
            self._panel.say(_("Point at a place in a slice, then press the key."))
            return False
        self._list(parameters, name).AddControlPointWorld(position)
        return True

    @staticmethod
    def _list(parameters: Any, name: str) -> Any:
        if getattr(parameters, name) is None:
            setattr(parameters, name, new_list(name))
        return getattr(parameters, name)

    def stop(self) -> None:
        """Clicks in the views are the user's own again."""
        for button, place_widget in self._kinds.values():
            if place_widget.placeModeEnabled:
                place_widget.placeModeEnabled = False
            button.checked = False

    def enable_keys(self, on: bool) -> None:
        """Listen to the keys, or no more; they belong to whichever module is open."""
        if on and not self._shortcuts:
            for key, action in self._actions.items():
                shortcut = qt.QShortcut(qt.QKeySequence(key), self.ui_window())
                shortcut.connect("activated()", action)
                self._shortcuts.append(shortcut)
        for shortcut in self._shortcuts:
            shortcut.enabled = on

    def ui_window(self) -> Any:
        """The window that the panel is in: the application's main window."""
        return self._panel.ui.applyButton.window()

    def remove_keys(self) -> None:
        """The panel ends."""
        for shortcut in self._shortcuts:
            shortcut.enabled = False
            shortcut.deleteLater()
        self._shortcuts = []

    def show(self, parameters: Any) -> None:
        """Let the place widgets know which lists they place into."""
        for name, (_button, place_widget) in self._kinds.items():
            place_widget.setCurrentNode(getattr(parameters, name))


def new_list(name: str) -> Any:
    """A new list of vessel points (`seeds`) or of background points, in its colour."""
    vessel = name == "seeds"
    scene = slicer.mrmlScene
    title = scene.GenerateUniqueName(_("Vessel") if vessel else _("Not vessel"))
    node = scene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", title)
    paint(node, VESSEL_COLOR if vessel else BACKGROUND_COLOR)
    return node
