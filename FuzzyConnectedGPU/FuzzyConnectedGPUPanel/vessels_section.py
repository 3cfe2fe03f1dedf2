"""Section Vessels: one row each once there are several, branches handed over, one more vessel."""

from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import fuzzy_scene, vessel_lists
from FuzzyConnectedGPUMRML.fuzzy_scene import labelled_millilitres, vessels_of_scene
from FuzzyConnectedGPUMRML.vessel_lists import KINDS, NAMES, Color, color_of, kind_of
from FuzzyVesselCoreLib.mrml.points import paint
from FuzzyVesselCoreLib.mrml.provenance import volume_fingerprint
from FuzzyVesselCoreLib.mrml.segments import (
    VESSEL_KIND,
    is_as_written,
    result_segment,
    style_segment,
)
from FuzzyVesselCoreLib.mrml.writing import refer

from .wording import millilitres

COLOR, NAME, KIND_COLUMN = range(3)  # of the columns
ROW, SHOWN = 26, 6  # pixels of a row; rows before it scrolls


class VesselsSection:
    """Which vessels there are; with one vessel only the button that adds one is seen."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        table = self.ui.vesselsTable
        self._table = Table(table, widest=NAME)
        table.connect("currentCellChanged(int,int,int,int)", lambda row, *_: self._on_row(row))
        table.connect("cellChanged(int,int)", self._on_text)
        table.connect("cellClicked(int,int)", self._on_cell)
        self.ui.addVesselButton.connect("clicked()", self.add)
        self.ui.removeVesselButton.connect("clicked()", self.remove)
        self.ui.handOverButton.connect("clicked(bool)", self.hand_over)
        self.forget()

    def forget(self) -> None:
        """All lists are gone."""
        self._handing: Any = None  # the list whose next point hands a branch over
        self._rows: list[Any] = []  # the lists
        self._table.show([])

    # --- what the user does

    def add(self) -> None:
        """Add a vessel; the next points are its."""
        parameters = self._panel.parameters
        self._panel.seeds.placing.stop()
        with slicer.util.NodeModify(parameters.parameterNode):
            if not vessel_lists.vessels_of(parameters):
                vessel_lists.list_of(parameters, "seeds")
            vessel_lists.add_vessel(parameters)

    def remove(self) -> None:
        """Remove the current vessel, its points, and its segment unless somebody edited it."""
        parameters = self._panel.parameters
        node = parameters.seeds
        question = _("Remove '{name}' and its points?").format(name=node.GetName())
        if node.GetNumberOfControlPoints() and not slicer.util.confirmYesNoDisplay(
            question, windowTitle=self._panel.title()
        ):
            return
        self._panel.seeds.placing.stop()
        self._panel.undoing.history.removed(RemovedVessel(parameters, node))
        self._panel.update_soon()

    def _on_row(self, row: int) -> None:
        """The next points are those of the vessel that is selected."""
        parameters, placing = self._panel.parameters, self.ui.placeSeedsButton.checked
        if not 0 <= row < len(self._rows) or self._rows[row] is parameters.seeds:
            return
        self._handing = None
        parameters.seeds = self._rows[row]
        if placing:
            self._panel.seeds.placing.place("seeds", True)

    def _on_text(self, row: int, column: int) -> None:
        """A vessel gets a name, and its segment."""
        text = self.ui.vesselsTable.item(row, column).text().strip()
        if text:
            self._rows[row].SetName(text)
        self._look(self._rows[row])

    def _on_cell(self, row: int, column: int) -> None:
        """A click on a colour opens a colour dialog."""
        if column == COLOR:
            now = qt.QColor.fromRgbF(*color_of(self._rows[row]))
            color = qt.QColorDialog.getColor(now, self.ui.vesselsTable)
            if color.isValid():
                self.change_color(self._rows[row], (color.redF(), color.greenF(), color.blueF()))

    def change_color(self, node: Any, color: Color) -> None:
        """Give a vessel a colour, and its segment."""
        paint(node, color)
        self._look(node)

    def change_kind(self, node: Any, kind: str) -> None:
        """Give a vessel a kind; colour, terminology and usual name follow."""
        if kind != kind_of(node) or not node.GetAttribute(VESSEL_KIND):
            vessel_lists.change_kind(self._panel.parameters, node, kind)
            self._look(node)

    def _look(self, node: Any) -> None:
        """Let the segment of a vessel look as its row."""
        parameters = self._panel.parameters
        segment_id = result_segment(parameters.segmentation, node, parameters.inputVolume)
        if segment_id:
            segmentation = parameters.segmentation.GetSegmentation()
            style_segment(segmentation.GetSegment(segment_id), node)
        self._panel.update_soon()

    def hand_over(self, on: bool = True) -> None:
        """The next click says where a branch begins that belongs to the current vessel."""
        self._panel.seeds.placing.place("seeds", on)
        self._handing = self._panel.parameters.seeds if on else None
        self._panel.update_soon()

    def hand_over_at_mouse(self) -> None:
        """The branch that begins at the mouse belongs to the current vessel."""
        parameters = self._panel.parameters
        if len(vessel_lists.vessels_of(parameters)) > 1:
            self._handing = parameters.seeds
            if not self._panel.seeds.placing.add_at_mouse("seeds"):
                self._handing = None

    def point_was_placed(self, node: Any) -> None:
        """A point of a list got its place: it hands a branch over, if that was wanted."""
        if self._handing is not node:
            return
        self._handing = None
        index = node.GetNumberOfDefinedControlPoints() - 1
        vessel_lists.mark_hand_over(vessel_lists.vessels_of(self._panel.parameters), node, index)
        node.SetNthControlPointLabel(index, _("branch {number}").format(number=index + 1))
        self._panel.seeds.placing.stop()

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Keep the vessels in the scene where there are several."""
        lists = vessel_lists.vessels_of(parameters)
        if not slicer.mrmlScene.IsBatchProcessing():  # else lists are still to be loaded
            if parameters.seeds is None and lists:
                parameters.seeds = lists[0]
            vessel_lists.keep(parameters, lists if len(lists) > 1 else [])
        if not self.ui.placeSeedsButton.checked:
            self._handing = None

    # --- what is shown

    def show(self, parameters: Any) -> None:
        lists = vessel_lists.vessels_of(parameters)
        several = len(lists) > 1
        self.ui.vesselsFrame.setVisible(several)
        self.ui.handOverButton.checked = self._handing is not None
        keys = _("Keys: <b>A</b> vessel, <b>N</b> not vessel, <b>Z</b> undo")
        keys += _(", <b>H</b> branch") if several else ""
        self.ui.keysLabel.text = f"<small>{keys}</small>"
        if several:
            receiver = parameters.seeds.GetName() if parameters.seeds is not None else ""
            self.ui.handOverButton.text = _("Give a branch to {vessel}").format(vessel=receiver)
            self._show_table(parameters, lists)
            there = vessels_of_scene(parameters.sceneVolume)
            why = "" if there else _("There is no result yet: press Apply.")
            self._panel.enable(self.ui.handOverButton, why)

    def _show_table(self, parameters: Any, lists: list[Any]) -> None:
        found, cells = vessels_of_scene(self._panel.result_scene(parameters)), []
        for node in lists:
            volume = ""
            if node in found:
                number = found.index(node) + 1
                volume = millilitres(labelled_millilitres(parameters.labelmap, number) or 0.0)
            mark = ("", _("Click to choose a colour."), color_of(node))
            points = str(node.GetNumberOfDefinedControlPoints())
            texts = [(text, "", None) for text in (node.GetName(), "", points, volume)]
            cells.append([mark, *texts])
        self._rows, table = lists, self.ui.vesselsTable
        self._table.show(cells)
        blocked = table.blockSignals(True)
        for row, node in enumerate(lists):
            box = table.cellWidget(row, KIND_COLUMN) or self._kind_box(row)
            box.setCurrentIndex(list(KINDS).index(kind_of(node)))
        if parameters.seeds in lists:
            current = lists.index(parameters.seeds)
            if table.currentRow() != current or not table.selectedItems():
                table.selectRow(current)
        table.blockSignals(blocked)
        header = table.horizontalHeader().sizeHint().height()
        table.setFixedHeight(header + 2 + ROW * min(len(lists), SHOWN))

    def _kind_box(self, row: int) -> Any:
        """The box with the kinds of a row's vessel."""
        box = qt.QComboBox()
        for name in KINDS:
            box.addItem(NAMES[name], name)
        box.connect(
            "activated(int)", lambda index: self.change_kind(self._rows[row], box.itemData(index))
        )
        self.ui.vesselsTable.setCellWidget(row, KIND_COLUMN, box)
        return box


