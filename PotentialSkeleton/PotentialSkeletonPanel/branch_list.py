"""The table of branches: one row a branch, sorted by a click on a column's title."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import qt
from slicer.i18n import tr as _

COLUMNS = (
    "branch",
    "generation",
    "length_mm",
    "mean_radius_mm",
    "narrowest_radius_mm",
    "name",
    "tree",
)
ROW = 22  # pixels
DIGITS = 10  # with the spaces before a number: texts are sorted as their numbers are


class BranchList:
    """Fills a QTableWidget and tells which branches are chosen.

    Parameters
    ----------
    table : QTableWidget
    chosen : callable
        Called with the rows of the table of branches that are chosen.
    """

    def __init__(self, table: Any, chosen: Callable[[list[int]], None]) -> None:
        self._table, self._chosen, self._filling = table, chosen, False
        table.setColumnCount(len(COLUMNS))
        self._show_columns(())
        table.horizontalHeaderItem(0).setToolTip(_("Number of the branch, as in the table"))
        table.horizontalHeaderItem(1).setToolTip(_("Generation: 0 where the tree begins"))
        table.horizontalHeaderItem(4).setToolTip(
            _("Where the branch is narrowest, its rounded tip and its ends in junctions left out")
        )
        table.verticalHeader().setVisible(False)
        table.verticalHeader().setDefaultSectionSize(ROW)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        table.sortByColumn(0, qt.Qt.AscendingOrder)
        table.connect("itemSelectionChanged()", self._on_selected)

    def fill(self, columns: dict[str, Any]) -> None:
        """Show other branches, none of them chosen.

        Parameters
        ----------
        columns : dict of str to list
            Of `stored_tables`.
        """
        table = self._table
        self._filling = True
        if self._show_columns(columns):
            table.sortByColumn(COLUMNS.index("tree"), qt.Qt.AscendingOrder)
        table.sortingEnabled = False  # rows would move while they are filled
        table.clearContents()
        table.setRowCount(len(columns["branch"]))
        for column, name in enumerate(COLUMNS):
            for row, value in enumerate(columns.get(name, ())):
                table.setItem(row, column, _item(value))
        for row in range(len(columns["branch"])):
            table.item(row, 0).setData(qt.Qt.UserRole, row)
        table.sortingEnabled = True
        table.clearSelection()
        self._filling = False

    def _show_columns(self, columns: Collection[str]) -> bool:
        """Show the columns that there are; returns whether trees are told apart that were not."""
        table, narrow = self._table, not {"name", "tree"}.isdisjoint(columns)
        between = "\n" if narrow else " "
        titles = (
            _("No."),
            _("Gen."),
            _("Length\n(mm)"),
            _("Mean\nradius{between}(mm)").format(between=between),
            _("Smallest\nradius{between}(mm)").format(between=between),
            _("Name"),
            _("Tree"),
        )
        table.setHorizontalHeaderLabels(titles)
        header = table.horizontalHeader()
        header.setSectionResizeMode(qt.QHeaderView.Stretch)
        for column in (0, 1):
            header.setSectionResizeMode(column, qt.QHeaderView.ResizeToContents)
        was_hidden = table.isColumnHidden(COLUMNS.index("tree"))
        for optional in ("name", "tree"):
            table.setColumnHidden(COLUMNS.index(optional), optional not in columns)
        table.setColumnHidden(1, {"name", "tree"} <= set(columns))  # for want of room
        return was_hidden and "tree" in columns

    def chosen(self) -> list[int]:
        """The rows of the table of branches that are chosen."""
        rows = {item.row() for item in self._table.selectedItems()}
        return sorted(int(self._table.item(row, 0).data(qt.Qt.UserRole)) for row in rows)

    def choose(self, numbers: Iterable[int]) -> None:
        """Choose rows of the table of branches, and no others."""
        wanted, table = set(numbers), self._table
        self._filling = True
        table.clearSelection()
        for row in range(table.rowCount):
            if int(table.item(row, 0).data(qt.Qt.UserRole)) in wanted:
                for column in range(len(COLUMNS)):
                    if table.item(row, column) is not None:
                        table.item(row, column).setSelected(True)
                table.scrollToItem(table.item(row, 0))
        self._filling = False
        self._on_selected()

    def _on_selected(self) -> None:
        if not self._filling:
            self._chosen(self.chosen())


def _item(value: float | str) -> Any:
    if isinstance(value, str):
        item = qt.QTableWidgetItem(value)
        item.setToolTip(value)
        return item
    text = f"{value:{DIGITS}.2f}" if isinstance(value, float) else f"{value:{DIGITS}}"
    item = qt.QTableWidgetItem(text)
    item.setData(qt.Qt.TextAlignmentRole, int(qt.Qt.AlignRight | qt.Qt.AlignVCenter))
    return item
