"""The section Branch tools: it works on the tree of the chosen branch, or on the first shown."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import qt
import slicer
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.points import placed_points
from FuzzyVesselCoreLib.widgets.module_panel import PROBLEM_STYLE
from PotentialSkeletonLib.branch_tools import PruneStep, steps_of_text, steps_text
from PotentialSkeletonMRML.run_nodes import tree_name
from PotentialSkeletonMRML.tree import Tree

from .sentences import PRUNING, branches_text, counted, step_text
from .vessels_section import is_segmentation
from .views import jump_slices

LOWEST = 26  # pixels of a button
POINTS = "Branch tool"  # name of the list of clicks
ASKS = {
    "cut": _("Click the branch where it is to be cut."),
    "remove": _("Click the branch that is to be removed."),
    "bridge": _("Click into the gap, between the two ends."),
    "distance": _("Click two places on the vessels."),
}
WAY_RADIUS = 0.8  # mm of the way between two places as it is drawn
GROUPS = {
    "branch": _("by branch"),
    "generation": _("by generation"),
    "name": _("by name"),
    "subtree": _("by name, downstream"),
}
DISTANCES = {"straight": _("straight"), "geodesic": _("along the organ")}


class BranchTools:
    """The parts of the section, and what they share.

    Parameters
    ----------
    panel : SkeletonPanel
    """

    def __init__(self, panel: Any) -> None:
        self.panel = panel
        self._window, self.ui = panel.load_ui("PotentialSkeletonBranchTools")
        panel.ui.branchToolsSection.layout().addWidget(self._window)
        for each in vars(self.ui).values():
            if each.className() == "QPushButton":  # a narrow panel would make them lower
                each.setMinimumHeight(LOWEST)
        self._shown: tuple | list = ()
        self._branch, self._steps, self._clicks = ChosenBranch(self), Steps(self), Clicks(self)
        self._dividing = Dividing(self)

    def tree(self) -> Any:
        """The `Tree` that the tools work on, or None."""
        model = self.panel.result.model
        return None if model is None else Tree(model)

    def attempt(self, act: Callable[[], str]) -> None:
        """Do something at once, and say what it did or why it could not be done."""
        if self.panel.running.busy:
            self.say(self.panel.running.why_busy(), problem=True)
            return
        try:
            self.say(act())
        except FuzzyVesselError as error:
            self.say(str(error), problem=True)
        self.panel.update()

    def change(self, act: Callable[[Tree], Any]) -> None:
        """Change the tree, and say how many branches it has now."""
        tree = self.tree()

        def change() -> str:
            before = len(tree.skeleton.branches)
            with slicer.util.WaitCursor():
                act(tree)
            return branches_text(before, len(tree.skeleton.branches))

        if tree is not None:
            self.attempt(change)

    def start(self, work: Callable[[Any], str]) -> None:
        """Let a run do something; ``work(progress)`` returns what there is to say of it."""

        def run(_parameters: Any, progress: Any) -> str:
            said = work(progress)
            self.say(said)
            return said.split("\n")[0] if said else ""

        self.panel.start(run)

    def say(self, text: str, problem: bool = False) -> None:
        """Say something beside the tools."""
        self.ui.toolLabel.text = text
        self.ui.toolLabel.styleSheet = PROBLEM_STYLE if problem else ""
        self.ui.toolLabel.setVisible(bool(text))

    def show(self) -> None:
        """Show what follows from the tree that there is."""
        models = self.panel.result.models
        drawable = any(each.GetPolyData().GetNumberOfLines() for each in models)
        self.panel.ui.branchToolsSection.setVisible(drawable)
        self._window.enabled = not self.panel.running.busy
        if not drawable:
            self._clicks.end()
            return
        if models != self._shown:
            self._shown = models
            self._clicks.end()
            self.say("")
        for part in (self._branch, self._steps, self._dividing):
            part.show()

    def exit(self) -> None:
        """The panel is left, or the scene closed."""
        self._clicks.end()
        self._shown = ()
        self.say("")


class ChosenBranch:
    """The chosen branches: their name, and of one its narrowest place and how narrow that is."""

    def __init__(self, tools: BranchTools) -> None:
        self._tools, self.ui, self._result = tools, tools.ui, tools.panel.result
        self._filling = False
        self._of: list = []  # the branches whose name is shown: model, number
        self._narrowest: Any = None
        self.ui.nameEdit.connect("editingFinished()", self._on_name)
        self.ui.narrowestButton.connect("clicked()", self._on_narrowest)
        self.ui.referenceSpinBox.connect("valueChanged(double)", self._on_reference)

    def show(self) -> None:
        """Show the chosen branches."""
        chosen = self._result.all_chosen()
        self.ui.nameEdit.enabled = bool(chosen)
        self.ui.narrowestButton.enabled = len(chosen) == 1
        if chosen != self._of:
            self._of, self._narrowest = chosen, None
        names = {Tree(model).names.get(branch, "") for model, branch in chosen}
        self._filling = True
        if not self.ui.nameEdit.hasFocus():
            self.ui.nameEdit.text = names.pop() if len(names) == 1 else ""
        self.ui.referenceSpinBox.value = self._tools.tree().reference or 0.0
        self._filling = False
        self.ui.branchLabel.text = self._text()

    def _text(self) -> str:
        if not self._of:
            return _("Click a branch in the table above, or several with Ctrl.")
        if len(self._of) > 1:
            return _("{count} branches: one name makes them a group.").format(count=len(self._of))
        model, number = self._of[0]
        if self._narrowest is None:
            return _("Branch {number}").format(number=number)
        place, reference = self._narrowest, Tree(model).reference
        text = _("Branch {number} is narrowest {length:.0f} mm along it: {width:.1f} mm wide")
        text = text.format(number=number, width=place.diameter, length=place.length)
        if reference:
            percent = place.stenosis(reference)
            word = _("narrower") if percent >= 0 else _("wider")
            text += _("; {percent:.0f} % {word} than {reference:.1f} mm").format(
                percent=abs(percent), word=word, reference=reference
            )
        return f"{text}."

    def _on_name(self) -> None:
        """Keep a name that was typed for the branches that it was typed for."""
        there = [each for each in self._of if each[0] in self._result.models]
        if self._filling or not there:
            return
        name, numbers = " ".join(self.ui.nameEdit.text.split()), dict[Any, list[int]]()
        for model, branch in there:
            numbers.setdefault(model, []).append(branch)
        if all(Tree(model).names.get(branch, "") == name for model, branch in there):
            return

        def rename() -> str:
            for model, own in numbers.items():
                Tree(model).rename(own, name)
            return ""

        self._tools.attempt(rename)
        self._result.choose(each for each in there if each[0] in self._result.models)

    def _on_narrowest(self) -> None:
        found = self._result.chosen()
        if found is None:
            return
        tree, branch = Tree(found[0]), found[1]

        def go() -> str:
            place = tree.narrowest(branch)
            self._result.show_way(tree.model, place.way, place.radius)
            jump_slices(place.position)
            self._narrowest = place
            return ""

        self._tools.attempt(go)

    def _on_reference(self, value: float) -> None:
        tree = self._tools.tree()
        if not self._filling and tree is not None:
            tree.reference = value or None
            self.show()


class Steps:
    """Branches removed by a rule, the list of steps, undo, and steps repeated on another case."""

    def __init__(self, tools: BranchTools) -> None:
        self._tools, self.ui = tools, tools.ui
        self.ui.pruneComboBox.addItems([words for words, *_rest in PRUNING.values()])
        self.ui.pruneComboBox.connect("currentIndexChanged(int)", self._on_kind)
        self.ui.pruneButton.connect("clicked()", self._on_prune)
        self.ui.undoButton.connect("clicked()", lambda: tools.change(lambda tree: tree.undo()))
        self.ui.saveStepsButton.connect("clicked()", self._on_save)
        self.ui.loadStepsButton.connect("clicked()", self._on_load)
        self._on_kind(0)

    def show(self) -> None:
        """List the steps of the tree."""
        steps = self._tools.tree().steps
        texts = [f"{number}. {step_text(step)}" for number, step in enumerate(steps, 1)]
        rows = self.ui.stepsList
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

    def _on_prune(self) -> None:
        kind = list(PRUNING)[self.ui.pruneComboBox.currentIndex]
        self._tools.change(lambda tree: tree.prune(kind, self.ui.pruneSpinBox.value))

    def _on_save(self) -> None:
        tree = self._tools.tree()
        path = qt.QFileDialog.getSaveFileName(
            self.ui.saveStepsButton,
            _("Save the steps"),
            _("{name} steps").format(name=tree.model.GetName().replace("/", "-")) + ".json",
            "JSON (*.json)",
        )
        if path:
            steps = [each for each in tree.steps if isinstance(each, PruneStep)]
            with slicer.util.tryWithErrorDisplay(_("The file was not saved.")):
                Path(path).write_text(steps_text(steps), encoding="utf-8")
                self._tools.say(_("Saved {path}").format(path=path))

    def _on_load(self) -> None:
        path = qt.QFileDialog.getOpenFileName(
            self.ui.loadStepsButton, _("Repeat steps"), "", "JSON (*.json)"
        )
        if path:
            with slicer.util.tryWithErrorDisplay(_("The file could not be read.")):
                text = Path(path).read_text(encoding="utf-8", errors="replace")
                self._tools.change(lambda tree: tree.replay(steps_of_text(text)))


class Clicks:
    """Cut, remove, bridge, and the distance of two places: one waits for its clicks at a time."""

    def __init__(self, tools: BranchTools) -> None:
        self._tools, self.ui = tools, tools.ui
        self._observers = VTKObservationMixin()
        self._kind = ""
        self._points: Any = None  # a list of points, not saved and not listed
        self._buttons = {kind: getattr(self.ui, f"{kind}Button") for kind in ASKS}
        for kind, button in self._buttons.items():
            button.connect("clicked(bool)", lambda on, kind=kind: self._on_button(kind, on))
        self.ui.clickPlaceWidget.hide()
        self.ui.clickPlaceWidget.connect("activeMarkupsPlaceModeChanged(bool)", self._on_mode)

    def end(self) -> None:
        """Wait for no click any more."""
        points, self._points, self._kind = self._points, None, ""
        for button in self._buttons.values():
            button.checked = False
        if points is not None:
            self._observers.removeObservers()
            self.ui.clickPlaceWidget.placeModeEnabled = False
            self.ui.clickPlaceWidget.setCurrentNode(None)
            remove_node(points)

    def _on_button(self, kind: str, on: bool) -> None:
        self.end()
        if not on:
            self._tools.say("")
            return
        node = slicer.vtkMRMLMarkupsFiducialNode()
        node.SetName(POINTS)
        node.SetHideFromEditors(True)
        node.SetSaveWithScene(False)
        slicer.mrmlScene.AddNode(node)
        node.CreateDefaultDisplayNodes()
        node.GetDisplayNode().SetSaveWithScene(False)
        node.GetDisplayNode().SetPointLabelsVisibility(False)
        self._kind, self._points = kind, node
        self._buttons[kind].checked = True
        self._tools.say(ASKS[kind])
        self._observers.addObserver(node, node.PointPositionDefinedEvent, self._on_point)
        place = self.ui.clickPlaceWidget
        place.placeMultipleMarkups = slicer.qSlicerMarkupsPlaceWidget.ForcePlaceMultipleMarkups
        place.setCurrentNode(node)
        place.placeModeEnabled = True

    def _on_mode(self, on: bool) -> None:
        """Placing was ended with the right mouse button, Escape or another tool."""
        if not on and self._points is not None:
            qt.QTimer.singleShot(0, self._end_unless_placing)

    def _end_unless_placing(self) -> None:
        if self._points is not None and not self.ui.clickPlaceWidget.placeModeEnabled:
            self.end()
            self._tools.say("")

    def _on_point(self, caller: Any, event: Any) -> None:
        """A place was clicked; the list goes when its own event is over."""
        if len(placed_points(caller).world) >= (2 if self._kind == "distance" else 1):
            qt.QTimer.singleShot(0, self._finish)

    def _finish(self) -> None:
        if self._points is None:
            return
        places, kind = placed_points(self._points).world, self._kind
        self.end()
        if kind == "distance":
            self._tools.attempt(lambda: self._distance(places))
        else:
            self._tools.change(lambda tree: getattr(tree, kind)(places[0]))

    def _distance(self, places: np.ndarray) -> str:
        tree = self._tools.tree()
        if tree is None:
            return ""
        way = tree.distance(*places[:2])
        radius = np.full(len(way.points), WAY_RADIUS)
        self._tools.panel.result.show_way(tree.model, way.points, radius)
        text = _("{length:.1f} mm along the vessels, {straight:.1f} mm straight").format(
            length=way.length, straight=way.straight
        )
        if np.isfinite(way.tortuosity):
            text += _("; tortuosity {ratio:.2f}").format(ratio=way.tortuosity)
        return f"{text}."


class Dividing:
    """Runs on the tree: cross-sections, vessels split by branch, an organ divided; and files."""

    def __init__(self, tools: BranchTools) -> None:
        self._tools, self.ui = tools, tools.ui
        self.ui.splitComboBox.addItems(list(GROUPS.values()))
        self.ui.groupComboBox.addItems(list(GROUPS.values()))
        self.ui.distanceComboBox.addItems(list(DISTANCES.values()))
        self.ui.sectionsButton.connect("clicked()", self._on_sections)
        self.ui.splitButton.connect("clicked()", self._on_split)
        self.ui.organButton.connect("clicked()", self._on_organ)
        self.ui.organSelector.connect("currentNodeChanged(vtkMRMLNode*)", self._on_organ_chosen)
        self.ui.vmtkButton.connect("clicked()", self._on_vmtk)
        self.ui.formatsButton.connect("clicked()", self._on_formats)

    def show(self) -> None:
        """Show the segments of the organ's node."""
        self._on_organ_chosen(self.ui.organSelector.currentNode())

    def _on_organ_chosen(self, node: Any) -> None:
        segments = is_segmentation(node)
        self.ui.organSegmentSelector.setVisible(segments)
        if segments:
            self.ui.organSegmentSelector.setCurrentNode(node)
        self.ui.organButton.enabled = node is not None

    def _start(self, work: Callable[..., str]) -> None:
        """Let a run call ``work(tree, progress, wait)``: long steps in another thread."""
        tree, wait = self._tools.tree(), self._tools.panel.running.wait
        self._tools.start(lambda progress: work(tree, progress, wait))

    def _on_sections(self) -> None:
        def measure(tree: Tree, progress: Any, wait: Any) -> str:
            tree.measureSections(progress, wait)
            return _("The table has areas and both diameters now; Save table writes them.")

        self._start(measure)

    def _on_split(self) -> None:
        kind = list(GROUPS)[self.ui.splitComboBox.currentIndex]

        def split(tree: Tree, progress: Any, wait: Any) -> str:
            node = tree.split(kind, progress, wait)
            count = node.GetSegmentation().GetNumberOfSegments()
            return _("{segments} in {name}.").format(
                segments=counted(count, _("segment"), _("segments")), name=node.GetName()
            )

        self._start(split)

    def _on_organ(self) -> None:
        node = self.ui.organSelector.currentNode()
        segment = self.ui.organSegmentSelector.currentSegmentID() if is_segmentation(node) else None
        kind = list(GROUPS)[self.ui.groupComboBox.currentIndex]
        distance = list(DISTANCES)[self.ui.distanceComboBox.currentIndex]

        def divide(tree: Tree, progress: Any, wait: Any) -> str:
            found = tree.divideOrgan(node, segment, kind, distance, progress, wait)
            largest = max(found.volumes, key=found.volumes.__getitem__)
            return _("{parts}; the largest is {name} with {volume:.0f} ml.").format(
                parts=counted(len(found.volumes), _("part"), _("parts")),
                name=largest,
                volume=found.volumes[largest],
            )

        self._start(divide)

    def _on_vmtk(self) -> None:
        tree = self._tools.tree()

        def add() -> str:
            return _("Added the model {name}.").format(name=tree.addCentrelines().GetName())

        self._tools.attempt(add)

    def _on_formats(self) -> None:
        tree, title = self._tools.tree(), _("Where to put the folder of files")
        place = qt.QFileDialog.getExistingDirectory(self.ui.formatsButton, title)
        if not place:
            return
        own = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "-", tree_name(tree.model)).strip(". ")
        folder = Path(place) / _("{name} for other programs").format(name=own)

        def save(_progress: Any) -> str:
            said = tree.saveFormats(folder)
            return "\n".join([_("Saved {path}").format(path=folder), *said])

        self._tools.start(save)
