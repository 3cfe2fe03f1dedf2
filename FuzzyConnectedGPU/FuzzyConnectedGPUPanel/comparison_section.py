"""Section Compare two results: where they differ."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import ownership

from .plots import millilitres
from .wording import worded


class ComparisonSection:
    """Two results, and a labelmap of their difference."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._compared: tuple | None = None  # what the note speaks of
        self.ui.differenceButton.connect("clicked()", self.difference)
        self._say("")

    def difference(self) -> None:
        """Make or fill the labelmap of where two results differ, and show it."""
        parameters = self._panel.parameters
        compared = _choice(parameters)
        try:
            found = self._panel.logic.difference(
                parameters.firstResult,
                parameters.secondResult,
                parameters.inputVolume,
                self._labelmap(parameters),
            )
        except InputError as error:
            self._say(worded(error), compared)
            return
        parameters.differenceLabelmap = found.labelmapNode
        views.show_labelmap(found.labelmapNode)
        text = _(
            "In both {both}, only in the first {first} (orange), only in the second {second} "
            "(blue); Dice {dice:.3f}"
        )
        self._say(
            text.format(
                both=millilitres(found.bothMl),
                first=millilitres(found.onlyFirstMl),
                second=millilitres(found.onlySecondMl),
                dice=found.dice,
            ),
            compared,
        )

    def _say(self, text: str, compared: tuple | None = None) -> None:
        self._compared = compared
        self.ui.differenceNoteLabel.text = text
        self.ui.differenceNoteLabel.setVisible(bool(text))

    @staticmethod
    def _labelmap(parameters: Any) -> Any:
        """The labelmap of differences on this volume, or None for a new one."""
        node, volume = parameters.differenceLabelmap, parameters.inputVolume
        kind = ownership.DIFFERENCE
        if ownership.belongs_to(node, kind, volume):
            return node
        return ownership.output_of(volume, kind, "vtkMRMLLabelMapVolumeNode")

    def react(self, parameters: Any) -> None:
        """A note goes with the results that it speaks of."""
        if self._compared is not None and self._compared != _choice(parameters):
            self._say("")

    def show(self, parameters: Any) -> None:
        first, second = parameters.firstResult, parameters.secondResult
        why = ""
        if not self._panel.has_voxels(parameters.inputVolume):
            why = _("Choose the volume first.")
        elif first is None or second is None or first is second:
            why = _("Choose two results to compare.")
        self._panel.enable(self.ui.differenceButton, why)

    def forget(self) -> None:
        """All nodes are gone."""
        self._say("")


def _choice(parameters: Any) -> tuple:
    results = parameters.firstResult, parameters.secondResult
    return *results, parameters.inputVolume, parameters.threshold