# ---- A vessel that is removed


class RemovedVessel:
    """A vessel that is removed, with its segment unless that was edited; undo brings it back."""

    def __init__(self, parameters: Any, node: Any) -> None:
        self._parameters, self.node = parameters, node
        self.remove()

    def remove(self) -> None:
        """Remove the vessel, unless it has gone in another way, or is the last one."""
        parameters, self._lists = self._parameters, vessel_lists.vessels_of(self._parameters)
        if self.node not in self._lists or len(self._lists) < 2:
            self._lists = []
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            self._color = vessel_lists.color_of(self.node)
            self._segment = _taken_segment(parameters, self.node)
            self._result = _result_of(parameters)
            self._divided = fuzzy_scene.vessels_of_scene(parameters.sceneVolume)
            vessel_lists.remove_vessel(parameters, self.node)

    def bring_back(self) -> None:
        """Put the vessel into its place; its segment too, where no other result came meanwhile."""
        parameters = self._parameters
        if self.node not in self._lists:
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            slicer.mrmlScene.AddNode(self.node)  # with the ID that it had
            paint(self.node, self._color)
            lists = vessel_lists.vessels_of(parameters)
            lists.insert(self._lists.index(self.node), self.node)
            vessel_lists.keep(parameters, list(dict.fromkeys(lists)))
            parameters.seeds = self.node
        if self._result != _result_of(parameters):
            return
        if self._divided:
            refer(parameters.sceneVolume, fuzzy_scene.VESSELS, self._divided)
        if self._segment is not None and slicer.mrmlScene.IsNodePresent(self._segment[0]):
            segmentation_node, segment_id, segment, following = self._segment
            inner = segmentation_node.GetSegmentation()
            if inner.GetSegment(segment_id) is None:
                inner.AddSegment(segment, segment_id, following)


