"""The result: a summary, the table of branches, the radius along one, legend, notes, and files."""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.writing import remove_node
from FuzzyVesselCoreLib.translation import counted
from PotentialSkeletonLib.curve_skeleton import table_text
from PotentialSkeletonLib.tree import Course
from PotentialSkeletonMRML import edits, lines
from PotentialSkeletonMRML.outputs import NOTES, tree_name
from PotentialSkeletonMRML.tree import Tree

# Of `CurveSkeleton.to_table`, what the panel's table shows, in this order.
COLUMNS = (
    "branch", "generation", "length_mm", "mean_radius_mm", "narrowest_radius_mm", "name", "tree",
)  # fmt: skip
NUMBER, GENERATION_COLUMN, NAME_COLUMN, TREE_COLUMN = 0, 1, 5, 6
DIGITS = 10  # with the spaces before a number: texts are sorted as their numbers are
CHOSEN = "Chosen branch"  # name of a model, and its tag as the only one of its kind
CHOSEN_COLOR = (0.1, 0.95, 1.0)  # none of the colours of radii is like it
CHOSEN_WIDTH = 3  # pixels, of its outline in slices
THICKER = 1.1  # than the object, so that it is seen round the object's own tubes
# So many branches shorter than their own diameter, and such a share of all, hint at a leak; so do
# so many loops.
MIN_STUBS, STUB_SHARE, MIN_LOOPS = 20, 0.4, 10
MIN_PARTS = 4  # fewer may be vessels of their own, as portal and hepatic veins are


