"""Points by mouse and keys, and every click taken back: the buttons *Place*, undo and redo."""

from collections.abc import Callable
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views
from FuzzyConnectedGPUMRML.history import ClickHistory, RemovedVessel
from FuzzyConnectedGPUMRML.parameters import chosen_threshold
from FuzzyConnectedGPUMRML.vessel_lists import vessels_of
from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, VESSEL_COLOR, paint

# Keys that slice and 3D views, markups and main window do not use; the Segment Editor takes
# Z while it is open.
VESSEL_KEY, BACKGROUND_KEY, HAND_OVER_KEY = "A", "N", "H"
UNDO_KEYS, REDO_KEYS = ("Ctrl+Z", "Z"), ("Ctrl+Y", "Ctrl+Shift+Z", "Y")


class Placing:
    """One list at a time is placed into with the mouse; keys need no button."""

    def __init__(self, panel: Any) -> None:
        self._panel, ui = panel, panel.ui
        self._shortcuts: list[Any] = []
        self._kinds = {
            "seeds": (ui.placeSeedsButton, ui.seedsPlaceWidget),
            "backgroundSeeds": (ui.placeBackgroundButton, ui.backgroundPlaceWidget),
        }
        for name, (button, place_widget) in self._kinds.items():
            many = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
            place_widget.placeMultipleMarkups = many
            place_widget.hide()
            button.connect("clicked(bool)", lambda on, name=name: self.place(name, on))
            place_widget.connect(
                "activeMarkupsPlaceModeChanged(bool)",
                lambda on, button=button: self._on_mode(button, on),
            )
        added = "nodeAddedByUser(vtkMRMLNode*)"
        ui.seedsSelector.connect(added, lambda node: paint(node, VESSEL_COLOR))
        ui.backgroundSelector.connect(added, lambda node: paint(node, BACKGROUND_COLOR))

    def _on_mode(self, button: Any, on: bool) -> None:
        button.checked = on
        self._panel.update_soon()

    @property
    def active(self) -> str:
        """The name of the list that the mouse places into; or an empty text."""
        return next((name for name, each in self._kinds.items() if each[0].checked), "")

    def place(self, name: str, on: bool) -> None:
        """Start or stop placing points with the mouse; a missing list is created."""
        for _button, each in self._kinds.values():
            each.placeModeEnabled = False
        if on:
            button, place_widget = self._kinds[name]
            place_widget.setCurrentNode(list_of(self._panel.parameters, name))
            place_widget.placeModeEnabled = True
            button.checked = True

    def add_at_mouse(self, name: str) -> bool:
        """Add a point where the mouse is in a slice; returns whether it is in one."""
        panel, position = self._panel, [0.0, 0.0, 0.0]
        crosshair = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLCrosshairNode")
        if crosshair is None or not crosshair.GetCursorPositionRAS(position):
            panel.say(_("Point at a place in a slice, then press the key."))
            return False
        volume = views.volume_at_mouse()
        if panel.parameters.inputVolume is None and not panel.input.shows_another(volume):
            return False
        panel.input.add_to(volume, name, position)
        return True

    def stop(self) -> None:
        """Clicks in the views are the user's own again."""
        for button, place_widget in self._kinds.values():
            place_widget.placeModeEnabled = button.checked = False

    def enable_keys(self, on: bool) -> None:
        """Listen to the keys, or no more; they belong to whichever module is open."""
        if on and not self._shortcuts:
            undoing = self._panel.undoing
            actions = {
                VESSEL_KEY: lambda: self.add_at_mouse("seeds"),
                BACKGROUND_KEY: lambda: self.add_at_mouse("backgroundSeeds"),
                HAND_OVER_KEY: self._panel.vessels.hand_over_at_mouse,
                **dict.fromkeys(UNDO_KEYS, undoing.undo),
                **dict.fromkeys(REDO_KEYS, undoing.redo),
            }
            for key, action in actions.items():
                shortcut = qt.QShortcut(qt.QKeySequence(key), self._panel.ui.applyButton.window())
                shortcut.connect("activated()", action)
                self._shortcuts.append(shortcut)
        for shortcut in self._shortcuts:
            shortcut.enabled = on

    def remove_keys(self) -> None:
        """The panel ends."""
        self.enable_keys(False)
        for shortcut in self._shortcuts:
            shortcut.deleteLater()
        self._shortcuts = []

    def show(self, parameters: Any) -> None:
        """Let the place widgets know which lists they place into."""
        for name, (_button, place_widget) in self._kinds.items():
            place_widget.setCurrentNode(getattr(parameters, name))


def list_of(parameters: Any, name: str) -> Any:
    """The list of vessel points (`seeds`) or of background points; created if missing."""
    if getattr(parameters, name) is None:
        setattr(parameters, name, new_list(name))
    return getattr(parameters, name)


def new_list(name: str) -> Any:
    """A new list of vessel points (`seeds`) or of background points, in its colour."""
    vessel, scene = name == "seeds", slicer.mrmlScene
    title = scene.GenerateUniqueName(_("Vessel") if vessel else _("Not vessel"))
    node = scene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", title)
    paint(node, VESSEL_COLOR if vessel else BACKGROUND_COLOR)
    return node


class ClickUndo:
    """Points placed, moved, deleted and given away, branches handed over, vessels, thresholds.

    It follows all other sections: one act of a person is one step. Each volume has its history.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.forget()
        self.ui.undoSeedButton.connect("clicked()", self.undo)
        self.ui.redoSeedButton.connect("clicked()", self.redo)

    def forget(self) -> None:
        """The lists are gone."""
        self._histories: dict[Any, ClickHistory] = {}

    @property
    def _history(self) -> ClickHistory:
        parameters = self._panel.parameters
        volume = parameters.inputVolume if parameters is not None else None
        return self._histories.setdefault(volume and volume.GetID(), ClickHistory())

    def remove_vessel(self, parameters: Any, node: Any) -> None:
        """Remove a vessel, which is a step like any other."""
        self._history.removed(RemovedVessel(parameters, node))

    def undo(self) -> None:
        """Take back the last click."""
        self._go(ClickHistory.undo)

    def redo(self) -> None:
        """Make the click again that was taken back last."""
        self._go(ClickHistory.redo)

    def _go(self, step: Callable[[ClickHistory], Any]) -> None:
        parameters = self._panel.parameters
        self.react(parameters)
        threshold = step(self._history)
        if threshold != chosen_threshold(parameters):
            self._panel.threshold.choose(threshold)
        self._panel.update_soon()

    def react(self, parameters: Any) -> None:
        """Remember what has changed; while a point is dragged, its way is no step."""
        if not self._panel.seeds.dragging:
            lists = [*vessels_of(parameters), parameters.backgroundSeeds]
            self._history.record([each for each in lists if each], chosen_threshold(parameters))

    def show(self, parameters: Any) -> None:
        self.ui.undoSeedButton.enabled = self._history.can_undo
        self.ui.redoSeedButton.enabled = self._history.can_redo