def _result_of(parameters: Any) -> tuple:
    return parameters.sceneVolume, volume_fingerprint(parameters.labelmap)


def _taken_segment(parameters: Any, node: Any) -> tuple | None:
    """Remove the segment of a list; segmentation, ID, the segment, and the ID behind it."""
    segmentation_node = parameters.segmentation
    segment_id = result_segment(segmentation_node, node, parameters.inputVolume)
    if not segment_id:
        return None
    inner = segmentation_node.GetSegmentation()
    segment = inner.GetSegment(segment_id)
    if not is_as_written(segment):
        return None
    ids = [*inner.GetSegmentIDs(), ""]
    inner.RemoveSegment(segment_id)
    return segmentation_node, segment_id, segment, ids[ids.index(segment_id) + 1]


# ---- Tables of vessels and of points

Cell = tuple[str, str, Color | None]  # text, tooltip, and the colour of a mark


class Table:
    """Rows of a QTableWidget; texts that are as before are left alone, so that typing goes on.

    Column `widest` takes the room that is left; it alone may be edited, and numbers are to its
    right.
    """

    def __init__(self, widget: Any, widest: int = 0) -> None:
        self.widget, self._widest = widget, widest
        header = widget.horizontalHeader()
        header.setSectionResizeMode(qt.QHeaderView.ResizeToContents)
        header.setSectionResizeMode(widest, qt.QHeaderView.Stretch)

    def show(self, rows: list[list[Cell]]) -> None:
        """Show rows of cells."""
        blocked = self.widget.blockSignals(True)
        self.widget.setRowCount(len(rows))
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                self._fill(number, column, *cell)
        self.widget.blockSignals(blocked)

    def _fill(self, row: int, column: int, text: str, tooltip: str, color: Color | None) -> None:
        item = self.widget.item(row, column)
        if item is None:
            item = qt.QTableWidgetItem("")
            if column != self._widest:
                item.setFlags(qt.Qt.ItemIsSelectable | qt.Qt.ItemIsEnabled)
            if column > self._widest:
                item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
            self.widget.setItem(row, column, item)
        if item.text() != text:
            item.setText(text)
        item.setToolTip(tooltip)
        if color is not None:
            item.setIcon(icon(color))


def icon(color: Color) -> Any:
    """A mark (QIcon) in the colour of a list."""
    picture, found = qt.QPixmap(12, 12), qt.QIcon()
    picture.fill(qt.QColor.fromRgbF(*color))
    for mode in (qt.QIcon.Normal, qt.QIcon.Selected):  # else a selected row tints it
        found.addPixmap(picture, mode)
    return found
