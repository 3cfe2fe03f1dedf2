"""The section Branch tools: it works on the tree of the chosen branch, or on the first shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError
from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.points import placed_points
from FuzzyVesselCoreLib.widgets.module_panel import PROBLEM_STYLE
from PotentialSkeletonLib.branch_tools import (
    ANATOMIES,
    LIVER_SEGMENT,
    PROPOSED,
    PruneStep,
    steps_of_text,
    steps_text,
)
from PotentialSkeletonMRML.outputs import tree_name
from PotentialSkeletonMRML.tree import Tree

from .sentences import PRUNING, branches_text, counted, file_name, step_text
from .vessels_section import is_segmentation
from .views import StraightenedView, background_volume, hidden_node, jump_slices

LOWEST = 26  # pixels of a button
POINTS = "Branch tool"  # name of the list of clicks
ASKS = {
    "cut": _("Click the branch where it is to be cut."),
    "remove": _("Click the branch that is to be removed."),
    "bridge": _("Click into the gap, between the two ends."),
    "distance": _("Click two places on the vessels."),
    "section": _("Click a place on a vessel."),
    "stenosis": _("Click the narrow place, then a healthy one of the same vessel."),
    "straighten": _("Click two places on the vessels, or choose a branch first."),
    "patient": _("Click a place in the straightened view."),
}
TWO_CLICKS = ("distance", "stenosis", "straighten")
WAY_RADIUS = 0.8  # mm of the way between two places as it is drawn
# What the items of the boxes stand for.
GROUPS = ("branch", "generation", "name", "subtree", "segment")
DISTANCES = ("straight", "geodesic")


class BranchTools:
    """The section, except for the tools that wait for clicks in the views."""

    def __init__(self, panel: Any) -> None:
        self.panel = panel
        self._window, self.ui = panel.load_ui("PotentialSkeletonBranchTools")
        panel.ui.branchToolsSection.layout().addWidget(self._window)
        for each in vars(self.ui).values():
            if each.className() == "QPushButton":  # a narrow panel would make them lower
                each.setMinimumHeight(LOWEST)
        self._shown: list = []  # models
        self._of: list = []  # the branches whose name is shown: model, number
        self._narrowest: Any = None
        self._clicks, ui = Clicks(self), self.ui
        ui.anatomyComboBox.addItems([each.trunk for each in ANATOMIES.values()])
        ui.pruneComboBox.addItems([words for words, *_rest in PRUNING.values()])
        self._list_names(0)
        self._on_kind(0)
        ui.nameEdit.connect("editingFinished()", self._on_name)
        ui.anatomyComboBox.connect("currentIndexChanged(int)", self._list_names)
        ui.usualNameComboBox.connect("activated(int)", self._on_usual_name)
        ui.referenceSpinBox.connect("valueChanged(double)", self._on_reference)
        ui.pruneComboBox.connect("currentIndexChanged(int)", self._on_kind)
        ui.organSelector.connect("currentNodeChanged(vtkMRMLNode*)", lambda _n: self._show_organ())
        for act, name, done in (
            (self.attempt, "propose", self._propose),
            (self.attempt, "accept", self._accept),
            (self.attempt, "narrowest", self._go),
            (self.attempt, "vmtk", self._add_lines),
            (self.change, "prune", self._prune),
            (self.change, "undo", Tree.undo),
            (self.start, "sections", self._measure),
            (self.start, "split", self._split),
            (self.start, "organ", self._divide),
        ):
            button = getattr(ui, f"{name}Button")
            button.connect("clicked()", lambda act=act, done=done: act(done))
        ui.saveStepsButton.connect("clicked()", self._on_save)
        ui.loadStepsButton.connect("clicked()", self._on_load)
        ui.formatsButton.connect("clicked()", self._on_formats)

    def tree(self) -> Tree | None:
        """What the tools work on."""
        model = self.panel.result.model
        return None if model is None else Tree(model)

    def attempt(self, act: Callable[[Tree], str]) -> None:
        """Do something with the tree at once, and say what came of it."""
        tree, busy = self.tree(), self.panel.running.why_busy()
        if tree is None or busy:
            self.say(busy, problem=True)
            return
        try:
            with slicer.util.WaitCursor():
                self.say(act(tree))
        except FuzzyVesselError as error:
            self.say(str(error), problem=True)
        self.panel.update()

    def change(self, act: Callable[[Tree], Any]) -> None:
        """Change the tree, and say how many branches it has now."""

        def change(tree: Tree) -> str:
            before = len(tree.skeleton.branches)
            act(tree)
            return branches_text(before, len(tree.skeleton.branches))

        self.attempt(change)

    def start(self, work: Callable[[Tree, Any, Any], str]) -> None:
        """Let a run call ``work(tree, progress, wait)``, which returns the message to show."""
        tree: Any = self.tree()

        def run(_parameters: Any, progress: Any) -> str:
            said = work(tree, progress, self.panel.running.wait)
            self.say(said)
            return said.split("\n")[0]

        self.panel.start(run)

    def say(self, text: str, problem: bool = False) -> None:
        """Say something beside the tools."""
        self.ui.toolLabel.text = text
        self.ui.toolLabel.styleSheet = PROBLEM_STYLE if problem else ""
        self.ui.toolLabel.setVisible(bool(text))

    def show(self) -> None:
        """Show what follows from the tree that there is."""
        tree, models = self.tree(), self.panel.result.models
        self.panel.ui.branchToolsSection.setVisible(tree is not None)
        self._window.enabled = not self.panel.running.busy
        if tree is None or models != self._shown:
            self._shown = models
            self._clicks.end()
            self.say("")
        if tree is not None:
            self._show_chosen(tree)
            self._show_steps(tree)
            self._clicks.show()
            self._show_organ()

    def exit(self) -> None:
        """The panel is left, or the scene closed: slice views are as before."""
        self._clicks.end()
        self._clicks.close_view()
        self._shown = []

    # --- the chosen branches: their name, and of one its narrowest place

    def _show_chosen(self, tree: Tree) -> None:
        chosen = self.panel.result.chosen()
        self.ui.nameEdit.enabled = bool(chosen)
        self.ui.usualNameComboBox.enabled = bool(chosen)
        self.ui.narrowestButton.enabled = len(chosen) == 1
        self.ui.acceptButton.enabled = any(n.endswith(PROPOSED) for n in tree.names.values())
        if chosen != self._of:
            self._of, self._narrowest = chosen, None
        names = {Tree(model).names.get(branch, "") for model, branch in chosen}
        if not self.ui.nameEdit.hasFocus():
            self.ui.nameEdit.text = names.pop() if len(names) == 1 else ""
        self.ui.referenceSpinBox.blockSignals(True)
        self.ui.referenceSpinBox.value = tree.reference or 0.0
        self.ui.referenceSpinBox.blockSignals(False)
        self.ui.branchLabel.text = self._text(tree)

    def _text(self, tree: Tree) -> str:
        if not self._of:
            return _("Click a branch in the table above, or several with Ctrl.")
        if len(self._of) > 1:
            return _("{count} branches: one name makes them a group.").format(count=len(self._of))
        number, place = self._of[0][1], self._narrowest
        if place is None:
            return _("Branch {number}").format(number=number)
        text = _(
            "Branch {number} is narrowest {at.length:.0f} mm along it: {at.diameter:.1f} mm wide"
        ).format(number=number, at=place)
        if tree.reference:
            percent = place.stenosis(tree.reference)
            word = _("narrower") if percent >= 0 else _("wider")
            more = _("; {percent:.0f} % {word} than {tree.reference:.1f} mm")
            text += more.format(percent=abs(percent), word=word, tree=tree)
        return f"{text}."

    def _on_name(self) -> None:
        """Keep a name that was typed for the branches that it was typed for."""
        there = [each for each in self._of if each[0] in self.panel.result.models]
        name = " ".join(self.ui.nameEdit.text.split())
        if all(Tree(m).names.get(branch, "") == name for m, branch in there):
            return

        def rename(_tree: Tree) -> str:
            for model in {model for model, _branch in there}:
                Tree(model).rename([branch for m, branch in there if m is model], name)
            return ""

        self.attempt(rename)
        self.panel.result.choose(there)

    def _list_names(self, index: int) -> None:
        """Offer the names of an anatomy, to be chosen instead of typed."""
        box = self.ui.usualNameComboBox
        box.clear()
        box.addItems([_("Usual ..."), *list(ANATOMIES.values())[index].names])

    def _on_usual_name(self, index: int) -> None:
        if index > 0:
            self.ui.nameEdit.text = self.ui.usualNameComboBox.itemText(index)
            self.ui.usualNameComboBox.currentIndex = 0
            self._on_name()

    def _propose(self, tree: Tree) -> str:
        """Propose names; dividing the liver by them is prepared."""
        anatomy = list(ANATOMIES)[self.ui.anatomyComboBox.currentIndex]
        of_tree = [branch for model, branch in self._of if model is tree.model]
        found = tree.proposeNames(anatomy, of_tree[0] if len(of_tree) == 1 else None)
        of_segments = any(name.startswith(LIVER_SEGMENT) for name in found.values())
        self.ui.groupComboBox.currentIndex = GROUPS.index("segment" if of_segments else "subtree")
        self._of = []
        text = _("{count} proposed: look at each, change the wrong ones, then Accept.")
        return text.format(count=counted(len(found), _("name"), _("names")))

    def _accept(self, tree: Tree) -> str:
        tree.acceptNames()
        self._of = []
        return ""

    def _go(self, tree: Tree) -> str:
        place = tree.narrowest(self.panel.result.chosen()[0][1])
        self.panel.result.show_way(tree.model, place.way, place.radius)
        jump_slices(place.position)
        self._narrowest = place
        return ""

    def _on_reference(self, value: float) -> None:
        tree = self.tree()
        if tree is not None:
            tree.reference = value or None
            self._show_chosen(tree)

    # --- steps: branches removed by a rule, undo, and steps repeated on another case

    def _show_steps(self, tree: Tree) -> None:
        steps, rows = tree.steps, self.ui.stepsList
        texts = [f"{number}. {step_text(step)}" for number, step in enumerate(steps, 1)]
        if [rows.item(row).text() for row in range(rows.count)] != texts:
            rows.clear()
            rows.addItems(texts)
            rows.scrollToBottom()
        rows.setVisible(bool(texts))
        self.ui.undoButton.enabled = bool(steps)
        self.ui.saveStepsButton.enabled = any(isinstance(each, PruneStep) for each in steps)

    def _on_kind(self, index: int) -> None:
        _words, unit, value, digits = list(PRUNING.values())[index]
        box = self.ui.pruneSpinBox
        box.suffix, box.decimals, box.singleStep = unit, digits, 0.5 if digits else 1.0
        box.value = value

    def _prune(self, tree: Tree) -> None:
        tree.prune(list(PRUNING)[self.ui.pruneComboBox.currentIndex], self.ui.pruneSpinBox.value)

    def _on_save(self) -> None:
        tree: Any = self.tree()
        file = _("{name} steps").format(name=file_name(tree.model.GetName())) + ".json"
        title, button = _("Save the steps"), self.ui.saveStepsButton
        path = qt.QFileDialog.getSaveFileName(button, title, file, "JSON (*.json)")
        if path:
            steps = [each for each in tree.steps if isinstance(each, PruneStep)]
            with slicer.util.tryWithErrorDisplay(_("The file was not saved.")):
                Path(path).write_text(steps_text(steps), encoding="utf-8")
                self.say(_("Saved {path}").format(path=path))

    def _on_load(self) -> None:
        path = qt.QFileDialog.getOpenFileName(
            self.ui.loadStepsButton, _("Repeat steps"), "", "JSON (*.json)"
        )
        if path:
            with slicer.util.tryWithErrorDisplay(_("The file could not be read.")):
                text = Path(path).read_text(encoding="utf-8", errors="replace")
                self.change(lambda tree: tree.replay(steps_of_text(text)))

    # --- cross-sections, vessels split, an organ divided, a tree for other programs

    def _show_organ(self) -> None:
        node = self.ui.organSelector.currentNode()
        self.ui.organSegmentSelector.setVisible(is_segmentation(node))
        if is_segmentation(node):
            self.ui.organSegmentSelector.setCurrentNode(node)
        self.ui.organButton.enabled = node is not None

    def _measure(self, tree: Tree, progress: Any, wait: Any) -> str:
        tree.measureSections(progress, wait)
        return _("The table has areas and both diameters now; Save table writes them.")

    def _split(self, tree: Tree, progress: Any, wait: Any) -> str:
        node = tree.split(GROUPS[self.ui.splitComboBox.currentIndex], progress, wait)
        count = node.GetSegmentation().GetNumberOfSegments()
        segments = counted(count, _("segment"), _("segments"))
        return _("{segments} in {name}.").format(segments=segments, name=node.GetName())

    def _divide(self, tree: Tree, progress: Any, wait: Any) -> str:
        node = self.ui.organSelector.currentNode()
        segment = self.ui.organSegmentSelector.currentSegmentID() if is_segmentation(node) else None
        kind = GROUPS[self.ui.groupComboBox.currentIndex]
        distance = DISTANCES[self.ui.distanceComboBox.currentIndex]
        volumes = tree.divideOrgan(node, segment, kind, distance, progress, wait).volumes
        largest = max(volumes, key=volumes.__getitem__)
        parts = counted(len(volumes), _("part"), _("parts"))
        text = _("{parts}; the largest is {name} with {volume:.0f} ml.")
        return text.format(parts=parts, name=largest, volume=volumes[largest])

    def _add_lines(self, tree: Tree) -> str:
        return _("Added the model {name}.").format(name=tree.addCentrelines().GetName())

    def _on_formats(self) -> None:
        title = _("Where to put the folder of files")
        place = qt.QFileDialog.getExistingDirectory(self.ui.formatsButton, title)
        if not place:
            return

        def save(tree: Tree, _progress: Any, _wait: Any) -> str:
            own = file_name(tree_name(tree.model))
            folder = Path(place) / _("{name} for other programs").format(name=own)
            return "\n".join([_("Saved {path}").format(path=folder), *tree.saveFormats(folder)])

        self.start(save)


class Clicks:
    """Cut, remove, bridge, and the distance of two places: one waits for its clicks at a time."""

    def __init__(self, tools: BranchTools) -> None:
        self._tools, self._place = tools, tools.ui.clickPlaceWidget
        self._kind = ""
        self._points: Any = None  # a list of points, not saved and not listed
        self._buttons = {kind: getattr(tools.ui, f"{kind}Button") for kind in ASKS}
        for kind, button in self._buttons.items():
            button.connect("clicked(bool)", lambda on, kind=kind: self._on_button(kind, on))
        self._view = StraightenedView()
        tools.ui.turnSlider.connect("valueChanged(int)", self._view.turn)
        tools.ui.closeButton.connect("clicked()", self.close_view)
        self._place.hide()
        self._place.connect("activeMarkupsPlaceModeChanged(bool)", self._on_mode)

    def show(self) -> None:
        """Show what belongs to a straightened view while there is one."""
        for name in ("turnLabel", "turnSlider", "patientButton", "closeButton"):
            getattr(self._tools.ui, name).setVisible(self._view.volume is not None)

    def close_view(self) -> None:
        """Show in the straightened view's slice what it has shown before."""
        self._view.hide()
        self._tools.say("")
        self.show()

    def end(self) -> None:
        """Wait for no click any more."""
        points, self._points, self._kind = self._points, None, ""
        for button in self._buttons.values():
            button.checked = False
        if points is not None:
            self._place.placeModeEnabled = False
            self._place.setCurrentNode(None)
            remove_node(points)

    def _on_button(self, kind: str, on: bool) -> None:
        self.end()
        chosen = self._tools.panel.result.chosen() if kind == "straighten" else []
        if not on:
            self._tools.say("")
            return
        if len(chosen) == 1:
            self._straighten(chosen[0][1])
            return
        node = hidden_node("vtkMRMLMarkupsFiducialNode", POINTS)
        node.GetDisplayNode().SetPointLabelsVisibility(False)
        self._kind, self._points = kind, node
        self._buttons[kind].checked = True
        self._tools.say(ASKS[kind])
        node.AddObserver(node.PointPositionDefinedEvent, self._on_point)
        self._place.placeMultipleMarkups = (
            slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
        )
        self._place.setCurrentNode(node)
        self._place.placeModeEnabled = True

    def _on_mode(self, on: bool) -> None:
        """Placing was ended with the right mouse button, Escape or another tool."""
        if not on:
            qt.QTimer.singleShot(0, self._end_unless_placing)

    def _end_unless_placing(self) -> None:
        if self._points is not None and not self._place.placeModeEnabled:
            self.end()
            self._tools.say("")

    def _on_point(self, caller: Any, event: Any) -> None:
        """A place was clicked; the list goes when its own event is over."""
        if len(placed_points(caller).world) >= 1 + (self._kind in TWO_CLICKS):
            qt.QTimer.singleShot(0, self._finish)

    def _finish(self) -> None:
        if self._points is None:
            return
        places, kind = placed_points(self._points).world, self._kind
        self.end()
        if kind == "straighten":
            self._straighten(tuple(places[:2]))
        elif kind in ("cut", "remove", "bridge"):
            self._tools.change(lambda tree: getattr(tree, kind)(places[0]))
        else:
            self._tools.attempt(lambda tree: getattr(self, f"_{kind}")(tree, places))

    def _distance(self, tree: Tree, places: np.ndarray) -> str:
        way = tree.distance(*places[:2])
        radius = np.full(len(way.points), WAY_RADIUS)
        self._tools.panel.result.show_way(tree.model, way.points, radius)
        text = _("{way.length:.1f} mm along the vessels, {way.straight:.1f} mm straight")
        if np.isfinite(way.tortuosity):
            text += _(
                "; tortuosity {way.tortuosity:.2f}, curvature {way.curvature:.3f}/mm, torsion "
                "{way.torsion:.3f}/mm"
            )
        return f"{text}.".format(way=way)

    def _section(self, tree: Tree, places: np.ndarray) -> str:
        found = tree.section(places[0])
        self._tools.panel.result.show_diameters([found])
        text = _(
            "{found.area:.1f} mm2; diameters {found.largest_diameter:.1f} and "
            "{found.smallest_diameter:.1f} mm, {found.equivalent_diameter:.1f} mm of a circle of "
            "this area"
        )
        if found.filled:
            text += _("; {found.filled:.1f} mm2 are filled holes")
        return f"{text}.".format(found=found)

    def _stenosis(self, tree: Tree, places: np.ndarray) -> str:
        narrow, healthy = (tree.section(place) for place in places[:2])
        self._tools.panel.result.show_diameters([narrow, healthy])
        by_diameter, by_area = narrow.stenosis(healthy)
        text = _(
            "Stenosis of {by_diameter:.0f} % by diameter ({narrow:.1f} mm; reference, the second "
            "click: {healthy:.1f} mm), {by_area:.0f} % by area."
        )
        diameters = dict(narrow=narrow.equivalent_diameter, healthy=healthy.equivalent_diameter)
        return text.format(by_diameter=by_diameter, by_area=by_area, **diameters)

    def _straighten(self, way: Any) -> None:
        """Let a run make the volume of a branch or a way, and show it in one slice view."""
        volume = background_volume()

        def work(tree: Tree, progress: Any, wait: Any) -> str:
            if volume is None:
                raise InputError(_("Show the volume in a slice view first."))
            nodes = tree.straighten(way, volume, progress=progress, wait=wait)
            text, view = _("{name} is shown in the view {view}."), self._view.show(nodes)
            self._tools.ui.turnSlider.value = 0  # as the new view is
            return text.format(name=nodes.volumeNode.GetName(), view=view)

        self._tools.start(work)
        self.show()

    def _patient(self, _tree: Tree, places: np.ndarray) -> str:
        self._view.go_to_patient(places[0])
        return _("The other slices show this place in the patient.")
