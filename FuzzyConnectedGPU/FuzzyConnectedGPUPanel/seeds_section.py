"""Section Points: the lists of points, their table, and what is done with them."""

from typing import Any

import qt
import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUMRML import views
from FuzzyConnectedGPUMRML.seeds import OddPoint, odd_point
from FuzzyConnectedGPUMRML.vessels import color_of, give_point, vessels_of
from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, VESSEL_COLOR

from . import region_section
from .placing import Placing, PointDrag, list_of

ROW, NARROWEST = 22, 56  # pixels of a row and of a column
COLUMNS = (_("Point"), _("Value"), _("Around it"))
FAINT_COLOR = (0.55, 0.55, 0.55)  # of a point without contrast to its surroundings

Color = tuple[float, float, float]


class SeedsSection:
    """Placing, listing, deleting and giving away; `finding` while points are found by a run."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui, self.finding = panel, panel.ui, False
        self._observers = VTKObservationMixin()
        self._observed: list[Any] = []
        self.drag = PointDrag(lambda: panel.display.surface.pause(), panel.update_soon)
        self.placing = Placing(panel)
        self.table = SeedsTable(panel)
        self.menu = qt.QMenu(self.ui.seedsTable)
        self.menu.connect("aboutToShow()", self.fill_menu)
        self.ui.giveSeedButton.setMenu(self.menu)
        table = self.ui.seedsTable
        table.contextMenuPolicy = qt.Qt.CustomContextMenu
        table.connect("customContextMenuRequested(QPoint)", self._on_right_click)
        table.connect("itemSelectionChanged()", self._enable)
        self.ui.findSeedsButton.connect("clicked()", self.find)
        self.ui.deleteSeedButton.connect("clicked()", self.delete)

    @property
    def dragging(self) -> bool:
        """Whether the user is moving a point just now."""
        return self.drag.dragging

    # --- what the user does

    def find(self) -> None:
        """Find points automatically and add them to the vessels' list."""
        if self._panel.running.busy or self._panel.parameters is None:
            return
        self.placing.stop()
        self.finding = True
        try:
            self._panel.start(self._find)
        finally:
            self.finding = False
            self._panel.update_soon()

    def _find(self, parameters: Any, progress: Any) -> str:
        """One run that finds points; returns what there is to say of it."""
        made = parameters.seeds is None
        node = list_of(parameters, "seeds")  # shown while it is empty, so that undo leads back
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
        text = _("Found {count} points: look at each, and delete what is no vessel.")
        return text.format(count=count)

    def delete(self) -> None:
        """Delete the point of the row that is selected."""
        row = self.table.selected()
        if row is not None:
            node, seed = self.table.rows[row]
            node.RemoveNthControlPoint(seed.index)

    def give(self, other: Any) -> None:
        """Give the point of the row that is selected to another list."""
        row = self.table.selected()
        if row is not None and other is not self.table.rows[row][0]:
            node, seed = self.table.rows[row]
            give_point(node, seed.index, other)
            self._panel.update_soon()

    def give_to_background(self) -> None:
        """The point of the row that is selected is no vessel."""
        self.give(list_of(self._panel.parameters, "backgroundSeeds"))

    def _on_right_click(self, place: Any) -> None:
        if self.table.selected() is not None:
            self.menu.popup(self.ui.seedsTable.viewport().mapToGlobal(place))

    def fill_menu(self) -> None:
        """Offer the lists of now."""
        parameters, row = self._panel.parameters, self.table.selected()
        own = self.table.rows[row][0] if row is not None else None
        offers: list[tuple[str, Any, Any]] = [
            (_("Give to {vessel}").format(vessel=node.GetName()), node, lambda n=node: self.give(n))
            for node in vessels_of(parameters)
            if node is not own
        ]
        if own is None or own is not parameters.backgroundSeeds:
            node = parameters.backgroundSeeds
            offers.append((_("It is no vessel"), node, self.give_to_background))
        self.menu.clear()
        for text, node, act in offers:
            action = self.menu.addAction(text)
            action.setIcon(qt.QIcon(dot(list_color(parameters, node))))
            action.connect("triggered()", act)

    def show_odd_point(self) -> None:
        """Show the point that the advice speaks of."""
        found = self.odd_point() or next(iter(self.faint()), None)
        if found is not None:
            self.table.select(found.row if isinstance(found, OddPoint) else found)

    # --- what runs find

    def mark_faint(self, lists: list[Any], labels: tuple[str, ...]) -> None:
        """Mark the points without contrast in the views; the mark is saved with the scene."""
        for node in lists:
            if node.GetDisplayNode() is not None:
                node.GetDisplayNode().SetColor(FAINT_COLOR)
            for index in range(node.GetNumberOfControlPoints()):
                good = node.GetNthControlPointLabel(index) not in labels
                if node.GetNthControlPointSelected(index) != good:
                    node.SetNthControlPointSelected(index, good)

    def faint(self) -> list[Any]:
        """The rows of vessel points without contrast to their surroundings."""
        background = self._panel.parameters.backgroundSeeds
        rows = [(node, row) for node, row in self.table.rows if node is not background]
        return [row for node, row in rows if not node.GetNthControlPointSelected(row.index)]

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Observe the lists that are chosen."""
        lists = [*vessels_of(parameters), *filter(None, [parameters.backgroundSeeds])]
        if lists == self._observed:
            return
        self._observers.removeObservers()
        self._observed = lists
        self.drag.forget()
        events = slicer.vtkMRMLMarkupsNode
        for node in lists:
            for event, method in (
                (events.PointModifiedEvent, self._on_points),
                (events.PointRemovedEvent, self._on_removed),
                (events.PointPositionDefinedEvent, self._on_placed),
                (events.PointStartInteractionEvent, self._on_press),
                (events.PointEndInteractionEvent, self._on_release),
            ):
                self._observers.addObserver(node, event, method)

    def _on_points(self, caller: Any, event: Any) -> None:
        self.drag.change()
        self._panel.update_soon()

    def _on_removed(self, caller: Any, event: Any) -> None:
        self.drag.interrupt()
        self._panel.update_soon()

    def _on_placed(self, caller: Any, event: Any) -> None:
        self.drag.interrupt()
        if self.placing.active and self._panel.input.shows_another(views.volume_at_mouse()):
            # Later, as the place widget is still at work with this list.
            index = caller.GetNumberOfDefinedControlPoints() - 1
            position = list(caller.GetNthControlPointPositionWorld(index))
            qt.QTimer.singleShot(0, lambda: self._move_to_shown(caller, index, position))
        else:
            self._panel.vessels.point_was_placed(caller)
        self._panel.update_soon()

    def _move_to_shown(self, node: Any, index: int, position: list[float]) -> None:
        """A point belongs to the volume of the slice where it was placed; so does what follows."""
        panel, name = self._panel, self.placing.active
        volume = views.volume_at_mouse()
        if panel.parameters is None or not name or not panel.input.shows_another(volume):
            return
        node.RemoveNthControlPoint(index)
        panel.input.add_to(volume, name, position)
        self.placing.place(name, True)

    def _on_press(self, caller: Any, event: Any) -> None:
        self.drag.press()

    def _on_release(self, caller: Any, event: Any) -> None:
        self.drag.let_go()

    # --- what is shown

    def show(self, parameters: Any) -> None:
        self.placing.show(parameters)
        self.table.show(parameters)
        vessels, others = placed(parameters.seeds), placed(parameters.backgroundSeeds)
        color, several = list_color(parameters, parameters.seeds), len(vessels_of(parameters)) > 1
        self.ui.seedsCountLabel.text = count_text(vessels, color, several)
        text = count_text(others, BACKGROUND_COLOR) if others else _("none (optional)")
        self.ui.backgroundCountLabel.text = text
        why = self._panel.running.why_busy() or region_section.why_not(parameters)
        if not self._panel.has_voxels(parameters.inputVolume):
            why = _("Choose a volume first.")
        self._panel.enable(self.ui.findSeedsButton, why)
        self._enable()

    def odd_point(self) -> OddPoint | None:
        """The vessel point that disagrees most with the others."""
        return odd_point(self.table.of(self._panel.parameters.seeds))

    def intensities(self) -> list[float]:
        """Of the vessel points in the table."""
        rows = self.table.of(self._panel.parameters.seeds)
        return [row.intensity for row in rows if row.intensity is not None]

    def _enable(self) -> None:
        why = _("Select a point in the table first.") if self.table.selected() is None else ""
        self._panel.enable(self.ui.deleteSeedButton, why)
        self._panel.enable(self.ui.giveSeedButton, why)

    def forget(self) -> None:
        """The lists are gone."""
        self._observers.removeObservers()
        self._observed = []
        self.drag.forget()
        self.table.forget()


class SeedsTable:
    """Shows the points of all lists; `rows` are pairs of list and `SeedRow`."""

    def __init__(self, panel: Any) -> None:
        self._panel, self._table = panel, panel.ui.seedsTable
        self.rows: list[tuple[Any, Any]] = []
        self._looks: list[Any] = []
        prepare_table(self._table, COLUMNS, ROW, NARROWEST)
        self._table.horizontalHeader().setSectionResizeMode(0, qt.QHeaderView.Stretch)
        self._table.connect("cellClicked(int,int)", self.jump)

    def jump(self, row: int, column: int = 0) -> None:
        """Move all slices to the point of a row."""
        node, seed = self.rows[row]
        views.jump_to(node.GetNthControlPointPositionWorld(seed.index))

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
        volume, rows = parameters.inputVolume, []
        if self._panel.has_voxels(volume):
            for node in (*vessels_of(parameters), parameters.backgroundSeeds):
                if node is not None:
                    found = self._panel.logic.seedRows(volume, node, parameters.radius)
                    rows += [(node, seed) for seed in found]
        looks = [
            (list_color(parameters, node), bool(node.GetNthControlPointSelected(seed.index)))
            for node, seed in rows
        ]
        if (rows, looks) == (self.rows, self._looks):
            return
        selected, self.rows, self._looks = self.selected(), rows, looks
        self._table.setRowCount(len(rows))
        for number, (_node, seed) in enumerate(rows):
            self._fill_row(number, seed, *looks[number])
        if selected is not None and selected < len(rows):
            self._table.selectRow(selected)

    def _fill_row(self, number: int, seed: Any, color: Color, good: bool) -> None:
        texts = [seed.label, _("outside"), ""]
        if seed.intensity is not None:
            texts[1:] = [f"{seed.intensity:.5g}", f"{seed.mean:.4g} \u00b1 {seed.deviation:.3g}"]
            if not good:
                texts[2] = _("no contrast")
        voxel = ", ".join(map(str, seed.ijk))
        for column, text in enumerate(texts):
            item = qt.QTableWidgetItem(text)
            item.setToolTip(_("{point}, voxel {ijk}").format(point=seed.label, ijk=voxel))
            if column == 0:
                item.setIcon(qt.QIcon(dot(color if good else FAINT_COLOR)))
            else:
                item.setTextAlignment(qt.Qt.AlignRight | qt.Qt.AlignVCenter)
            self._table.setItem(number, column, item)

    def forget(self) -> None:
        """The lists are gone."""
        self.rows = []
        self._table.setRowCount(0)


def prepare_table(table: Any, columns: tuple[str, ...], row: int, narrowest: int) -> None:
    """Give a table its columns, each as wide as its texts."""
    table.setColumnCount(len(columns))
    table.setHorizontalHeaderLabels(list(columns))
    table.verticalHeader().hide()
    table.verticalHeader().defaultSectionSize = row
    header = table.horizontalHeader()
    header.minimumSectionSize = narrowest
    header.setSectionResizeMode(qt.QHeaderView.ResizeToContents)
    header.highlightSections = False


def placed(node: Any) -> int:
    """How many points of a list have their place; 0 without a list."""
    return node.GetNumberOfDefinedControlPoints() if node is not None else 0


def list_color(parameters: Any, node: Any) -> Color:
    """The colour of the mark of a list of points."""
    if node is not None and node is parameters.backgroundSeeds:
        return BACKGROUND_COLOR
    several = len(vessels_of(parameters)) > 1
    return color_of(node) if node is not None and several else VESSEL_COLOR


def count_text(count: int, color: Color, mark_none: bool = False) -> str:
    """How many points there are, with a mark in their colour, as rich text."""
    text = _("none yet")
    if count:
        text = _("1 point") if count == 1 else _("{count} points").format(count=count)
    elif not mark_none:
        return text
    mark = "".join(f"{round(255 * part):02x}" for part in color)
    return f"<span style='color:#{mark}'>\u25cf</span> {text}"


def dot(color: Color) -> Any:
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
