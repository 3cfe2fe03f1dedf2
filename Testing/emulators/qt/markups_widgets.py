"""Stand-in for Slicer's widget that places points."""

import shiboken6
import slicer
from PySide6.QtCore import Property, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton

from .ctk_widgets import stored
from .mrml_widgets import qSlicerWidget


class qSlicerMarkupsPlaceWidget(qSlicerWidget):
    """A button to place points with the mouse, and one to delete them."""

    activeMarkupsPlaceModeChanged = Signal(bool)

    ForcePlaceMultipleMarkups = 3

    def __init__(self, parent=None):
        super().__init__(parent)
        self._node, self._on, self._tag = None, False, None
        self._place, self._delete = QToolButton(), QToolButton()
        self._place.setText("+")
        self._place.setCheckable(True)
        self._delete.setText("x")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._place)
        layout.addWidget(self._delete)
        self._place.clicked.connect(self.setPlaceModeEnabled)
        self._delete.clicked.connect(lambda _: self._node.RemoveAllControlPoints())

    def _take(self, scene):
        super()._take(scene)
        node = self.interactionNode()
        if node is not None and self._tag is None:
            event = node.InteractionModeChangedEvent
            self._tag = node.AddObserver(event, lambda *_: self._follow())

    def interactionNode(self):
        return slicer.app.applicationLogic().GetInteractionNode()

    def selectionNode(self):
        return slicer.app.applicationLogic().GetSelectionNode()

    def currentNode(self):
        return self._node

    def setCurrentNode(self, node):
        if node is not self._node and self._on:
            self.setPlaceModeEnabled(False)
        self._node = node
        self._place.setEnabled(node is not None)

    def setPlaceModeEnabled(self, enabled):
        interaction, selection = self.interactionNode(), self.selectionNode()
        if enabled and self._node is not None:
            selection.SetReferenceActivePlaceNodeClassName(self._node.GetClassName())
            selection.SetActivePlaceNodeID(self._node.GetID())
            many = self.placeMultipleMarkups in (0, 3)
            interaction.SetPlaceModePersistence(int(many))
            interaction.SetCurrentInteractionMode(interaction.Place)
        elif not enabled:
            interaction.SetCurrentInteractionMode(interaction.ViewTransform)
        self._follow()

    def _follow(self):
        if not shiboken6.isValid(self._place):  # the window was closed
            return
        interaction, selection = self.interactionNode(), self.selectionNode()
        placing = interaction.GetCurrentInteractionMode() == interaction.Place
        own = self._node is not None and selection.GetActivePlaceNodeID() == self._node.GetID()
        self._place.setChecked(placing and own)
        if self._on != (placing and own):
            self._on = placing and own
            self.activeMarkupsPlaceModeChanged.emit(self._on)

    placeModeEnabled = Property(bool, lambda self: self._on, setPlaceModeEnabled)
    placeMultipleMarkups = stored(int, "many", 0)