class ResultSection:
    """Shows the trees of some `models`; a click on a branch shows it in the views.

    `advice` says what to do next with them.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._shown: list | None = None
        self._rows: list[tuple[Any, int, Any]] = []  # model, number and curve of each branch
        self.models: list[Any] = []
        self.advice = ""
        table, header = self.ui.branchTable, self.ui.branchTable.horizontalHeader()
        header.setSectionResizeMode(qt.QHeaderView.Stretch)
        for column in (NUMBER, GENERATION_COLUMN):
            header.setSectionResizeMode(column, qt.QHeaderView.ResizeToContents)
        table.setColumnHidden(TREE_COLUMN, True)
        table.sortByColumn(GENERATION_COLUMN, qt.Qt.AscendingOrder)
        table.connect("itemSelectionChanged()", self._on_chosen)
        self.plot = CurvePlot(self.ui.plotFrame)
        self.ui.csvButton.connect("clicked()", self.save_csv)
        self.ui.swcButton.connect("clicked()", self.save_swc)

    @property
    def model(self) -> Any:
        """The model of the first chosen branch, else the first that has one, or None."""
        return next(iter(self.chosen() or self._rows), (None,))[0]

    def chosen(self) -> list[tuple[Any, int]]:
        """The models and the numbers of the chosen branches."""
        return [row[:2] for row in self._chosen_rows()]

    def choose(self, branches: Iterable[tuple[Any, int]]) -> None:
        """Choose branches by model and number, as clicks on their rows do."""
        wanted, table = list(branches), self.ui.branchTable
        table.blockSignals(True)
        table.clearSelection()
        for row in range(table.rowCount):
            if self._rows[self._number(row)][:2] in wanted:
                for column in range(len(COLUMNS)):
                    if table.item(row, column) is not None:
                        table.item(row, column).setSelected(True)
                table.scrollToItem(table.item(row, NUMBER))
        table.blockSignals(False)
        self._on_chosen()

    def show(self, models: list[Any], colouring: str) -> None:
        """Show the branches of models' lines, or nothing."""
        # What changes when a model gets other lines or names; colours change nothing of it.
        stamp = [(m, m.GetPolyData().GetPoints(), m.GetAttribute(edits.NAMES)) for m in models]
        if stamp != self._shown:
            self.forget()
            self._shown = stamp
            self._show_models(models)
        if self.models:
            self._show_legend(colouring)

    def forget(self) -> None:
        """The scene is being closed."""
        clear_highlight()
        table = self.ui.branchTable
        table.blockSignals(True)
        table.setRowCount(0)
        table.blockSignals(False)
        self._shown, self._rows, self.models, self.advice = None, [], [], ""
        self.ui.resultArea.setVisible(False)
        self.ui.branchToolsSection.setVisible(False)

    def _show_models(self, models: list[Any]) -> None:
        if not models:
            return
        try:
            skeletons = [lines.stored_skeleton(model) for model in models]
        except InputError:  # one was given other lines
            return
        self.models = list(models)
        self._rows = [
            (model, number, curve)
            for model, skeleton in zip(models, skeletons)
            for number, curve in enumerate(skeleton.branches)
        ]
        self.ui.resultArea.setVisible(True)
        self.ui.branchToolsSection.setVisible(bool(self._rows))
        table = self._table()
        parts = sum(len({each.component for each in found.branches}) for found in skeletons)
        loops = parts + sum(len(found.branches) - len(found.nodes) for found in skeletons)
        self.advice = next_step(table, parts, loops)
        self.ui.summaryLabel.text = summary(table, parts, loops)
        self._fill_table(table)
        self._plot([])
        notes = [
            "\N{BULLET} " + (f"{tree_name(model)}: {text}" if len(models) > 1 else text)
            for model in models
            for text in json.loads(model.GetAttribute(NOTES) or "[]")
        ]
        self.ui.notesText.plainText = "\n".join(notes)

    def _table(self) -> dict[str, list]:
        return lines.joint_table((tree_name(m), lines.stored_table(m)) for m in self.models)

    def _show_legend(self, kind: str) -> None:
        """Say what the colours of the centrelines mean, beside a strip of them."""
        low, high = lines.radius_range(self.models[0].GetPolyData())
        radii = _("Radius {low:.1f}-{high:.1f} mm").format(low=low, high=high)
        legends: dict[str, tuple[str, list]] = {
            "tree": (_("A colour for each tree"), []),
            "branch": (_("A colour for each branch"), []),
            "radius": (radii, [lines.radius_color(step / 5) for step in range(6)]),
            "generation": (_("Generation 0-7"), [lines.generation_color(n) for n in range(8)]),
        }
        title, colors = legends[kind]
        names = (qt.QColor.fromRgbF(*color).name() for color in colors)
        strip = "".join(f'<font color="{name}">\N{FULL BLOCK}</font>' for name in names)
        self.ui.legendTitle.text = f"{title} {strip}"

    def _on_chosen(self) -> None:
        """Show the branches that were clicked; of several trees, those of the first."""
        rows = self._chosen_rows()
        if rows:
            model = rows[0][0]
            highlight(model, [(curve.points, curve.radius) for m, _n, curve in rows if m is model])
        else:
            clear_highlight()
        self._plot(rows)
        self._panel.tools.show()

    def _plot(self, rows: list[tuple[Any, int, Any]]) -> None:
        """Show the radius along a branch, after cross-sections its diameters; or a hint."""
        if len(rows) != 1:
            self.plot.show_curves((), (), _("Click a branch to see its radius."), "")
            return
        model, number, curve = rows[0]
        x_title = _("Distance along branch {number} (mm)").format(number=number)
        y_title, x, y = _("Radius (mm)"), Course(curve.points, curve.radius).lengths, curve.radius
        with contextlib.suppress(InputError):  # the vessels are gone
            if Tree(model).hasSections:
                found = Tree(model).sectionsAlong(number)
                x, y_title = found.length, _("Diameter (mm), largest and smallest in grey")
                y = found.equivalent_diameter, found.largest_diameter, found.smallest_diameter
        self.plot.show_curves(x, y, x_title, y_title)

    # --- the table: a row a branch, from the trees' roots on; a click on a column's title sorts

    def _fill_table(self, columns: dict[str, Any]) -> None:
        """Show other branches, columns of `joint_table`, none of them chosen."""
        table = self.ui.branchTable
        table.blockSignals(True)
        if "tree" in columns and table.isColumnHidden(TREE_COLUMN):
            table.sortByColumn(TREE_COLUMN, qt.Qt.AscendingOrder)
        table.setColumnHidden(NAME_COLUMN, "name" not in columns)
        table.setColumnHidden(TREE_COLUMN, "tree" not in columns)
        table.setColumnHidden(GENERATION_COLUMN, {"name", "tree"} <= set(columns))  # no room
        table.sortingEnabled = False  # rows would move while they are filled
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
        table.scrollToTop()
        table.blockSignals(False)

    def _number(self, row: int) -> int:
        """The position in `joint_table` of what a row shows."""
        return int(self.ui.branchTable.item(row, NUMBER).data(qt.Qt.UserRole))

    def _chosen_rows(self) -> list[tuple[Any, int, Any]]:
        rows = {item.row() for item in self.ui.branchTable.selectedItems()}
        return [self._rows[number] for number in sorted(map(self._number, rows))]

    # --- files

    def save_csv(self) -> None:
        """Ask for a file and save the table there."""
        title = _("Save the table of branches")
        files = {"": lambda path: table_text(self._table(), path)}
        self.save(title, "csv", files)

    def save_swc(self) -> None:
        """Ask for a file and save the tree there; of several, each has its name behind that."""
        several = len(self.models) > 1
        files = {
            f"-{file_name(tree_name(model))}" if several else "": Tree(model).save
            for model in self.models
        }
        self.save(_("Save the tree"), "swc", files)

    def save(self, title: str, suffix: str, files: Mapping[str, Callable], name: str = "") -> None:
        """Write files; each has its own text behind the name that the user chooses."""
        name = name or (self.models[0].GetName() if len(self.models) == 1 else _("Centrelines"))
        file, kind = f"{file_name(name)}.{suffix}", f"{suffix.upper()} (*.{suffix})"
        chosen = qt.QFileDialog.getSaveFileName(self.ui.csvButton, title, file, kind)
        if not chosen:
            return
        stem = chosen[: -len(suffix) - 1] if chosen.lower().endswith(f".{suffix}") else chosen
        paths = {f"{stem}{own}.{suffix}": write for own, write in files.items()}
        # The dialog has asked for the name that was typed, and for no other.
        existing = [path for path in paths if path != chosen and os.path.exists(path)]
        if existing:
            text = _("{path} is there already. Replace it?").format(path=", ".join(existing))
            if not slicer.util.confirmYesNoDisplay(text, windowTitle=self._panel.title()):
                return
        with slicer.util.tryWithErrorDisplay(_("The file was not saved.")):
            for path, write in paths.items():
                write(path)
            self._panel.say(_("Saved {path}").format(path=", ".join(paths)))


