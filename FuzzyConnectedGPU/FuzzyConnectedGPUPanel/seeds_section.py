"""Section Points: placed by mouse and keys, their table, and every click taken back."""

from collections.abc import Callable
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUMRML import fuzzy_scene, vessel_lists, views
from FuzzyConnectedGPUMRML.vessel_lists import ClickHistory, SeedRow, color_of, list_of, vessels_of
from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, VESSEL_COLOR, paint
from FuzzyVesselCoreLib.mrml.provenance import volume_fingerprint
from FuzzyVesselCoreLib.mrml.segments import result_segment
from FuzzyVesselCoreLib.mrml.writing import refer

from .input_section import Cell, Table, icon
from .result_section import users_threshold

# Keys that slice and 3D views, markups and main window do not use; the Segment Editor takes
# Z while it is open.
VESSEL_KEY, BACKGROUND_KEY, HAND_OVER_KEY = "A", "N", "H"
UNDO_KEYS, REDO_KEYS = ("Ctrl+Z", "Z"), ("Ctrl+Y", "Ctrl+Shift+Z", "Y")
NO_CONTRAST_COLOR = (0.55, 0.55, 0.55)  # of a point without contrast to its surroundings


class SeedsSection:
    """Points of all lists; `rows` are pairs of list and `SeedRow`."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.finding = False  # while a run finds points
        self._observers = VTKObservationMixin()
        self.placing = Placing(panel)
        self._table = Table(self.ui.seedsTable)
        self.menu = qt.QMenu(self.ui.seedsTable)
        self.menu.connect("aboutToShow()", self.fill_menu)
        self.ui.giveSeedButton.setMenu(self.menu)
        self.ui.seedsTable.connect("cellClicked(int,int)", lambda row, _column: self._jump(row))
        self.ui.seedsTable.connect("itemSelectionChanged()", panel.update_soon)
        self.ui.findSeedsButton.connect("clicked()", self.find)
        self.ui.deleteSeedButton.connect("clicked()", self.delete)
        self.ui.adviceLabel.connect("linkActivated(QString)", lambda _link: self.show_odd_point())
        self.forget()

    def forget(self) -> None:
        self._observers.removeObservers()
        self._observed: list[Any] = []
        self._held = self._moved = False
        self.rows: list[tuple[Any, SeedRow]] = []
        self._table.show([])

    @property
    def dragging(self) -> bool:
        """Whether the user is moving a point just now.

        Slicer's key S (snap to slice) moves points without a button, and tells no end.
        """
        return self._moved and bool(slicer.app.mouseButtons())

    # --- what the user does

    def find(self) -> None:
        """Find points automatically and add them to the vessels' list."""
        self.placing.stop()
        self.finding = True
        self._panel.start(self._find)  # errors are shown, not raised
        self.finding = False
        self._panel.update_soon()

    def _find(self, parameters: Any, progress: Any) -> str:
        """One run that finds points; returns the message to show."""
        made = parameters.seeds is None
        node = list_of(parameters, "seeds")  # shown while it is empty, so that undo leads back
        before = node.GetNumberOfControlPoints()
        region = self._panel.region.nodes(parameters)
        options = dict(**region, device=parameters.device, progress=progress)
        try:
            self._panel.logic.findSeeds(parameters.inputVolume, seedsNode=node, **options)
        except BaseException:
            if made and not node.GetNumberOfControlPoints():
                slicer.mrmlScene.RemoveNode(node)
            raise
        count = node.GetNumberOfControlPoints() - before
        if not count:
            return _("All points that were found are in the list already.")
        text = _("Found {count} points: check each, and delete those outside vessels.")
        return text.format(count=count)

    def _selected(self) -> tuple[Any, Any]:
        """List and `SeedRow` of the row that is selected; None twice without one."""
        row = self.ui.seedsTable.currentRow()
        return self.rows[row] if 0 <= row < len(self.rows) else (None, None)

    def delete(self) -> None:
        """Delete the point of the row that is selected."""
        node, seed = self._selected()
        node.RemoveNthControlPoint(seed.index)

    def give(self, other: Any) -> None:
        """Give the point of the row that is selected to another list; None: it is no vessel."""
        node, seed = self._selected()
        other = other or list_of(self._panel.parameters, "backgroundSeeds")
        vessel_lists.give_point(node, seed.index, other)
        self._panel.update_soon()

    def fill_menu(self) -> None:
        """Offer the lists that the selected point may be given to."""
        parameters, (own, _seed) = self._panel.parameters, self._selected()
        texts = {node: _("Give to {vessel}") for node in vessels_of(parameters)}
        texts[parameters.backgroundSeeds] = _("It is no vessel")
        self.menu.clear()
        for node, text in texts.items():
            if node is not own:
                action = self.menu.addAction(text.format(vessel=node and node.GetName()))
                action.setIcon(icon(color_of(node) if node is not None else BACKGROUND_COLOR))
                action.connect("triggered()", lambda node=node: self.give(node))

    def show_odd_point(self) -> None:
        """Select and show the point that the advice speaks of."""
        seed = self._odd_point()[0] or next(iter(self.without_contrast()), None)
        for number, (_node, each) in enumerate(self.rows):
            if each is seed:
                self.ui.seedsTable.selectRow(number)
                self._jump(number)

    def _jump(self, row: int) -> None:
        node, seed = self.rows[row]
        place, slices = node.GetNthControlPointPositionWorld(seed.index), slicer.vtkMRMLSliceNode
        slices.JumpAllSlices(slicer.mrmlScene, *place, slices.CenteredJumpSlice)

    # --- what runs find

    def mark_without_contrast(self, lists: list[Any], points: list[tuple[Any, int]]) -> None:
        """Mark these points (list, index) in the views, and in saved scenes, and no others."""
        for node in lists:
            if node.GetDisplayNode() is not None:
                node.GetDisplayNode().SetColor(NO_CONTRAST_COLOR)
            for index in range(node.GetNumberOfControlPoints()):
                good = (node, index) not in points
                if node.GetNthControlPointSelected(index) != good:
                    node.SetNthControlPointSelected(index, good)

    def without_contrast(self) -> list[SeedRow]:
        """The rows of vessel points without contrast to their surroundings."""
        background = self._panel.parameters.backgroundSeeds
        return [
            row
            for node, row in self.rows
            if node is not background and not node.GetNthControlPointSelected(row.index)
        ]

    def _odd_point(self) -> tuple[SeedRow | None, float | None]:
        seeds = self._panel.parameters.seeds
        return vessel_lists.odd_point([row for node, row in self.rows if node is seeds])

    def advice(self, there: bool) -> str:
        """A sentence about a point that disagrees with the others, or has no contrast.

        `there` says whether there is a result, which finds that.
        """
        (odd, others), grey = self._odd_point(), self.without_contrast()
        if odd is not None and others is None:
            text = _("The point {point} is outside the volume: move or delete it.")
            return text.format(point=_link(odd))
        if odd is not None:
            return _(
                "The point {point} ({value:.4g}) is unlike the other vessel points "
                "({others:.4g}): check that it is in a vessel."
            ).format(point=_link(odd), value=odd.intensity, others=others)
        text = _(
            "{points}: no contrast to the surroundings, so next to nothing was added there. Move "
            "it into the middle of a vessel, or delete it."
        )
        return text.format(points=", ".join(map(_link, grey))) if grey and there else ""

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Observe the lists that are chosen."""
        lists = [*vessels_of(parameters), *filter(None, [parameters.backgroundSeeds])]
        if lists == self._observed:
            return
        self._observers.removeObservers()
        self._observed = lists
        self._held = self._moved = False
        events = slicer.vtkMRMLMarkupsNode
        for node in lists:
            for event, method in (
                (events.PointModifiedEvent, self._on_moved),
                (events.PointPositionDefinedEvent, self._on_placed),
                (events.PointStartInteractionEvent, self._on_held),
                (events.PointEndInteractionEvent, self._on_let_go),
                (events.PointRemovedEvent, self._on_let_go),
            ):
                self._observers.addObserver(node, event, method)

    def _on_held(self, caller: Any, event: Any) -> None:
        self._held = True

    def _on_moved(self, caller: Any, event: Any) -> None:
        self._moved = self._held
        self._panel.update_soon()

    def _on_let_go(self, caller: Any, event: Any) -> None:
        self._held = self._moved = False
        self._panel.update_soon()

    def _on_placed(self, caller: Any, event: Any) -> None:
        """A point belongs to the volume of the slice where it was placed; so does what follows."""
        self._on_let_go(caller, event)
        volume, name = views.volume_at_mouse(), self.placing.active
        if name and self._panel.input.shows_another(volume):
            index = caller.GetNumberOfDefinedControlPoints() - 1
            # Later, as the place widget is still at work with this list.
            qt.QTimer.singleShot(0, lambda: self._move_to(volume, name, caller, index))
        else:
            self._panel.vessels.point_was_placed(caller)

    def _move_to(self, volume: Any, name: str, node: Any, index: int) -> None:
        position = list(node.GetNthControlPointPositionWorld(index))
        node.RemoveNthControlPoint(index)
        self._panel.input.add_to(volume, name, position)
        self.placing.place(name, True)

    # --- what is shown

    def show(self, parameters: Any) -> None:
        self.placing.show(parameters)
        volume, self.rows = parameters.inputVolume, []
        there = self._panel.has_voxels(volume)
        for node in (*vessels_of(parameters), parameters.backgroundSeeds):
            if there and node is not None:
                found = vessel_lists.seed_rows(volume, node, parameters.radius)
                self.rows += [(node, seed) for seed in found]
        self._table.show([_cells(*row) for row in self.rows])
        seeds, background = parameters.seeds, parameters.backgroundSeeds
        color = color_of(background) if background is not None else BACKGROUND_COLOR
        self.ui.seedsCountLabel.text = count_text(seeds, color_of(seeds))
        self.ui.backgroundCountLabel.text = count_text(background, color, _("none (optional)"))
        why = self._panel.running.why_busy() or self._panel.region.problem(parameters)
        self._panel.enable(self.ui.findSeedsButton, why if there else _("Choose a volume first."))
        why = _("Select a point in the table first.") if self._selected()[0] is None else ""
        self._panel.enable(self.ui.deleteSeedButton, why)
        self._panel.enable(self.ui.giveSeedButton, why)


def _link(row: SeedRow) -> str:
    return f'<a href="point"><b>{row.label}</b></a>'


def _cells(node: Any, seed: SeedRow) -> list[Cell]:
    good = bool(node.GetNthControlPointSelected(seed.index))
    value, around = _("outside"), ""
    if seed.intensity is not None:
        value, around = f"{seed.intensity:.5g}", f"{seed.mean:.4g} \u00b1 {seed.deviation:.3g}"
        around = around if good else _("no contrast")
    voxel = ", ".join(map(str, seed.ijk))
    tip = _("{point}, voxel {ijk}").format(point=seed.label, ijk=voxel)
    color = color_of(node) if good else NO_CONTRAST_COLOR
    return [(seed.label, tip, color), (value, tip, None), (around, tip, None)]


def count_text(node: Any, color: vessel_lists.Color, none: str = _("none yet")) -> str:
    """How many points of a list are placed, with a mark in their colour, as rich text."""
    count = node.GetNumberOfDefinedControlPoints() if node is not None else 0
    text = _("1 point") if count == 1 else _("{count} points").format(count=count)
    mark = qt.QColor.fromRgbF(*color).name()
    return f"<span style='color:{mark}'>\u25cf</span> {text if count else none}"


# ---- The buttons *Place*, undo and redo, and their keys


class Placing:
    """One list at a time is placed into with the mouse; keys need no button."""

    def __init__(self, panel: Any) -> None:
        self._panel, ui = panel, panel.ui
        self._shortcuts: list[Any] = []
        self._kinds = {
            "seeds": (ui.placeSeedsButton, ui.seedsPlaceWidget),
            "backgroundSeeds": (ui.placeBackgroundButton, ui.backgroundPlaceWidget),
        }
        for name, (button, place_widget) in self._kinds.items():
            many = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
            place_widget.placeMultipleMarkups = many
            button.connect("clicked(bool)", lambda on, name=name: self.place(name, on))
            place_widget.connect("activeMarkupsPlaceModeChanged(bool)", button.setChecked)
            place_widget.connect("activeMarkupsPlaceModeChanged(bool)", panel.update_soon)
        added = "nodeAddedByUser(vtkMRMLNode*)"
        ui.seedsSelector.connect(added, lambda node: paint(node, VESSEL_COLOR))
        ui.backgroundSelector.connect(added, lambda node: paint(node, BACKGROUND_COLOR))

    @property
    def active(self) -> str:
        """The name of the list that the mouse places into; or an empty text."""
        return next((name for name, each in self._kinds.items() if each[0].checked), "")

    def place(self, name: str, on: bool) -> None:
        """Start or stop placing points with the mouse; a missing list is created."""
        for _button, each in self._kinds.values():
            each.placeModeEnabled = False
        if on:
            _button, place_widget = self._kinds[name]
            place_widget.setCurrentNode(list_of(self._panel.parameters, name))
            place_widget.placeModeEnabled = True

    def add_at_mouse(self, name: str) -> bool:
        """Add a point where the mouse is in a slice; returns whether it is in one."""
        panel, position = self._panel, [0.0, 0.0, 0.0]
        crosshair = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLCrosshairNode")
        if crosshair is None or not crosshair.GetCursorPositionRAS(position):
            panel.say(_("Point at a place in a slice, then press the key."))
            return False
        volume = views.volume_at_mouse()
        if panel.parameters.inputVolume is None and not panel.input.shows_another(volume):
            return False
        panel.input.add_to(volume, name, position)
        return True

    def stop(self) -> None:
        """Clicks in the views are the user's own again."""
        for button, place_widget in self._kinds.values():
            place_widget.placeModeEnabled = button.checked = False

    def add_keys(self) -> None:
        """Listen to the keys; they belong to whichever module is open."""
        undoing = self._panel.undoing
        actions = {
            VESSEL_KEY: lambda: self.add_at_mouse("seeds"),
            BACKGROUND_KEY: lambda: self.add_at_mouse("backgroundSeeds"),
            HAND_OVER_KEY: self._panel.vessels.hand_over_at_mouse,
            **dict.fromkeys(UNDO_KEYS, undoing.undo),
            **dict.fromkeys(REDO_KEYS, undoing.redo),
        }
        self.remove_keys()
        for key, action in actions.items():
            shortcut = qt.QShortcut(qt.QKeySequence(key), self._panel.ui.applyButton.window())
            shortcut.connect("activated()", action)
            self._shortcuts.append(shortcut)

    def remove_keys(self) -> None:
        """Another module is opened, or the panel ends."""
        for shortcut in self._shortcuts:
            shortcut.enabled = False
            shortcut.deleteLater()
        self._shortcuts = []

    def show(self, parameters: Any) -> None:
        """Let the place widgets know which lists they place into."""
        for name, (_button, place_widget) in self._kinds.items():
            place_widget.setCurrentNode(getattr(parameters, name))


