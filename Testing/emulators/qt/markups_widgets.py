"""Stand-ins for Slicer's widgets that place points and list them."""

import slicer
from PySide6.QtCore import Property, Signal
from PySide6.QtWidgets import QHBoxLayout, QTableWidget, QTableWidgetItem, QToolButton, QVBoxLayout

from .ctk_widgets import stored
from .mrml_widgets import qMRMLNodeComboBox, qSlicerWidget

EVENTS = ("PointModifiedEvent", "PointAddedEvent", "PointRemovedEvent", "PointPositionDefinedEvent")


class qSlicerMarkupsPlaceWidget(qSlicerWidget):
    """A button to place points with the mouse, and one to delete them."""

    activeMarkupsPlaceModeChanged = Signal(bool)
    activeMarkupsFiducialPlaceModeChanged = Signal(bool)

    ShowPlaceMultipleMarkupsOption = 0
    HidePlaceMultipleMarkupsOption = 1
    ForcePlaceSingleMarkup = 2
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
        self._delete.clicked.connect(lambda _: self.deleteAllPoints())

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

    def currentMarkupsNode(self):
        return self._node

    def setCurrentNode(self, node):
        if node is not self._node and self._on:
            self.setPlaceModeEnabled(False)
        self._node = node
        self._place.setEnabled(node is not None)

    def placeButton(self):
        return self._place

    def deleteButton(self):
        return self._delete

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
        interaction, selection = self.interactionNode(), self.selectionNode()
        placing = interaction.GetCurrentInteractionMode() == interaction.Place
        own = self._node is not None and selection.GetActivePlaceNodeID() == self._node.GetID()
        self._place.setChecked(placing and own)
        if self._on != (placing and own):
            self._on = placing and own
            self.activeMarkupsPlaceModeChanged.emit(self._on)
            self.activeMarkupsFiducialPlaceModeChanged.emit(self._on)

    def deleteAllPoints(self):
        if self._node is not None:
            self._node.RemoveAllControlPoints()

    def deleteLastPoint(self):
        if self._node is not None and self._node.GetNumberOfControlPoints():
            self._node.RemoveNthControlPoint(self._node.GetNumberOfControlPoints() - 1)

    def _show_buttons(self, visible):
        self._place.setVisible(visible)
        self._delete.setVisible(visible)

    placeModeEnabled = Property(bool, lambda self: self._on, setPlaceModeEnabled)
    placeMultipleMarkups = stored(int, "many", 0)
    placeModePersistency = stored(bool, "persistent", False)
    deleteAllControlPointsOptionVisible = stored(bool, "delete_all", True)
    unsetLastControlPointOptionVisible = stored(bool, "unset_last", False)
    unsetAllControlPointsOptionVisible = stored(bool, "unset_all", False)
    buttonsVisible = Property(
        bool,
        lambda self: not self._place.isHidden(),
        lambda self, visible: self._show_buttons(visible),
    )


class qSlicerSimpleMarkupsWidget(qSlicerWidget):
    """A list of points: which one, buttons to place, and a table of its points."""

    markupsNodeChanged = Signal()
    currentMarkupsControlPointSelectionChanged = Signal(int)
    updateFinished = Signal()

    def __init__(self, parent=None):
        super().__init__(parent)
        self._observed, self._tags = None, []
        self._nodes = qMRMLNodeComboBox()
        self._nodes.nodeTypes = ["vtkMRMLMarkupsFiducialNode"]
        self._nodes.noneEnabled = True
        self._buttons = qSlicerMarkupsPlaceWidget()
        self._table = QTableWidget(0, 4)
        self._table.setHorizontalHeaderLabels(["Label", "R", "A", "S"])
        layout, top = QVBoxLayout(self), QHBoxLayout()
        layout.setContentsMargins(0, 0, 0, 0)
        top.addWidget(self._nodes, 1)
        top.addWidget(self._buttons)
        layout.addLayout(top)
        layout.addWidget(self._table)
        self._nodes.currentNodeChanged.connect(self._on_node)
        self._table.currentCellChanged.connect(
            lambda row, *_: self.currentMarkupsControlPointSelectionChanged.emit(row)
        )

    def _take(self, scene):
        super()._take(scene)
        self._nodes.setMRMLScene(scene)
        self._buttons.setMRMLScene(scene)

    def currentNode(self):
        return self._nodes.currentNode()

    getCurrentNode = currentNode

    def setCurrentNode(self, node):
        self._nodes.setCurrentNode(node)

    def setNodeBaseName(self, name):
        self._nodes.baseName = name

    def tableWidget(self):
        return self._table

    def markupsPlaceWidget(self):
        return self._buttons

    def markupsSelectorComboBox(self):
        return self._nodes

    def _on_node(self, node):
        for tag in self._tags:
            self._observed.RemoveObserver(tag)
        self._observed = node
        self._tags = [
            node.AddObserver(getattr(slicer.vtkMRMLMarkupsNode, event), lambda *_: self._fill())
            for event in (EVENTS if node is not None else ())
        ]
        self._buttons.setCurrentNode(node)
        self._fill()
        self.markupsNodeChanged.emit()

    def _fill(self):
        node = self._observed
        count = node.GetNumberOfControlPoints() if node is not None else 0
        self._table.setRowCount(count)
        for row in range(count):
            position = [0.0] * 3
            node.GetNthControlPointPositionWorld(row, position)
            texts = [node.GetNthControlPointLabel(row), *(f"{value:.2f}" for value in position)]
            for column, text in enumerate(texts):
                self._table.setItem(row, column, QTableWidgetItem(text))
        self.updateFinished.emit()

    nodeSelectorVisible = Property(
        bool,
        lambda self: not self._nodes.isHidden(),
        lambda self, visible: self._nodes.setVisible(visible),
    )
    optionsVisible = stored(bool, "options", True)
    jumpToSliceEnabled = stored(bool, "jump", False)
    enterPlaceModeOnNodeChange = stored(bool, "place_on_change", True)
    positionStatusColumnVisible = stored(bool, "status_column", True)


WIDGETS = (qSlicerMarkupsPlaceWidget, qSlicerSimpleMarkupsWidget)
