"""The chosen branches: their name, and of one its narrowest place and how narrow that is."""

from typing import Any

import slicer
from slicer.i18n import tr as _


class ChosenBranch:
    """Widgets that speak of the branches that are chosen in the table.

    Parameters
    ----------
    tools : BranchTools
    """

    def __init__(self, tools: Any) -> None:
        self._tools, self.ui = tools, tools.ui
        self._filling = False
        self._of: list = []  # the branches whose name is shown: model, number
        self._narrowest: Any = None
        self.ui.nameEdit.connect("editingFinished()", self._on_name)
        self.ui.narrowestButton.connect("clicked()", self._on_narrowest)
        self.ui.referenceSpinBox.connect("valueChanged(double)", self._on_reference)

    def show(self) -> None:
        """Show the chosen branches."""
        found, chosen = self._tools.chosen(), self._tools.all_chosen()
        self.ui.nameEdit.enabled = bool(chosen)
        self.ui.narrowestButton.enabled = found is not None
        if chosen != self._of:
            self._of, self._narrowest = chosen, None
        names = {self._tools.tree_of(model).names.get(branch, "") for model, branch in chosen}
        self._filling = True
        if not self.ui.nameEdit.hasFocus():
            self.ui.nameEdit.text = names.pop() if len(names) == 1 else ""
        self.ui.referenceSpinBox.value = self._tools.tree().reference or 0.0
        self._filling = False
        self.ui.branchLabel.text = self._text(found)

    def _text(self, found: Any) -> str:
        if len(self._of) > 1:
            return _("{count} branches: one name makes them a group.").format(count=len(self._of))
        if found is None:
            return _("Click a branch in the table above, or several with Ctrl.")
        if self._narrowest is None:
            return _("Branch {number}").format(number=found[1])
        place, reference = self._narrowest, found[0].reference
        text = _("Branch {number} is narrowest {length:.0f} mm along it: {width:.1f} mm wide")
        text = text.format(number=found[1], width=place.diameter, length=place.length)
        if reference:
            percent = place.stenosis(reference)
            word = _("narrower") if percent >= 0 else _("wider")
            text += _("; {percent:.0f} % {word} than {reference:.1f} mm").format(
                percent=abs(percent), word=word, reference=reference
            )
        return f"{text}."

    def _on_name(self) -> None:
        """Keep a name that was typed for the branches that it was typed for."""
        if self._filling or not self._of:
            return
        name, numbers = " ".join(self.ui.nameEdit.text.split()), dict[Any, list[int]]()
        for model, branch in self._of:
            numbers.setdefault(model, []).append(branch)
        trees = [(self._tools.tree_of(model), own) for model, own in numbers.items()]
        trees = [(tree, own) for tree, own in trees if tree is not None]
        if all(tree.names.get(branch, "") == name for tree, own in trees for branch in own):
            return
        chosen = self._of

        def rename() -> str:
            for tree, own in trees:
                tree.rename(own, name)
            return ""

        self._tools.attempt(rename)
        there = self._tools.panel.result.models
        self._tools.panel.result.choose(each for each in chosen if each[0] in there)

    def _on_narrowest(self) -> None:
        found = self._tools.chosen()
        if found is None:
            return
        tree, branch = found

        def go() -> str:
            place = tree.narrowest(branch)
            self._tools.panel.result.show_way(tree.model, place.way, place.radius)
            slices = slicer.vtkMRMLSliceNode
            slices.JumpAllSlices(slicer.mrmlScene, *place.position, slices.CenteredJumpSlice)
            self._narrowest = place
            return ""

        self._tools.attempt(go)

    def _on_reference(self, value: float) -> None:
        tree = self._tools.tree()
        if not self._filling and tree is not None:
            tree.reference = value or None
            self.show()
