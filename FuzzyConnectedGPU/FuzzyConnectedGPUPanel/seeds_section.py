"""Section Seeds: two lists of points, placed with the mouse, shown in one table."""

import qt
import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUMRML.point_colors import BACKGROUND_COLOR, VESSEL_COLOR, paint
from FuzzyConnectedGPUMRML.point_history import PointHistory
from FuzzyConnectedGPUMRML.slice_layers import jump_to

from . import region_section

ROW, NARROWEST = 22, 56  # pixels of a row and of a column
COLUMNS = (_("Point"), "I, J, K", _("Value"), _("Around it"))


class SeedsSection:
    """Placing, listing, deleting and undoing.

    Attributes
    ----------
    dragging : bool
        Whether the user is moving a point just now.
    finding : bool
        Whether points are being found automatically.
    """

    def __init__(self, panel):
        self._panel, self.ui = panel, panel.ui
        self._observers = VTKObservationMixin()
        self._observed, self._histories, self._steps = [], {}, []
        self._rows = []  # of the table: (list, SeedRow)
        self.dragging = self.finding = False
        self._kinds = {
            "seeds": (self.ui.placeSeedsButton, self.ui.seedsPlaceWidget),
            "backgroundSeeds": (self.ui.placeBackgroundButton, self.ui.backgroundPlaceWidget),
        }
        self._connect_placing()
        for selector, color in (
            (self.ui.seedsSelector, VESSEL_COLOR),
            (self.ui.backgroundSelector, BACKGROUND_COLOR),
        ):
            selector.connect(
                "nodeAddedByUser(vtkMRMLNode*)", lambda node, color=color: paint(node, color)
            )
        self._prepare_table()
        self.ui.findSeedsButton.connect("clicked()", self.find)
        self.ui.deleteSeedButton.connect("clicked()", self.delete)
        self.ui.undoSeedButton.connect("clicked()", self.undo)

    def _connect_placing(self):
        many = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
        for name, (button, place_widget) in self._kinds.items():
            place_widget.placeMultipleMarkups = many
            place_widget.hide()
            button.connect("clicked(bool)", lambda on, name=name: self.place(name, on))
            place_widget.connect(
                "activeMarkupsPlaceModeChanged(bool)",
                lambda on, button=button: setattr(button, "checked", on),
            )

    def _prepare_table(self):
        table = self.ui.seedsTable
        table.setColumnCount(len(COLUMNS))
        table.setHorizontalHeaderLabels(list(COLUMNS))
        table.verticalHeader().hide()
        table.verticalHeader().defaultSectionSize = ROW
        header = table.horizontalHeader()
        header.setSectionResizeMode(qt.QHeaderView.ResizeToContents)
        header.setSectionResizeMode(0, qt.QHeaderView.Stretch)
        header.highlightSections = False
        header.minimumSectionSize = NARROWEST
        table.connect("cellClicked(int,int)", self.jump)
        table.connect("itemSelectionChanged()", self._enable)

    # --- what the user does

    def place(self, name, on):
        """Begin or end to place points with the mouse; a list is made if there is none."""
        parameters = self._panel.parameters
        if parameters is None:
            return
        for _button, place_widget in self._kinds.values():
            place_widget.placeModeEnabled = False
        if not on:
            return
        if getattr(parameters, name) is None:
            setattr(parameters, name, new_list(name))
        button, place_widget = self._kinds[name]
        place_widget.setCurrentNode(getattr(parameters, name))
        place_widget.placeModeEnabled = True
        button.checked = True

    def stop_placing(self):
        """The panel is left: clicks in the views are the user's own again."""
        for button, place_widget in self._kinds.values():
            if place_widget.placeModeEnabled:
                place_widget.placeModeEnabled = False
            button.checked = False

    def find(self):
        """Find points automatically and add them to the vessels' list."""
        if self._panel.running.busy or self._panel.parameters is None:
            return
        self.stop_placing()
        self.finding = True
        try:
            self._panel.start(self._find)
        finally:
            self.finding = False
            self._panel.update_soon()

    def _find(self, parameters, progress):
        """One run that finds points; returns what there is to say of it."""
        node = parameters.seeds
        made = node is None
        if made:  # and shown while it is empty, so that undo leads back to that
            node = parameters.seeds = new_list("seeds")
        before = node.GetNumberOfControlPoints()
        try:
            self._panel.logic.findSeeds(
                parameters.inputVolume,
                **region_section.nodes_of(parameters),
                seedsNode=node,
                device=parameters.device,
                progress=progress,
            )
        except BaseException:
            if made and not node.GetNumberOfControlPoints():
                slicer.mrmlScene.RemoveNode(node)
            raise
        count = node.GetNumberOfControlPoints() - before
        if not count:
            return _("All points that were found are in the list already.")
        return _("Found {count} points: look at each, and delete what is no vessel.").format(
            count=count
        )

    def jump(self, row, column=0):
        """Move all slices to the point of a row."""
        node, seed = self._rows[row]
        position = [0.0, 0.0, 0.0]
        node.GetNthControlPointPositionWorld(seed.index, position)
        jump_to(position)

    def delete(self):
        """Delete the point of the row that is selected."""
        row = self._selected()
        if row is not None:
            node, seed = self._rows[row]
            node.RemoveNthControlPoint(seed.index)

    def undo(self):
        """Take back the last change of either list."""
        while self._steps:
            history = self._histories.get(self._steps.pop())
            if history is not None and history.can_undo:
                history.undo()
                break
        self._panel.update_soon()

    # --- what is shown

    def show(self, parameters):
        lists = [node for node in (parameters.seeds, parameters.backgroundSeeds) if node]
        self._observe(lists)
        for name, (_button, place_widget) in self._kinds.items():
            place_widget.setCurrentNode(getattr(parameters, name))
        self._record(lists)
        self._fill(parameters)
        self._panel.enable(self.ui.findSeedsButton, self._why_not_find(parameters))
        self._enable()

    def intensities(self):
        """Of the vessel seeds in the table."""
        seeds = self._panel.parameters.seeds
        return [
            row.intensity for node, row in self._rows if node is seeds and row.intensity is not None
        ]

    def _why_not_find(self, parameters):
        if not self._panel.has_voxels(parameters.inputVolume):
            return _("Choose a volume first.")
        if self._panel.running.busy:
            return _("A run is going on.")
        return region_section.why_not(parameters)

    def forget(self):
        """The lists are gone."""
        self._observers.removeObservers()
        self._observed, self._histories, self._steps, self._rows = [], {}, [], []
        self.dragging = False
        self.ui.seedsTable.setRowCount(0)

    def _observe(self, lists):
        if lists == self._observed:
            return
        self._observers.removeObservers()
        self._observed, self.dragging = lists, False
        events = slicer.vtkMRMLMarkupsNode
        for node in lists:
            for event in (
                events.PointModifiedEvent,
                events.PointPositionDefinedEvent,
                events.PointRemovedEvent,
            ):
                self._observers.addObserver(node, event, self._on_points)
            self._observers.addObserver(node, events.PointStartInteractionEvent, self._on_drag)
            self._observers.addObserver(node, events.PointEndInteractionEvent, self._on_drop)

    def _on_points(self, caller, event):
        self._panel.update_soon()

    def _on_drag(self, caller, event):
        self.dragging = True

    def _on_drop(self, caller, event):
        self.dragging = False
        self._panel.update_soon()

    def _record(self, lists):
        """Remember the lists for undo; while a point is dragged, its way is no step."""
        if self.dragging:
            return
        for node in lists:
            if node.GetID() not in self._histories:
                self._histories[node.GetID()] = PointHistory(node)
            elif self._histories[node.GetID()].record():
                self._steps.append(node.GetID())

    def _fill(self, parameters):
        volume, rows = parameters.inputVolume, []
        if self._panel.has_voxels(volume):
            for node in (parameters.seeds, parameters.backgroundSeeds):
                if node is not None:
                    found = self._panel.logic.seedRows(volume, node, parameters.radius)
                    rows += [(node, seed) for seed in found]
        if rows == self._rows:
            return
        selected = self._selected()
        self._rows = rows
        table = self.ui.seedsTable
        table.setRowCount(len(rows))
        for number, (node, seed) in enumerate(rows):
            color = BACKGROUND_COLOR if node is parameters.backgroundSeeds else VESSEL_COLOR
            self._fill_row(number, seed, color)
        if selected is not None and selected < len(rows):
            table.selectRow(selected)
        self.ui.seedsNoteLabel.text = _note(rows, parameters)

    def _fill_row(self, number, seed, color):
        texts = [seed.label, ", ".join(map(str, seed.ijk)), _("outside"), ""]
        if seed.intensity is not None:
            texts[2:] = [f"{seed.intensity:.5g}", f"{seed.mean:.4g} \u00b1 {seed.deviation:.3g}"]
        for column, text in enumerate(texts):
            item = qt.QTableWidgetItem(text)
            if column == 0:
                item.setIcon(_dot(color))
            else:
                item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
            self.ui.seedsTable.setItem(number, column, item)

    def _selected(self):
        row = self.ui.seedsTable.currentRow()
        return row if 0 <= row < len(self._rows) else None

    def _enable(self):
        chosen = self._selected() is not None
        why = "" if chosen else _("Select a point in the table first.")
        self._panel.enable(self.ui.deleteSeedButton, why)
        can = any(
            each in self._histories and self._histories[each].can_undo for each in self._steps
        )
        self._panel.enable(self.ui.undoSeedButton, "" if can else _("Nothing to take back."))


def new_list(name):
    """A new list of vessel points (`seeds`) or of background points, in its colour."""
    vessel = name == "seeds"
    scene = slicer.mrmlScene
    title = scene.GenerateUniqueName(_("Vessel") if vessel else _("Background"))
    node = scene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", title)
    paint(node, VESSEL_COLOR if vessel else BACKGROUND_COLOR)
    return node


def _note(rows, parameters):
    vessels = sum(node is parameters.seeds for node, _seed in rows)
    if not vessels:
        return _("Place one point or more in each vessel tree.")
    return _("{count} in vessels, {others} in the background").format(
        count=vessels, others=len(rows) - vessels
    )


def _dot(color):
    """A round mark in the colour of a list."""
    picture = qt.QPixmap(12, 12)
    picture.fill(qt.QColor(0, 0, 0, 0))
    painter = qt.QPainter(picture)
    painter.setRenderHint(qt.QPainter.Antialiasing)
    painter.setPen(qt.QColor(70, 70, 70))
    painter.setBrush(qt.QBrush(qt.QColor(*(round(255 * part) for part in color))))
    painter.drawEllipse(1, 1, 9, 9)
    painter.end()
    return qt.QIcon(picture)
