"""The chosen branch: its name, its narrowest place, and how much narrower that is than normal."""

from typing import Any

import slicer
from slicer.i18n import tr as _


class ChosenBranch:
    """Widgets that speak of the branch that is chosen in the table.

    Parameters
    ----------
    tools : BranchTools
    """

    def __init__(self, tools: Any) -> None:
        self._tools, self.ui = tools, tools.ui
        self._filling = False
        self._of: tuple = ()  # the branch whose name is shown
        self._narrowest: Any = None
        self.ui.nameEdit.connect("editingFinished()", self._on_name)
        self.ui.narrowestButton.connect("clicked()", self._on_narrowest)
        self.ui.referenceSpinBox.connect("valueChanged(double)", self._on_reference)

    def show(self) -> None:
        """Show the chosen branch."""
        found = self._tools.chosen()
        for widget in (self.ui.nameEdit, self.ui.narrowestButton):
            widget.enabled = found is not None
        of = (found[0].model, found[1]) if found else ()
        if of != self._of:
            self._of, self._narrowest = of, None
        tree = found[0] if found else self._tools.tree()
        self._filling = True
        if not self.ui.nameEdit.hasFocus():
            self.ui.nameEdit.text = tree.names.get(found[1], "") if found else ""
        self.ui.referenceSpinBox.value = tree.reference or 0.0
        self._filling = False
        self.ui.branchLabel.text = self._text(found)

    def _text(self, found: Any) -> str:
        if found is None:
            return _("Click a branch in the table above.")
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
        """Keep a name that was typed for the branch that it was typed for."""
        if self._filling or not self._of:
            return
        model, branch = self._of
        tree, name = self._tools.tree_of(model), self.ui.nameEdit.text
        if tree is None or tree.names.get(branch, "") == name.strip():
            return

        def rename() -> str:
            tree.rename(branch, name)
            return ""

        self._tools.attempt(rename)
        if model in self._tools.panel.result.models:
            self._tools.panel.result.choose(model, branch)

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