def _item(value: float | str) -> Any:
    if isinstance(value, str):
        item = qt.QTableWidgetItem(value)
        item.setToolTip(value)
        return item
    text = f"{value:{DIGITS}.2f}" if isinstance(value, float) else f"{value:{DIGITS}}"
    item = qt.QTableWidgetItem(text)
    item.setData(qt.Qt.TextAlignmentRole, int(qt.Qt.AlignRight | qt.Qt.AlignVCenter))
    return item


# ---- chosen branches and measured lines in all views: cyan tubes in one model, never saved


def highlight(model: Any, curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Draw curves (S, A, R in the model's frame or the world; and radii), and go to the first."""
    node = slicer.mrmlScene.GetSingletonNode(CHOSEN, "vtkMRMLModelNode")
    if node is None:
        node = hidden_node("vtkMRMLModelNode", CHOSEN)
        node.SetSingletonTag(CHOSEN)
        node.SetSelectable(False)
        display = node.GetDisplayNode()
        display.SetColor(CHOSEN_COLOR)
        display.SetSliceIntersectionThickness(CHOSEN_WIDTH)
        display.SetVisibility2D(True)
    points = np.concatenate([line for line, _radius in curves])[:, ::-1]
    data = lines.polylines(points, [len(line) for line, _radius in curves])
    radius = THICKER * np.concatenate([radius for _line, radius in curves])
    data.GetPointData().SetScalars(lines.vtk_array(radius, lines.RADIUS))
    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(model and model.GetTransformNodeID())
        node.SetAndObservePolyData(lines.tubes(data))
    world = [0.0] * 3
    node.TransformPointToWorld(points[len(curves[0][0]) // 2].tolist(), world)
    jump_slices(world)


def clear_highlight() -> None:
    """Remove the drawn curves."""
    remove_node(slicer.mrmlScene.GetSingletonNode(CHOSEN, "vtkMRMLModelNode"))


def hidden_node(class_name: str, name: str) -> Any:
    """A new node, with its display, that is neither listed nor saved."""
    node = getattr(slicer, class_name)()
    node.SetName(name)
    node.SetHideFromEditors(True)
    node.SetSaveWithScene(False)
    slicer.mrmlScene.AddNode(node)
    node.CreateDefaultDisplayNodes()
    node.GetDisplayNode().SetSaveWithScene(False)
    return node


def jump_slices(world: Any) -> None:
    """Centre all slices on a place (R, A, S)."""
    slices = slicer.vtkMRMLSliceNode
    slices.JumpAllSlices(slicer.mrmlScene, *world, slices.CenteredJumpSlice)


# ---- the radius along a branch, painted in the colours of the application
# Slicer's own plots need a view in the layout; beside a table a small widget does.

MARGIN, FOOT = 8, 18  # pixels round the curve, and below it for the numbers
# Of the curves: the first in the colour of the lines, the others thin and fainter.
COLORS, WIDTHS = ((52, 120, 200), (150, 150, 150), (150, 150, 150)), (2.0, 1.2, 1.2)


class CurvePlot(qt.QWidget):
    """Curves from 0 up in a QFrame, with their greatest value and both titles."""

    def __init__(self, frame: Any) -> None:
        qt.QWidget.__init__(self, frame)
        frame.layout().addWidget(self)
        self.show_curves((), (), "", "")

    def show_curves(self, x: Any, y: Any, x_title: str, y_title: str) -> None:
        """Show rows of y (up to three) over x; without any, the title of x alone.

        Where one is not finite, all are left out.
        """
        x, rows = np.asarray(x, float), np.atleast_2d(np.asarray(y, float))
        finite = np.isfinite(x) & np.isfinite(rows).all(axis=0)
        self.curves, self._titles = (x[finite], rows[:, finite]), (x_title, y_title)
        self.update()

    def paintEvent(self, event: Any) -> None:
        width, height = max(self.width - 2 * MARGIN, 1), max(self.height - FOOT - 4, 1)
        painter, area = qt.QPainter(self), qt.QRectF(MARGIN, 4, width, height)
        painter.setRenderHint(qt.QPainter.Antialiasing)
        painter.fillRect(area, self.palette.color(qt.QPalette.Base))
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        if self.curves[0].size:
            self._paint_curve(painter, area)
        else:
            painter.drawText(area, qt.Qt.AlignCenter | qt.Qt.TextWordWrap, self._titles[0])
        painter.setPen(self.palette.color(qt.QPalette.Mid))
        painter.drawRect(area)
        painter.end()

    def _paint_curve(self, painter: Any, area: Any) -> None:
        x, rows = self.curves
        low, high, top = x.min(), x.max(), max(rows.max(), 1e-6)
        inner, below = area.adjusted(4, 2, -4, -2), area.adjusted(0, area.height() + 1, 0, FOOT - 1)
        highest = f"{self._titles[1]}: 0 - {top:.3g}"
        painter.drawText(inner, qt.Qt.AlignLeft | qt.Qt.AlignTop, highest)
        painter.drawText(below, qt.Qt.AlignLeft, f"{low:.4g}")
        painter.drawText(below, qt.Qt.AlignHCenter, self._titles[0])
        painter.drawText(below, qt.Qt.AlignRight, f"{high:.4g}")
        across = area.left() + (x - low) / max(high - low, 1e-6) * area.width()
        for row, color, width in reversed(list(zip(rows, COLORS, WIDTHS))):
            line = qt.QPen(qt.QColor(*color))
            line.setWidthF(width)
            painter.setPen(line)
            up = area.bottom() - row * 0.82 / top * area.height()
            points = [qt.QPointF(float(a), float(b)) for a, b in zip(across, up)]
            for before, after in pairwise(points):
                painter.drawLine(before, after)


# ---- in words


def next_step(table: dict[str, list], parts: int, loops: int) -> str:
    """What a person does next with a result, a table of `CurveSkeleton.to_table`."""
    count = len(table["branch"])
    if not count:
        return _("No branch was found. Choose vessels that are longer than they are thick.")
    pairs = zip(table["length_mm"], table["mean_radius_mm"])
    stubs = sum(length < 2 * radius for length, radius in pairs)
    if loops >= MIN_LOOPS or (stubs >= MIN_STUBS and stubs > STUB_SHARE * count):
        return _(
            "{count} branches, {stubs} of them shorter than they are thick, and {loops} loops: "
            "the vessels may leak into other tissue. Correct them, then press Apply."
        ).format(count=count, stubs=stubs, loops=loops)
    if loops:
        return _(
            "Loops: branches touch, or the vessels have holes. Raise 'Close holes up to' under "
            "Advanced, then press Apply."
        )
    if parts >= MIN_PARTS:
        return _(
            "{parts} separate parts: raise 'Leave out parts below' under Advanced, or join them in "
            "the Segment Editor, then press Apply."
        ).format(parts=parts)
    return _("Click a branch in the table to see it in the views.")


def summary(table: dict[str, list], parts: int, loops: int) -> str:
    """One line: how many branches of what length, in how many parts, with how many loops."""
    count = counted(len(table["branch"]), _("branch"), _("branches"))
    text = _("{count}, {length:.0f} mm").format(count=count, length=sum(table["length_mm"]))
    if parts > 1:
        text += _(", {parts} separate parts").format(parts=parts)
    return f"{text}, {counted(loops, _('loop'), _('loops')) if loops else _('no loops')}"


def file_name(text: str) -> str:
    """A name that every file system takes."""
    return re.sub(r'[<>:"/\\|?*\x00-\x1f]', "-", text).strip(". ")
