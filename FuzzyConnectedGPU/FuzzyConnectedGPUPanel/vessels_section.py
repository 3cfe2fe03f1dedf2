"""Section Vessels: one row each once there are several, branches handed over, one more vessel."""

from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import vessels
from FuzzyConnectedGPUMRML.run_inputs import vessels_of_scene
from FuzzyConnectedGPUMRML.vessels import KINDS, color_of, kind_of
from FuzzyConnectedGPUMRML.volumes import labelled_millilitres
from FuzzyVesselCoreLib.mrml.new_points import paint
from FuzzyVesselCoreLib.mrml.segment_origin import result_segment

from .placing import list_of
from .plots import millilitres
from .seeds_section import dot, prepare_table

NAMES = {
    "portal vein": _("Portal vein"),
    "hepatic vein": _("Hepatic vein"),
    "artery": _("Artery"),
    "vein": _("Vein"),
    "other": _("Vessel"),
}
COLOR, NAME, KIND, POINTS, VOLUME = range(5)
COLUMNS = ("", _("Vessel"), _("Kind"), _("Points"), _("Volume"))
ROW, HEADER, NARROWEST = 26, 24, 26  # pixels of a row, of the header, and of a column
WIDTHS = {COLOR: 30, POINTS: 58, VOLUME: 72}  # pixels
SHOWN = 6  # rows before it scrolls


class VesselsSection:
    """Which vessels there are; with one vessel only the button that adds one is seen."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._handing: Any = None  # the list whose next point hands a branch over
        self._disputed: bool | None = None  # whether they are shown
        self.table = VesselsTable(self, panel)
        self.ui.addVesselButton.connect("clicked()", self.add)
        self.ui.removeVesselButton.connect("clicked()", self.remove)
        self.ui.handOverButton.connect("clicked(bool)", self.hand_over)

    # --- what the user does

    def add(self) -> None:
        """Add a vessel; the next points are its."""
        parameters = self._panel.parameters
        if parameters is None:
            return
        self._panel.seeds.placing.stop()
        with slicer.util.NodeModify(parameters.parameterNode):
            if not vessels.vessels_of(parameters):
                list_of(parameters, "seeds")
            vessels.add_vessel(parameters, NAMES)
            vessels.take_colors(parameters)
        for node in vessels.vessels_of(parameters):
            self._look(parameters, node)
        self._panel.update_soon()

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
        with slicer.util.NodeModify(parameters.parameterNode):
            self._panel.undoing.remove_vessel(parameters, node)
        self._panel.update_soon()

    def choose(self, node: Any) -> None:
        """Let the next points be those of a vessel."""
        parameters = self._panel.parameters
        if node is not parameters.seeds:
            placing = self.ui.placeSeedsButton.checked
            self._handing = None
            parameters.seeds = node
            if placing:
                self._panel.seeds.placing.place("seeds", True)

    def rename(self, node: Any, name: str) -> None:
        """Give a vessel a name, and its segment."""
        node.SetName(name)
        self._look(self._panel.parameters, node)

    def change_kind(self, node: Any, kind: str) -> None:
        """Give a vessel a kind; colour, terminology and usual name follow."""
        if kind != kind_of(node) or not node.GetAttribute(vessels.KIND):
            vessels.change_kind(self._panel.parameters, node, kind, NAMES)
            self._look(self._panel.parameters, node)
            self._panel.update_soon()

    def change_color(self, node: Any, color: tuple[float, float, float]) -> None:
        """Give a vessel a colour."""
        paint(node, color)
        self._look(self._panel.parameters, node)
        self._panel.update_soon()

    def hand_over(self, on: bool = True) -> None:
        """The next click says where a branch begins that belongs to the current vessel."""
        self._panel.seeds.placing.place("seeds", on)
        self._handing = self._panel.parameters.seeds if on else None
        self._panel.update_soon()

    def hand_over_at_mouse(self) -> None:
        """The branch that begins at the mouse belongs to the current vessel."""
        parameters = self._panel.parameters
        if parameters is None or len(vessels.vessels_of(parameters)) < 2:
            return
        self._handing = parameters.seeds
        if not self._panel.seeds.placing.add_at_mouse("seeds"):
            self._handing = None

    def point_was_placed(self, node: Any) -> None:
        """A point of a list got its place: it hands a branch over, if that was wanted."""
        if self._handing is not node:
            return
        self._handing = None
        index = node.GetNumberOfDefinedControlPoints() - 1
        vessels.mark_hand_over(vessels.vessels_of(self._panel.parameters), node, index)
        node.SetNthControlPointLabel(index, _("branch {number}").format(number=index + 1))
        self._panel.seeds.placing.stop()

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Keep the vessels in the scene where there are several."""
        lists = vessels.vessels_of(parameters)
        if not slicer.mrmlScene.IsBatchProcessing():  # else lists are still to be loaded
            if parameters.seeds is None and lists:
                parameters.seeds = lists[0]
            vessels.keep(parameters, lists if len(lists) > 1 else [])
        if not self.ui.placeSeedsButton.checked:
            self._handing = None
        before, self._disputed = self._disputed, parameters.showDisputed
        if before not in (None, self._disputed) and vessels_of_scene(parameters.sceneVolume):
            self._panel.threshold.cut_again(parameters)

    def _look(self, parameters: Any, node: Any) -> None:
        """Let the segment of a vessel look as its row."""
        segment_id = result_segment(parameters.segmentation, node, parameters.inputVolume)
        if segment_id:
            vessels.look(parameters.segmentation.GetSegmentation().GetSegment(segment_id), node)

    # --- what is shown

    def show(self, parameters: Any) -> None:
        lists = vessels.vessels_of(parameters)
        several = len(lists) > 1
        self.ui.vesselsFrame.setVisible(several)
        self.ui.handOverButton.checked = self._handing is not None
        keys = _("Keys: <b>A</b> vessel, <b>N</b> not vessel, <b>Z</b> undo") + (
            _(", <b>H</b> branch") if several else ""
        )
        self.ui.keysLabel.text = f"<small>{keys}</small>"
        if several:
            receiver = parameters.seeds.GetName() if parameters.seeds is not None else ""
            self.ui.handOverButton.text = _("Give a branch to {vessel}").format(vessel=receiver)
            self.table.show(parameters, lists)
            there = vessels_of_scene(parameters.sceneVolume)
            why = "" if there else _("There is no result yet: press Apply.")
            self._panel.enable(self.ui.handOverButton, why)

    def forget(self) -> None:
        """All lists are gone."""
        self._handing = self._disputed = None
        self.table.forget()


