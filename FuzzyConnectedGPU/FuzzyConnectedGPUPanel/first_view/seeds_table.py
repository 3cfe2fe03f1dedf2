"""The table of points: what each is, and what the image holds round it."""

from typing import Any

import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.vessels import vessels_of
from FuzzyConnectedGPUMRML.views import jump_to

from .vessel_colors import list_color

ROW, NARROWEST = 22, 56  # pixels of a row and of a column
COLUMNS = (_("Point"), _("Value"), _("Around it"))


class SeedsTable:
    """Shows the points of all lists.

    Attributes
    ----------
    rows : list of (node, SeedRow)
        What is shown.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self._table = panel, panel.ui.seedsTable
        self.rows: list[tuple[Any, Any]] = []
        self._colors: list[Any] = []
        table = self._table
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

    def jump(self, row: int, column: int = 0) -> None:
        """Move all slices to the point of a row."""
        node, seed = self.rows[row]
        position = [0.0, 0.0, 0.0]
        node.GetNthControlPointPositionWorld(seed.index, position)
        jump_to(position)

    def select(self, wanted: Any) -> None:
        """Select the row of a `SeedRow` and show its point."""
        for number, (_node, seed) in enumerate(self.rows):
            if seed is wanted:
                self._table.selectRow(number)
                self.jump(number)

    def selected(self) -> int | None:
        """The row that is selected."""
        row = self._table.currentRow()
        return row if 0 <= row < len(self.rows) else None

    def of(self, node: Any) -> list[Any]:
        """The rows of one list."""
        return [row for each, row in self.rows if each is node]

    def show(self, parameters: Any) -> None:
        rows = self._read(parameters)
        colors = [list_color(parameters, node) for node, _seed in rows]
        if (rows, colors) == (self.rows, self._colors):
            return
        selected, self.rows, self._colors = self.selected(), rows, colors
        self._table.setRowCount(len(rows))
        for number, (_node, seed) in enumerate(rows):
            self._fill_row(number, seed, colors[number])
        if selected is not None and selected < len(rows):
            self._table.selectRow(selected)

    def _read(self, parameters: Any) -> list[tuple[Any, Any]]:
        volume, rows = parameters.inputVolume, []
        if self._panel.has_voxels(volume):
            for node in (*vessels_of(parameters), parameters.backgroundSeeds):
                if node is not None:
                    found = self._panel.logic.seedRows(volume, node, parameters.radius)
                    rows += [(node, seed) for seed in found]
        return rows

    def _fill_row(self, number: int, seed: Any, color: tuple[float, float, float]) -> None:
        texts = [seed.label, _("outside"), ""]
        if seed.intensity is not None:
            texts[1:] = [f"{seed.intensity:.5g}", f"{seed.mean:.4g} \u00b1 {seed.deviation:.3g}"]
        voxel = ", ".join(map(str, seed.ijk))
        for column, text in enumerate(texts):
            item = qt.QTableWidgetItem(text)
            item.setToolTip(_("{point}, voxel {ijk}").format(point=seed.label, ijk=voxel))
            if column == 0:
                item.setIcon(qt.QIcon(dot(color)))
            else:
                item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
            self._table.setItem(number, column, item)

    def forget(self) -> None:
        """The lists are gone."""
        self.rows = []
        self._table.setRowCount(0)


def dot(color: tuple[float, float, float]) -> Any:
    """A round mark (QPixmap) in the colour of a list."""
    picture = qt.QPixmap(12, 12)
    picture.fill(qt.QColor(0, 0, 0, 0))
    painter = qt.QPainter(picture)
    painter.setRenderHint(qt.QPainter.Antialiasing)
    painter.setPen(qt.QColor(70, 70, 70))
    painter.setBrush(qt.QBrush(qt.QColor(*(round(255 * part) for part in color))))
    painter.drawEllipse(1, 1, 9, 9)
    painter.end()
    return picture
