"""What was found: a line, the branches, the radius along one of them, a legend, notes and files."""

import os
import re
from collections.abc import Callable, Collection, Iterable
from itertools import accumulate
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.widgets.plots import CurvePlot
from PotentialSkeletonLib.graph.exports import table_text
from PotentialSkeletonMRML.colouring import (
    BRANCH,
    GENERATION,
    RADIUS,
    TREE,
    generation_color,
    radius_color,
    radius_range,
)
from PotentialSkeletonMRML.interchange import save_tree
from PotentialSkeletonMRML.lines import stored_skeleton
from PotentialSkeletonMRML.run_nodes import kept_notes, tree_name
from PotentialSkeletonMRML.tables import distances, stored_tables
from PotentialSkeletonMRML.tree_steps import NAMES

from .sentences import next_step, summary
from .views import Highlight

COLUMNS = (
    "branch",
    "generation",
    "length_mm",
    "mean_radius_mm",
    "narrowest_radius_mm",
    "name",
    "tree",
)
NUMBER, GENERATION_COLUMN, NAME_COLUMN, TREE_COLUMN = (
    COLUMNS.index(name) for name in ("branch", "generation", "name", "tree")
)
ROW, LEGEND = 22, 10  # pixels of a row of the table, and of the strip of colours
DIGITS = 10  # with the spaces before a number: texts are sorted as their numbers are
NOT_IN_NAMES = r'[<>:"/\\|?*\x00-\x1f]'  # of files