class VesselsTable:
    """Shows the vessels; the row that is selected is the current one."""

    def __init__(self, section: VesselsSection, panel: Any) -> None:
        self._section, self._panel = section, panel
        self._table = table = panel.ui.vesselsTable
        self._rows: list[Any] = []
        self._shown: list[tuple] = []
        prepare_table(table, COLUMNS, ROW, NARROWEST)
        header = table.horizontalHeader()
        header.setSectionResizeMode(NAME, qt.QHeaderView.Stretch)
        for column, width in WIDTHS.items():
            header.setSectionResizeMode(column, qt.QHeaderView.Fixed)
            table.setColumnWidth(column, width)
        header.setFixedHeight(HEADER)
        table.connect("currentCellChanged(int,int,int,int)", self._on_row)
        table.connect("cellChanged(int,int)", self._on_text)
        table.connect("cellClicked(int,int)", self._on_cell)

    def _on_row(self, row: int, *_others: int) -> None:
        if 0 <= row < len(self._rows):
            self._section.choose(self._rows[row])

    def _on_text(self, row: int, column: int) -> None:
        text = self._table.item(row, column).text().strip()
        if column == NAME and text and text != self._rows[row].GetName():
            self._section.rename(self._rows[row], text)

    def _on_cell(self, row: int, column: int) -> None:
        if column != COLOR:
            return
        now = qt.QColor(*(round(255 * part) for part in color_of(self._rows[row])))
        color = qt.QColorDialog.getColor(now, self._table)
        if color.isValid():
            parts = color.red() / 255, color.green() / 255, color.blue() / 255
            self._section.change_color(self._rows[row], parts)

    def show(self, parameters: Any, lists: list[Any]) -> None:
        """Show the vessels and which one is current."""
        found = vessels_of_scene(self._panel.result_scene(parameters))
        volumes = {
            node: labelled_millilitres(parameters.labelmap, number)
            for number, node in enumerate(found, 1)
        }
        rows = [
            (
                *(node.GetID(), node.GetName(), kind_of(node), color_of(node)),
                *(node.GetNumberOfDefinedControlPoints(), volumes.get(node)),
            )
            for node in lists
        ]
        blocked = self._table.blockSignals(True)
        try:
            if [row[0] for row in rows] != [row[0] for row in self._shown]:
                self._make_rows(lists)
            for number, row in enumerate(rows):
                self._fill(number, *row[1:])
            self._shown = rows
            if parameters.seeds in lists:
                current = lists.index(parameters.seeds)
                if self._table.currentRow() != current or not self._table.selectedItems():
                    self._table.selectRow(current)
        finally:
            self._table.blockSignals(blocked)

    def _make_rows(self, lists: list[Any]) -> None:
        self._rows, table = list(lists), self._table
        table.setRowCount(0)
        table.setRowCount(len(lists))
        for row, node in enumerate(lists):
            for column in (COLOR, NAME, POINTS, VOLUME):
                item = qt.QTableWidgetItem("")
                if column != NAME:
                    item.setFlags(qt.Qt.ItemIsSelectable | qt.Qt.ItemIsEnabled)
                    item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
                table.setItem(row, column, item)
            table.item(row, COLOR).setToolTip(_("Click to choose a colour."))
            box = qt.QComboBox()
            for name in KINDS:
                box.addItem(NAMES[name], name)
            box.connect(
                "activated(int)",
                lambda index, node=node: self._section.change_kind(node, list(KINDS)[index]),
            )
            table.setCellWidget(row, KIND, box)
        table.setFixedHeight(HEADER + 2 + ROW * min(len(lists), SHOWN))

    def _fill(
        self, row: int, name: str, kind: str, color: Any, points: int, volume: float | None
    ) -> None:
        icon = qt.QIcon()
        for mode in (qt.QIcon.Normal, qt.QIcon.Selected):  # else a selected row tints it
            icon.addPixmap(dot(color), mode)
        self._table.item(row, COLOR).setIcon(icon)
        volume_text = "" if volume is None else millilitres(volume)
        for column, text in ((NAME, name), (POINTS, str(points)), (VOLUME, volume_text)):
            if self._table.item(row, column).text() != text:
                self._table.item(row, column).setText(text)
        self._table.cellWidget(row, KIND).setCurrentIndex(list(KINDS).index(kind))

    def forget(self) -> None:
        """All lists are gone."""
        blocked = self._table.blockSignals(True)
        self._rows, self._shown = [], []
        self._table.setRowCount(0)
        self._table.blockSignals(blocked)
