"""Section Points: two lists of points, how many they hold, and what is done with them."""

from typing import Any

import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUMRML.odd_points import OddPoint, odd_point
from FuzzyConnectedGPUMRML.point_colors import BACKGROUND_COLOR, VESSEL_COLOR
from FuzzyConnectedGPUMRML.point_history import PointHistory

from ..advanced import region_section
from .placing import Placing, new_list
from .seeds_table import SeedsTable


class SeedsSection:
    """Placing, listing, deleting and undoing.

    Attributes
    ----------
    dragging : bool
        Whether the user is moving a point just now.
    finding : bool
        Whether points are being found automatically.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._observers = VTKObservationMixin()
        self._observed: list[Any] = []
        self._histories: dict[str, PointHistory] = {}
        self._steps: list[str] = []
        self.dragging = self.finding = False
        self.placing = Placing(panel, self.undo)
        self.table = SeedsTable(panel)
        self.ui.seedsTable.connect("itemSelectionChanged()", self._enable)
        self.ui.findSeedsButton.connect("clicked()", self.find)
        self.ui.deleteSeedButton.connect("clicked()", self.delete)
        self.ui.undoSeedButton.connect("clicked()", self.undo)

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

    def delete(self) -> None:
        """Delete the point of the row that is selected."""
        row = self.table.selected()
        if row is not None:
            node, seed = self.table.rows[row]
            node.RemoveNthControlPoint(seed.index)

    def undo(self) -> None:
        """Take back the last change of either list."""
        while self._steps:
            history = self._histories.get(self._steps.pop())
            if history is not None and history.can_undo:
                history.undo()
                break
        self._panel.update_soon()

    def show_odd_point(self) -> None:
        """Show the point that disagrees with the others."""
        found = self.odd_point()
        if found is not None:
            self.table.select(found.row)

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Observe the lists that are chosen, and remember their states for undo."""
        lists = [node for node in (parameters.seeds, parameters.backgroundSeeds) if node]
        self._observe(lists)
        self._record(lists)

    def _observe(self, lists: list[Any]) -> None:
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

    def _on_points(self, caller: Any, event: Any) -> None:
        self._panel.update_soon()

    def _on_drag(self, caller: Any, event: Any) -> None:
        self.dragging = True

    def _on_drop(self, caller: Any, event: Any) -> None:
        self.dragging = False
        self._panel.update_soon()

    def _record(self, lists: list[Any]) -> None:
        """Remember the lists for undo; while a point is dragged, its way is no step."""
        if self.dragging:
            return
        for node in lists:
            if node.GetID() not in self._histories:
                self._histories[node.GetID()] = PointHistory(node)
            elif self._histories[node.GetID()].record():
                self._steps.append(node.GetID())

    # --- what is shown

    def show(self, parameters: Any) -> None:
        self.placing.show(parameters)
        self.table.show(parameters)
        vessels, others = placed(parameters.seeds), placed(parameters.backgroundSeeds)
        self.ui.seedsCountLabel.text = count_text(vessels, VESSEL_COLOR)
        text = count_text(others, BACKGROUND_COLOR) if others else _("none (optional)")
        self.ui.backgroundCountLabel.text = text
        self._panel.enable(self.ui.findSeedsButton, self._why_not_find(parameters))
        self._enable()

    def odd_point(self) -> OddPoint | None:
        """The vessel point that disagrees most with the others."""
        return odd_point(self.table.of(self._panel.parameters.seeds))

    def intensities(self) -> list[float]:
        """Of the vessel points in the table."""
        rows = self.table.of(self._panel.parameters.seeds)
        return [row.intensity for row in rows if row.intensity is not None]

    def _why_not_find(self, parameters: Any) -> str:
        if not self._panel.has_voxels(parameters.inputVolume):
            return _("Choose a volume first.")
        if self._panel.running.busy:
            return _("A run is going on.")
        return region_section.why_not(parameters)

    def _enable(self) -> None:
        chosen = self.table.selected() is not None
        why = "" if chosen else _("Select a point in the table first.")
        self._panel.enable(self.ui.deleteSeedButton, why)
        can = any(
            each in self._histories and self._histories[each].can_undo for each in self._steps
        )
        self._panel.enable(self.ui.undoSeedButton, "" if can else _("Nothing to take back."))

    def forget(self) -> None:
        """The lists are gone."""
        self._observers.removeObservers()
        self._observed, self._histories, self._steps = [], {}, []
        self.dragging = False
        self.table.forget()


def placed(node: Any) -> int:
    """How many points of a list have their place; 0 without a list."""
    return node.GetNumberOfDefinedControlPoints() if node is not None else 0


def count_text(count: int, color: tuple[float, float, float]) -> str:
    """How many points there are, with a mark in their colour, as rich text."""
    if not count:
        return _("none yet")
    text = _("1 point") if count == 1 else _("{count} points").format(count=count)
    mark = "".join(f"{round(255 * part):02x}" for part in color)
    return f"<span style='color:#{mark}'>\u25cf</span> {text}"