class ResultSection:
    """Shows the trees of some models; a click on a branch shows it in the views.

    Attributes
    ----------
    models : list of vtkMRMLModelNode
        Whose branches are shown.
    advice : str
        What to do next with them.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._skeletons: list[Any] = []
        self._shown: tuple | None = None
        self.models: list[Any] = []
        self.advice = ""
        self._highlight = Highlight()
        self._branches = BranchList(self.ui.branchTable, self._on_rows)
        self._plot = CurvePlot(self.ui.plotFrame)
        self.ui.legendFrame.setFixedHeight(LEGEND)
        self.ui.csvButton.connect("clicked()", self.save_csv)
        self.ui.swcButton.connect("clicked()", self.save_swc)

    @property
    def model(self) -> Any:
        """The model of the first chosen branch, else the first; None where none is shown."""
        chosen = self.all_chosen()
        return chosen[0][0] if chosen else next(iter(self.models), None)

    def chosen(self) -> tuple[Any, int] | None:
        """The model and the number of the chosen branch, or None where it is not one."""
        found = self.all_chosen()
        return found[0] if len(found) == 1 else None

    def all_chosen(self) -> list[tuple[Any, int]]:
        """The models and the numbers of all chosen branches."""
        return [(self.models[tree], n) for tree, n in map(self._place, self._branches.chosen())]

    def choose(self, branches: Iterable[tuple[Any, int]]) -> None:
        """Choose branches by model and number, as clicks on their rows do."""
        starts = [0, *accumulate(len(each.branches) for each in self._skeletons)]
        self._branches.choose(starts[self.models.index(m)] + number for m, number in branches)

    def show(self, models: list[Any], colouring: str) -> None:
        """Show the branches of models' lines, or nothing."""
        stamp = tuple(map(_stamp, models))
        if stamp != self._shown:
            self._shown = stamp
            self._show_others(models)
        if self._skeletons:
            self._show_legend(colouring)

    def show_way(self, model: Any, points: Any, radius: Any) -> None:
        """Show a way along a tree in the views, as a chosen branch; points are S, A, R."""
        self._highlight.show([(points[:, ::-1], radius)], model.GetTransformNodeID())

    def clear_choice(self) -> None:
        """Choose no branch, and show none in the views."""
        self.ui.branchTable.clearSelection()

    def forget(self) -> None:
        """The scene is being closed."""
        self._highlight.hide()
        self._skeletons, self._shown, self.models, self.advice = [], None, [], ""
        self.ui.resultArea.setVisible(False)

    def _show_others(self, models: list[Any]) -> None:
        self._highlight.hide()
        found = [stored_skeleton(model) for model in models]
        there = bool(found) and None not in found
        self._skeletons, self.models = (found, list(models)) if there else ([], [])
        self.ui.resultArea.setVisible(there)
        self.advice = ""
        if not there:
            return
        table = stored_tables(models)
        self.advice = next_step(table)
        self.ui.summaryLabel.text = summary(table)
        self._branches.fill(table)
        self._plot_branch(None, 0)
        said = [
            f"{tree_name(model)}: {text}" if len(models) > 1 else text
            for model in models
            for text in kept_notes(model)
        ]
        self.ui.notesText.plainText = "\n".join(f"\N{BULLET} {each}" for each in said)

    def _show_legend(self, kind: str) -> None:
        """Say what the colours of the centrelines mean, beside a strip of them."""
        titles = {TREE: _("A colour for each tree"), BRANCH: _("A colour for each branch")}
        title, colors = titles.get(kind, ""), []
        if kind == RADIUS:
            low, high = radius_range(self.models[0].GetPolyData())
            title = _("Radius {low:.1f}-{high:.1f} mm").format(low=low, high=high)
            colors = [radius_color(step / 8) for step in range(9)]
        elif kind == GENERATION:
            title = _("Generation 0-7")
            colors = [generation_color(number) for number in range(8)]
        self.ui.legendTitle.text = title
        self.ui.legendFrame.setVisible(bool(colors))  # else the title has its room
        stops = ", ".join(
            f"stop: {number / (len(colors) - 1):.3f} {qt.QColor.fromRgbF(*color[:3]).name()}"
            for number, color in enumerate(colors)
        )
        gradient = f"qlineargradient(x1: 0, y1: 0, x2: 1, y2: 0, {stops})"
        self.ui.legendFrame.styleSheet = f"background: {gradient}" if colors else ""

    def _place(self, row: int) -> tuple[int, int]:
        """Number of the tree and of its branch for a row of the table."""
        number = 0
        while row >= len(self._skeletons[number].branches):
            row -= len(self._skeletons[number].branches)
            number += 1
        return number, row

    def _on_rows(self, rows: list[int]) -> None:
        """Show the branches that were clicked; of several trees, those of the first."""
        places = [self._place(row) for row in rows]
        if not places:
            self._highlight.hide()
        else:
            first = places[0][0]
            branches = self._skeletons[first].branches
            curves = [branches[number] for tree, number in places if tree == first]
            ways = [(curve.points[:, ::-1], curve.radius) for curve in curves]
            self._highlight.show(ways, self.models[first].GetTransformNodeID())
        tree, number = places[0] if len(places) == 1 else (None, 0)
        self._plot_branch(tree, number)
        self._panel.on_branch_chosen()

    def _plot_branch(self, tree: int | None, number: int) -> None:
        """Show the radius along a branch, or a hint."""
        if tree is None:
            self._plot.show_hint(_("Click a branch to see its radius."))
            return
        skeleton = self._skeletons[tree]
        curve = skeleton.branches[number]
        self._plot.show_curve(
            distances(curve, skeleton.spacing),
            curve.radius,
            _("Distance along branch {number} (mm)").format(number=number),
            _("Radius (mm)"),
        )

    # --- files

    def save_csv(self) -> None:
        """Ask for a file and save the table there."""
        table = stored_tables(self.models)
        title = _("Save the table of branches")
        self._save(title, "csv", lambda path: table_text(table, path))

    def save_swc(self) -> None:
        """Ask for a file and save the tree there; of several, each has its name behind that."""

        def write(path: str) -> None:
            for model in self.models:
                stem, ending = os.path.splitext(path)
                own = re.sub(NOT_IN_NAMES, "-", tree_name(model))
                save_tree(model, path if len(self.models) == 1 else f"{stem}-{own}{ending}")

        self._save(_("Save the tree"), "swc", write)

    def _save(self, title: str, suffix: str, write: Callable[[str], Any]) -> None:
        name = self.models[0].GetName() if len(self.models) == 1 else _("Centrelines")
        name = name.replace("/", "-")
        path = qt.QFileDialog.getSaveFileName(
            self.ui.csvButton, title, f"{name}.{suffix}", f"{suffix.upper()} (*.{suffix})"
        )
        if not path:
            return
        # The dialog has asked for the name without the suffix, and not for this one.
        asked, path = path, path if path.lower().endswith(f".{suffix}") else f"{path}.{suffix}"
        if path != asked and os.path.exists(path):
            text = _("{path} is there already. Replace it?").format(path=path)
            if not slicer.util.confirmYesNoDisplay(text, windowTitle=self._panel.title()):
                return
        with slicer.util.tryWithErrorDisplay(_("The file was not saved.")):
            write(path)
            self._panel.say(_("Saved {path}").format(path=path))