class ClickUndo:
    """Points placed, moved, deleted and given away, branches handed over, vessels, thresholds.

    It follows all other sections: one act of a person is one step. Each volume has its history.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.forget()
        self.ui.undoSeedButton.connect("clicked()", self.undo)
        self.ui.redoSeedButton.connect("clicked()", self.redo)

    def forget(self) -> None:
        self._histories: dict[Any, ClickHistory] = {}

    @property
    def history(self) -> ClickHistory:
        """That of the chosen volume."""
        parameters = self._panel.parameters
        volume = parameters.inputVolume if parameters is not None else None
        return self._histories.setdefault(volume and volume.GetID(), ClickHistory())

    def remove_vessel(self, parameters: Any, node: Any) -> None:
        """Remove a vessel, which is a step like any other."""
        self.history.removed(RemovedVessel(parameters, node))

    def undo(self) -> None:
        """Take back the last click."""
        self._go(ClickHistory.undo)

    def redo(self) -> None:
        """Make the click again that was taken back last."""
        self._go(ClickHistory.redo)

    def _go(self, step: Callable[[ClickHistory], Any]) -> None:
        parameters = self._panel.parameters
        self.react(parameters)
        with self._panel.changing():
            threshold = step(self.history)
        if threshold != users_threshold(parameters):
            self._panel.threshold.choose(threshold)
        self._panel.update_soon()

    def react(self, parameters: Any) -> None:
        """Remember what has changed; while a point is dragged, its way is no step."""
        if not self._panel.seeds.dragging:
            lists = [*vessels_of(parameters), parameters.backgroundSeeds]
            self.history.record([each for each in lists if each], users_threshold(parameters))

    def show(self, parameters: Any) -> None:
        self.ui.undoSeedButton.enabled = self.history.can_undo
        self.ui.redoSeedButton.enabled = self.history.can_redo


class RemovedVessel:
    """A vessel that is removed, with its segment unless that was edited; undo brings it back."""

    def __init__(self, parameters: Any, node: Any) -> None:
        self._parameters, self.node = parameters, node
        self.remove()

    def remove(self) -> None:
        """Remove the vessel, unless it was removed already, or is the last one."""
        parameters, self._lists = self._parameters, vessels_of(self._parameters)
        if self.node not in self._lists or len(self._lists) < 2:
            self._lists = []
            return
        others = [each for each in self._lists if each is not self.node]
        with slicer.util.NodeModify(parameters.parameterNode):
            self._color = color_of(self.node)
            self._segment = _taken_segment(parameters, self.node)
            self._result = _result_of(parameters)
            self._divided = fuzzy_scene.vessels_of_scene(parameters.sceneVolume)
            if parameters.seeds is self.node:  # the one before becomes current
                parameters.seeds = others[max(self._lists.index(self.node) - 1, 0)]
            vessel_lists.keep(parameters, others)
            slicer.mrmlScene.RemoveNode(self.node)

    def bring_back(self) -> None:
        """Put the vessel into its place; its segment too, where no other result came meanwhile."""
        parameters = self._parameters
        if self.node not in self._lists:
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            slicer.mrmlScene.AddNode(self.node)  # with the ID that it had
            paint(self.node, self._color)
            lists = vessels_of(parameters)
            lists.insert(self._lists.index(self.node), self.node)
            vessel_lists.keep(parameters, list(dict.fromkeys(lists)))
            parameters.seeds = self.node
        if self._result != _result_of(parameters):
            return
        if self._divided:
            refer(parameters.sceneVolume, fuzzy_scene.VESSELS, self._divided)
        if self._segment is not None and slicer.mrmlScene.IsNodePresent(self._segment[0]):
            segmentation_node, segment_id, segment, following = self._segment
            inner = segmentation_node.GetSegmentation()
            if inner.GetSegment(segment_id) is None:
                inner.AddSegment(segment, segment_id, following)


def _result_of(parameters: Any) -> tuple:
    return parameters.sceneVolume, volume_fingerprint(parameters.labelmap)


def _taken_segment(parameters: Any, node: Any) -> tuple | None:
    """Remove the segment of a list, unless it was edited.

    Returns segmentation, ID, the segment, and the ID behind it.
    """
    segmentation_node = parameters.segmentation
    segment_id = result_segment(segmentation_node, node, parameters.inputVolume, unedited=True)
    if not segment_id:
        return None
    inner = segmentation_node.GetSegmentation()
    segment = inner.GetSegment(segment_id)
    ids = [*inner.GetSegmentIDs(), ""]
    inner.RemoveSegment(segment_id)
    return segmentation_node, segment_id, segment, ids[ids.index(segment_id) + 1]
