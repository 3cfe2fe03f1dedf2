"""The section Branch tools: it works on the tree of the chosen branch, or on the first shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.translation import counted
from FuzzyVesselCoreLib.widgets.module_panel import PROBLEM_STYLE
from PotentialSkeletonLib import branch_tools
from PotentialSkeletonLib.branch_tools import PROPOSED, PruneStep
from PotentialSkeletonMRML.objects import is_segmentation
from PotentialSkeletonMRML.outputs import tree_name
from PotentialSkeletonMRML.tree import Tree

from .branch_clicks import Clicks
from .result_section import file_name, highlight, jump_slices

# What the items of the boxes stand for.
GROUPS = ("branch", "generation", "name", "subtree", "segment")
DISTANCES = ("straight", "geodesic")
# Kind of pruning: what a person reads, unit behind the number, number to begin with, digits.
PRUNING = {
    "length": (_("shorter than"), _(" mm"), 10.0, 1),
    "radius": (_("thinner than (radius)"), _(" mm"), 1.0, 1),
    "spur ratio": (_("short for their width"), _(" x radius"), 2.0, 1),
    "generation": (_("beyond generation"), "", 4.0, 0),
}
EDITS = {"cut": _("Branch cut"), "remove": _("Branch removed"), "bridge": _("Gap bridged")}


class BranchTools:
    """The section Branch tools; `Clicks` has the tools that wait for clicks in the views."""

    def __init__(self, panel: Any) -> None:
        self.panel = panel
        self._window, self.ui = panel.load_ui("PotentialSkeletonBranchTools")
        panel.ui.branchToolsSection.layout().addWidget(self._window)
        self._shown: list = []  # models
        self._named: list = []  # branches whose name is shown: model, number
        self._narrowest: Any = None
        self._clicks, ui = Clicks(self), self.ui
        ui.anatomyComboBox.addItems([each.trunk for each in branch_tools.ANATOMIES.values()])
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
            (self.attempt, "accept", Tree.acceptNames),
            (self.attempt, "narrowest", self._show_narrowest),
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
        return model and Tree(model)

    def attempt(self, act: Callable[[Tree], str | None]) -> None:
        """Do something with the tree at once, and say what came of it."""
        tree, busy = self.tree(), self.panel.running.why_busy()
        if tree is None or busy:
            self.say(busy, problem=True)
            return
        try:
            with slicer.util.WaitCursor():
                self.say(act(tree) or "")
        except FuzzyVesselError as error:
            self.say(str(error), problem=True)
        self.panel.update()

    def change(self, act: Callable[[Tree], Any]) -> None:
        """Change the tree, and say how many branches it has now."""

        def change(tree: Tree) -> str:
            before = len(tree.skeleton.branches)
            act(tree)
            after = len(tree.skeleton.branches)
            if before == after:
                return _("No branch is like that; all {after} stay.").format(after=after)
            text = _("{before} branches before, {after} now.")
            return text.format(before=before, after=after)

        self.attempt(change)

    def start(self, work: Callable[[Tree, Any], str]) -> None:
        """Let a run call ``work(tree, progress)``, which returns the message to show."""
        tree: Any = self.tree()

        def run(_parameters: Any, progress: Any) -> str:
            said = work(tree, progress)
            self.say(said)
            return said.split("\n")[0]

        self.panel.start(run)

    def say(self, text: str, problem: bool = False) -> None:
        """Say something beside the tools."""
        self.ui.toolLabel.text = text
        self.ui.toolLabel.styleSheet = PROBLEM_STYLE if problem else ""
        self.ui.toolLabel.setVisible(bool(text))

    def show(self) -> None:
        """Show the state of the tree, while the section is open."""
        if self.panel.ui.branchToolsSection.collapsed:
            return
        tree, models = self.tree(), self.panel.result.models
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
        if chosen != self._named:
            self._named, self._narrowest = chosen, None
        names = {Tree(model).names.get(branch, "") for model, branch in chosen}
        if not self.ui.nameEdit.hasFocus():
            self.ui.nameEdit.text = names.pop() if len(names) == 1 else ""
        self.ui.referenceSpinBox.blockSignals(True)
        self.ui.referenceSpinBox.value = tree.reference or 0.0
        self.ui.referenceSpinBox.blockSignals(False)
        self.ui.branchLabel.text = self._branch_text(tree)

    def _branch_text(self, tree: Tree) -> str:
        if not self._named:
            return _("Click a branch in the table above, or several with Ctrl.")
        if len(self._named) > 1:
            text = _("{count} branches: one name makes them a group.")
            return text.format(count=len(self._named))
        number, place = self._named[0][1], self._narrowest
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
        """Give a typed name to the branches that were shown while it was typed."""
        branches = [each for each in self._named if each[0] in self.panel.result.models]
        name = " ".join(self.ui.nameEdit.text.split())
        if all(Tree(m).names.get(branch, "") == name for m, branch in branches):
            return

        def rename(_tree: Tree) -> None:
            for model in {model for model, _branch in branches}:
                Tree(model).rename([branch for m, branch in branches if m is model], name)

        self.attempt(rename)
        self.panel.result.choose(branches)

    def _list_names(self, index: int) -> None:
        """Offer the names of an anatomy, to be chosen instead of typed."""
        box = self.ui.usualNameComboBox
        box.clear()
        box.addItems([_("Usual ..."), *list(branch_tools.ANATOMIES.values())[index].names])

    def _on_usual_name(self, index: int) -> None:
        if index > 0:
            self.ui.nameEdit.text = self.ui.usualNameComboBox.itemText(index)
            self.ui.usualNameComboBox.currentIndex = 0
            self._on_name()

    def _propose(self, tree: Tree) -> str:
        """Propose names, and set how an organ would be divided by them."""
        anatomy = list(branch_tools.ANATOMIES)[self.ui.anatomyComboBox.currentIndex]
        of_tree = [branch for model, branch in self._named if model is tree.model]
        found = tree.proposeNames(anatomy, of_tree[0] if len(of_tree) == 1 else None)
        of_segments = any(name.startswith(branch_tools.LIVER_SEGMENT) for name in found.values())
        self.ui.groupComboBox.currentIndex = GROUPS.index("segment" if of_segments else "subtree")
        text = _("{count} proposed: look at each, change the wrong ones, then Accept.")
        return text.format(count=counted(len(found), _("name"), _("names")))

    def _show_narrowest(self, tree: Tree) -> None:
        place = tree.narrowest(self.panel.result.chosen()[0][1])
        highlight(tree.model, [(place.way, place.radius)])
        jump_slices(place.position)
        self._narrowest = place

    def _on_reference(self, value: float) -> None:
        tree: Any = self.tree()
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
        text = branch_tools.steps_text([each for each in tree.steps if isinstance(each, PruneStep)])
        files = {"": lambda path: Path(path).write_text(text, encoding="utf-8")}
        name = _("{name} steps").format(name=tree.model.GetName())
        self.panel.result.save(_("Save the steps"), "json", files, name)

    def _on_load(self) -> None:
        title, button = _("Repeat steps"), self.ui.loadStepsButton
        path = qt.QFileDialog.getOpenFileName(button, title, "", "JSON (*.json)")
        if path:
            with slicer.util.tryWithErrorDisplay(_("The file could not be read.")):
                text = Path(path).read_text(encoding="utf-8", errors="replace")
                self.change(lambda tree: tree.replay(branch_tools.steps_of_text(text)))

    # --- cross-sections, vessels split, an organ divided, a tree for other programs

    def _show_organ(self) -> None:
        node = self.ui.organSelector.currentNode()
        self.ui.organSegmentSelector.setVisible(is_segmentation(node))
        if is_segmentation(node):
            self.ui.organSegmentSelector.setCurrentNode(node)
        self.ui.organButton.enabled = node is not None

    def _measure(self, tree: Tree, progress: Any) -> str:
        tree.measureSections(progress)
        return _("The table has areas and both diameters now; Save table writes them.")

    def _split(self, tree: Tree, progress: Any) -> str:
        node = tree.split(GROUPS[self.ui.splitComboBox.currentIndex], progress)
        count = node.GetSegmentation().GetNumberOfSegments()
        segments = counted(count, _("segment"), _("segments"))
        return _("{segments} in {name}.").format(segments=segments, name=node.GetName())

    def _divide(self, tree: Tree, progress: Any) -> str:
        node = self.ui.organSelector.currentNode()
        segment = self.ui.organSegmentSelector.currentSegmentID() if is_segmentation(node) else None
        kind = GROUPS[self.ui.groupComboBox.currentIndex]
        distance = DISTANCES[self.ui.distanceComboBox.currentIndex]
        volumes = tree.divideOrgan(node, segment, kind, distance, progress).volumes
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

        def save(tree: Tree, _progress: Any) -> str:
            own = file_name(tree_name(tree.model))
            folder = Path(place) / _("{name} for other programs").format(name=own)
            return "\n".join([_("Saved {path}").format(path=folder), *tree.saveFormats(folder)])

        self.start(save)


def step_text(step: Any) -> str:
    """One step of the branch tools in words."""
    if step.kind in EDITS:
        return EDITS[step.kind]
    words, unit, _begin, digits = PRUNING[step.kind]
    text = _("Removed: {words} {value}{unit}")
    return text.format(words=words, value=f"{step.value:.{digits}f}", unit=unit)