class BranchList:
    """Fills a QTableWidget with a row a branch, and tells which branches are chosen.

    Rows begin at the trees' roots; a click on a column's title sorts them.

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
        table.horizontalHeader().setHighlightSections(False)
        table.sortByColumn(GENERATION_COLUMN, qt.Qt.AscendingOrder)
        table.connect("itemSelectionChanged()", self._on_selected)

    def fill(self, columns: dict[str, Any]) -> None:
        """Show other branches, columns of `stored_tables`, none of them chosen."""
        table = self._table
        self._filling = True
        if self._show_columns(columns):
            table.sortByColumn(TREE_COLUMN, qt.Qt.AscendingOrder)
        table.sortingEnabled = False  # rows would move while they are filled
        table.clearContents()
        order = sorted(  # rows that are equal stay in this order: the thickest first
            range(len(columns["branch"])),
            key=lambda n: (columns["generation"][n], -columns["mean_radius_mm"][n]),
        )
        table.setRowCount(len(order))
        for row, number in enumerate(order):
            for column, name in enumerate(COLUMNS):
                if name in columns:
                    table.setItem(row, column, _item(columns[name][number]))
            table.item(row, NUMBER).setData(qt.Qt.UserRole, number)
        table.sortingEnabled = True
        table.clearSelection()
        table.scrollToTop()
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
        for column in (NUMBER, GENERATION_COLUMN):
            header.setSectionResizeMode(column, qt.QHeaderView.ResizeToContents)
        was_hidden = table.isColumnHidden(TREE_COLUMN)
        table.setColumnHidden(NAME_COLUMN, "name" not in columns)
        table.setColumnHidden(TREE_COLUMN, "tree" not in columns)
        # For want of room.
        table.setColumnHidden(GENERATION_COLUMN, {"name", "tree"} <= set(columns))
        return was_hidden and "tree" in columns

    def chosen(self) -> list[int]:
        """The rows of the table of branches that are chosen."""
        rows = {item.row() for item in self._table.selectedItems()}
        return sorted(int(self._table.item(row, NUMBER).data(qt.Qt.UserRole)) for row in rows)

    def choose(self, numbers: Iterable[int]) -> None:
        """Choose rows of the table of branches, and no others."""
        wanted, table = set(numbers), self._table
        self._filling = True
        table.clearSelection()
        for row in range(table.rowCount):
            if int(table.item(row, NUMBER).data(qt.Qt.UserRole)) in wanted:
                for column in range(len(COLUMNS)):
                    if table.item(row, column) is not None:
                        table.item(row, column).setSelected(True)
                table.scrollToItem(table.item(row, NUMBER))
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


def _stamp(model: Any) -> tuple:
    """Return what changes when a model gets other lines or names; colours change nothing of it."""
    points = model.GetPolyData().GetPoints()
    return (model, points.GetMTime() if points is not None else 0, model.GetAttribute(NAMES))
