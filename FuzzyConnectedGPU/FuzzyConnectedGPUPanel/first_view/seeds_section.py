"""Section Points: the lists of points, how many they hold, and what is done with them."""

from typing import Any

import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUMRML.seed_rows import OddPoint, odd_point
from FuzzyConnectedGPUMRML.vessels import give_point, vessels_of
from FuzzyVesselCoreLib.mrml.new_points import BACKGROUND_COLOR

from ..advanced import region_section
from ..point_drag import PointDrag
from .click_undo import REDO_KEYS, UNDO_KEYS
from .give_menu import GiveMenu
from .placing import Placing, new_list
from .seeds_table import SeedsTable
from .vessel_colors import list_color, several

HAND_OVER_KEY = "H"


class SeedsSection:
    """Placing, listing, deleting and giving away.

    Attributes
    ----------
    drag : PointDrag
    finding : bool
        Whether points are being found automatically.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._observers = VTKObservationMixin()
        self._observed: list[Any] = []
        self.finding = False
        self.drag = PointDrag(
            lambda: panel.display.surface.pause(), panel.update_soon, panel.update_soon
        )
        self.placing = Placing(
            panel,
            {
                HAND_OVER_KEY: lambda: panel.vessels.hand_over_at_mouse(),
                **dict.fromkeys(UNDO_KEYS, lambda: panel.undoing.undo()),
                **dict.fromkeys(REDO_KEYS, lambda: panel.undoing.redo()),
            },
        )
        self.table = SeedsTable(panel)
        self.menu = GiveMenu(panel)
        self.ui.seedsTable.connect("itemSelectionChanged()", self._enable)
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

    def give(self, other: Any) -> None:
        """Give the point of the row that is selected to another list."""
        row = self.table.selected()
        if row is None or other is self.table.rows[row][0]:
            return
        node, seed = self.table.rows[row]
        give_point(node, seed.index, other)
        self._panel.update_soon()

    def give_to_background(self) -> None:
        """The point of the row that is selected is no vessel."""
        parameters = self._panel.parameters
        if parameters.backgroundSeeds is None:
            parameters.backgroundSeeds = new_list("backgroundSeeds")
        self.give(parameters.backgroundSeeds)

    def show_odd_point(self) -> None:
        """Show the point that disagrees with the others."""
        found = self.odd_point()
        if found is not None:
            self.table.select(found.row)

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Observe the lists that are chosen."""
        self._observe([*vessels_of(parameters), *filter(None, [parameters.backgroundSeeds])])

    def _observe(self, lists: list[Any]) -> None:
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
        self._panel.vessels.point_was_placed(caller)
        self._panel.update_soon()

    def _on_press(self, caller: Any, event: Any) -> None:
        self.drag.press()

    def _on_release(self, caller: Any, event: Any) -> None:
        self.drag.let_go()

    # --- what is shown

    def show(self, parameters: Any) -> None:
        self.placing.show(parameters)
        self.table.show(parameters)
        vessels, others = placed(parameters.seeds), placed(parameters.backgroundSeeds)
        color = list_color(parameters, parameters.seeds)
        text = count_text(vessels, color, several(parameters))
        self.ui.seedsCountLabel.text = text
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
        self._panel.enable(self.ui.giveSeedButton, why)

    def forget(self) -> None:
        """The lists are gone."""
        self._observers.removeObservers()
        self._observed = []
        self.drag.forget()
        self.table.forget()


def placed(node: Any) -> int:
    """How many points of a list have their place; 0 without a list."""
    return node.GetNumberOfDefinedControlPoints() if node is not None else 0


def count_text(count: int, color: tuple[float, float, float], mark_none: bool = False) -> str:
    """How many points there are, with a mark in their colour, as rich text."""
    if not count and not mark_none:
        return _("none yet")
    text = _("none yet")
    if count:
        text = _("1 point") if count == 1 else _("{count} points").format(count=count)
    mark = "".join(f"{round(255 * part):02x}" for part in color)
    return f"<span style='color:#{mark}'>\u25cf</span> {text}"
