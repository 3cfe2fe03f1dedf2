"""The table of vessels: colour, name, kind, points and volume of each."""

from typing import Any

import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.run_inputs import vessels_of_scene
from FuzzyConnectedGPUMRML.vessels import KINDS, color_of, kind_of
from FuzzyConnectedGPUMRML.volume_curve import labelled_millilitres

from ..plots import millilitres
from .seeds_table import dot

COLOR, NAME, KIND, POINTS, VOLUME = range(5)
COLUMNS = ("", _("Vessel"), _("Kind"), _("Points"), _("Volume"))
ROW, HEADER, NARROWEST = 26, 24, 26  # pixels of a row, of the header, and of a column
WIDTHS = {COLOR: 30, POINTS: 58, VOLUME: 72}  # pixels
SHOWN = 6  # rows before it scrolls


class VesselsTable:
    """Shows the vessels; the row that is selected is the current one.

    Parameters
    ----------
    section : VesselsSection
        What a person does here is done there.
    panel : ConnectednessPanel
    names : dict of str to str
        Of the kinds.
    """

    def __init__(self, section: Any, panel: Any, names: dict[str, str]) -> None:
        self._section, self._panel, self._names = section, panel, names
        self._table = table = panel.ui.vesselsTable
        self._rows: list[Any] = []
        self._shown: list[tuple] = []
        table.setColumnCount(len(COLUMNS))
        table.setHorizontalHeaderLabels(list(COLUMNS))
        table.verticalHeader().hide()
        table.verticalHeader().defaultSectionSize = ROW
        header = table.horizontalHeader()
        header.minimumSectionSize = NARROWEST
        header.setSectionResizeMode(qt.QHeaderView.ResizeToContents)
        header.setSectionResizeMode(NAME, qt.QHeaderView.Stretch)
        for column, width in WIDTHS.items():
            header.setSectionResizeMode(column, qt.QHeaderView.Fixed)
            table.setColumnWidth(column, width)
        header.highlightSections = False
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
        rows = [
            (
                node.GetID(),
                node.GetName(),
                kind_of(node).name,
                color_of(node),
                node.GetNumberOfDefinedControlPoints(),
                labelled_millilitres(parameters.labelmap, found.index(node) + 1)
                if node in found
                else None,
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
        self._rows = list(lists)
        table = self._table
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
                box.addItem(self._names[name], name)
            box.connect(
                "activated(int)",
                lambda index, node=node: self._section.change_kind(node, list(KINDS)[index]),
            )
            table.setCellWidget(row, KIND, box)
        table.setFixedHeight(HEADER + 2 + ROW * min(len(lists), SHOWN))

    def _fill(
        self, row: int, name: str, kind: str, color: Any, points: int, volume: float | None
    ) -> None:
        table = self._table
        icon = qt.QIcon()
        for mode in (qt.QIcon.Normal, qt.QIcon.Selected):  # else a selected row tints it
            icon.addPixmap(dot(color), mode)
        table.item(row, COLOR).setIcon(icon)
        for column, text in (
            (NAME, name),
            (POINTS, str(points)),
            (VOLUME, "" if volume is None else millilitres(volume)),
        ):
            if table.item(row, column).text() != text:
                table.item(row, column).setText(text)
        table.cellWidget(row, KIND).setCurrentIndex(list(KINDS).index(kind))

    def forget(self) -> None:
        """All lists are gone."""
        blocked = self._table.blockSignals(True)
        self._rows, self._shown = [], []
        self._table.setRowCount(0)
        self._table.blockSignals(blocked)
