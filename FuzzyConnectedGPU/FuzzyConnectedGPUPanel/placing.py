"""Points by mouse and keys: the buttons *Place*, keys over a slice, and points that are dragged."""

from collections.abc import Callable
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views
from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, VESSEL_COLOR, paint

# Keys that slice and 3D views, markups and main window do not use; the Segment Editor takes
# Z while it is open.
VESSEL_KEY, BACKGROUND_KEY, HAND_OVER_KEY = "A", "N", "H"
UNDO_KEYS, REDO_KEYS = ("Ctrl+Z", "Z"), ("Ctrl+Y", "Ctrl+Shift+Z", "Y")
# Slicer's key S (snap to slice) starts an interaction that never ends, and a point can be taken
# away while it is held: without a move for so long, and with no button down, a drag is over.
STILL = 300  # milliseconds


class PointDrag:
    """A drag: from the first move after a press to the release, or to what cannot belong to it.

    `begin` is called when a point that is held moves for the first time, `changed` whenever a drag
    goes on or is over; `dragging` says whether a point is held and was moved.
    """

    def __init__(self, begin: Callable[[], None], changed: Callable[[], None]) -> None:
        self._begin, self._changed = begin, changed
        self.dragging = self._held = False
        self._still = qt.QTimer()
        self._still.setSingleShot(True)
        self._still.setInterval(STILL)
        self._still.connect("timeout()", self._look)

    def press(self) -> None:
        """An interaction begins; whether it is a drag is not known yet."""
        self._held = True

    def change(self) -> None:
        """A point is changed: it moves if it is held."""
        if not self._held:
            return
        self._still.start()
        if not self.dragging:
            self.dragging = True
            self._begin()
        self._changed()

    def let_go(self) -> None:
        """The interaction ends, or something happens that no drag goes on with."""
        unmoved = self._held and not self.dragging
        self.forget()
        if not unmoved:
            self._changed()

    def interrupt(self) -> None:
        """A point was placed or removed."""
        if self._held:
            self.let_go()

    def forget(self) -> None:
        """The lists are others now, or gone."""
        self._still.stop()
        self.dragging = self._held = False

    def _look(self) -> None:
        if slicer.app.mouseButtons():
            self._still.start()  # it is held still
        else:
            self.interrupt()


class Placing:
    """One list at a time is placed into with the mouse; keys need no button."""

    def __init__(self, panel: Any) -> None:
        self._panel, ui = panel, panel.ui
        self._shortcuts: list[Any] = []
        self._actions = {
            VESSEL_KEY: lambda: self.add_at_mouse("seeds"),
            BACKGROUND_KEY: lambda: self.add_at_mouse("backgroundSeeds"),
            HAND_OVER_KEY: lambda: panel.vessels.hand_over_at_mouse(),
            **dict.fromkeys(UNDO_KEYS, lambda: panel.undoing.undo()),
            **dict.fromkeys(REDO_KEYS, lambda: panel.undoing.redo()),
        }
        self._kinds = {
            "seeds": (ui.placeSeedsButton, ui.seedsPlaceWidget, ui.seedsSelector),
            "backgroundSeeds": (
                *(ui.placeBackgroundButton, ui.backgroundPlaceWidget, ui.backgroundSelector),
            ),
        }
        for name, (button, place_widget, selector) in self._kinds.items():
            many = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
            place_widget.placeMultipleMarkups = many
            place_widget.hide()
            button.connect("clicked(bool)", lambda on, name=name: self.place(name, on))
            place_widget.connect(
                "activeMarkupsPlaceModeChanged(bool)",
                lambda on, button=button: self._on_mode(button, on),
            )
            color = VESSEL_COLOR if name == "seeds" else BACKGROUND_COLOR
            selector.connect(
                "nodeAddedByUser(vtkMRMLNode*)", lambda node, color=color: paint(node, color)
            )

    def _on_mode(self, button: Any, on: bool) -> None:
        button.checked = on
        self._panel.update_soon()

    @property
    def active(self) -> str:
        """The name of the list that the mouse places into; or an empty text."""
        return next((name for name, each in self._kinds.items() if each[0].checked), "")

    def place(self, name: str, on: bool) -> None:
        """Begin or end to place points with the mouse; a list is made if there is none."""
        parameters = self._panel.parameters
        if parameters is None:
            return
        for each in self._kinds.values():
            each[1].placeModeEnabled = False
        if on:
            button, place_widget, _selector = self._kinds[name]
            place_widget.setCurrentNode(list_of(parameters, name))
            place_widget.placeModeEnabled = True
            button.checked = True

    def add_at_mouse(self, name: str) -> bool:
        """Add a point where the mouse is in a slice; returns whether it is in one."""
        panel, position = self._panel, [0.0, 0.0, 0.0]
        if panel.parameters is None:
            return False
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
        for button, place_widget, _selector in self._kinds.values():
            if place_widget.placeModeEnabled:
                place_widget.placeModeEnabled = False
            button.checked = False

    def enable_keys(self, on: bool) -> None:
        """Listen to the keys, or no more; they belong to whichever module is open."""
        if on and not self._shortcuts:
            window = self._panel.ui.applyButton.window()
            for key, action in self._actions.items():
                shortcut = qt.QShortcut(qt.QKeySequence(key), window)
                shortcut.connect("activated()", action)
                self._shortcuts.append(shortcut)
        for shortcut in self._shortcuts:
            shortcut.enabled = on

    def remove_keys(self) -> None:
        """The panel ends."""
        for shortcut in self._shortcuts:
            shortcut.enabled = False
            shortcut.deleteLater()
        self._shortcuts = []

    def show(self, parameters: Any) -> None:
        """Let the place widgets know which lists they place into."""
        for name, (_button, place_widget, _selector) in self._kinds.items():
            place_widget.setCurrentNode(getattr(parameters, name))


def list_of(parameters: Any, name: str) -> Any:
    """The list of vessel points (`seeds`) or of background points; made if there is none."""
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
