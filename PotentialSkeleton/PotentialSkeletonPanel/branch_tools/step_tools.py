"""Branches removed by a rule, the list of steps, undo, and steps repeated on another case."""

from pathlib import Path
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from PotentialSkeletonLib.branch_tools import PruneStep, steps_of_text, steps_text

from .step_text import KINDS, step_text

ENDING = "json"


class StepTools:
    """Widgets for pruning and its steps.

    Parameters
    ----------
    tools : BranchTools
    """

    def __init__(self, tools: Any) -> None:
        self._tools, self.ui = tools, tools.ui
        self.ui.pruneComboBox.addItems([words for words, *_rest in KINDS.values()])
        self.ui.pruneComboBox.connect("currentIndexChanged(int)", self._on_kind)
        self.ui.pruneButton.connect("clicked()", self._on_prune)
        self.ui.undoButton.connect("clicked()", self._on_undo)
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
        _words, unit, value, digits = list(KINDS.values())[index]
        box = self.ui.pruneSpinBox
        box.suffix, box.decimals, box.singleStep = unit, digits, 0.5 if digits else 1.0
        box.value = value

    def _on_prune(self) -> None:
        kind = list(KINDS)[self.ui.pruneComboBox.currentIndex]
        self._change(lambda tree: tree.prune(kind, self.ui.pruneSpinBox.value))

    def _on_undo(self) -> None:
        self._change(lambda tree: tree.undo())

    def _change(self, act: Any) -> None:
        """Change the tree, and say how many branches it has now."""
        tree = self._tools.tree()

        def change() -> str:
            before = len(tree.skeleton.branches)
            with slicer.util.WaitCursor():
                act(tree)
            return branches_text(before, len(tree.skeleton.branches))

        self._tools.attempt(change)

    def _on_save(self) -> None:
        tree = self._tools.tree()
        own = tree.model.GetName().replace("/", "-")
        path = qt.QFileDialog.getSaveFileName(
            self.ui.saveStepsButton,
            _("Save the steps"),
            _("{name} steps").format(name=own) + f".{ENDING}",
            f"{ENDING.upper()} (*.{ENDING})",
        )
        if path:
            steps = [each for each in tree.steps if isinstance(each, PruneStep)]
            with slicer.util.tryWithErrorDisplay(_("The file was not saved.")):
                Path(path).write_text(steps_text(steps), encoding="utf-8")
                self._tools.say(_("Saved {path}").format(path=path))

    def _on_load(self) -> None:
        path = qt.QFileDialog.getOpenFileName(
            self.ui.loadStepsButton, _("Repeat steps"), "", f"{ENDING.upper()} (*.{ENDING})"
        )
        if path:
            with slicer.util.tryWithErrorDisplay(_("The file could not be read.")):
                text = Path(path).read_text(encoding="utf-8", errors="replace")
                self._change(lambda tree: tree.replay(steps_of_text(text)))


def branches_text(before: int, after: int) -> str:
    """Return how a step changed the number of branches."""
    if before == after:
        return _("No branch is like that; all {after} stay.").format(after=after)
    return _("{before} branches before, {after} now.").format(before=before, after=after)
