"""Tables of points and of vessels, and how numbers and colours are shown in them."""

from collections.abc import Sequence
from typing import Any

import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.vessel_lists import Color

Cell = tuple[str, str, Color | None]  # text, tooltip, and the colour of a mark


class Table:
    """Rows of a QTableWidget; texts that are as before are left alone, so that typing goes on.

    `editable` are the columns whose text a person may change; column `widest` takes the room that
    is left, and numbers are to its right.
    """

    def __init__(self, widget: Any, widest: int = 0, editable: Sequence[int] = ()) -> None:
        self.widget, self._widest, self._editable = widget, widest, editable
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
            if column not in self._editable:
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
    """A round mark (QIcon) in the colour of a list."""
    picture = qt.QPixmap(12, 12)
    picture.fill(qt.QColor(0, 0, 0, 0))
    painter = qt.QPainter(picture)
    painter.setRenderHint(qt.QPainter.Antialiasing)
    painter.setPen(qt.QColor(70, 70, 70))
    painter.setBrush(qt.QBrush(qt.QColor(*(round(255 * part) for part in color))))
    painter.drawEllipse(1, 1, 9, 9)
    painter.end()
    found = qt.QIcon()
    for mode in (qt.QIcon.Normal, qt.QIcon.Selected):  # else a selected row tints it
        found.addPixmap(picture, mode)
    return found


def millilitres(volume: float) -> str:
    """A volume in ml as a user reads it."""
    if volume >= 100:
        return _("{volume:.0f} ml").format(volume=volume)
    return _("{volume:.3g} ml").format(volume=volume)
