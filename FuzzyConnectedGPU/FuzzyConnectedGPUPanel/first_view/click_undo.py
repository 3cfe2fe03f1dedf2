"""Undo and redo of all clicks while the module is open, with Slicer's keys."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.history import ClickHistory, RemovedVessel
from FuzzyConnectedGPUMRML.vessels import vessels_of

UNDO_KEYS, REDO_KEYS = ("Ctrl+Z", "Z"), ("Ctrl+Y", "Ctrl+Shift+Z", "Y")


class ClickUndo:
    """Points placed, moved, deleted and given away, branches handed over, vessels, thresholds.

    It comes after all other sections, so that one act of a person is one step.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._forget()
        self.ui.undoSeedButton.connect("clicked()", self.undo)
        self.ui.redoSeedButton.connect("clicked()", self.redo)

    def remove_vessel(self, parameters: Any, node: Any) -> None:
        """Remove a vessel, which is a step like any other."""
        self._removed[node] = RemovedVessel(parameters, node)
        self._history.removed(node)

    def _put(self, node: Any, there: bool) -> None:
        parameters = self._panel.parameters
        with slicer.util.NodeModify(parameters.parameterNode):
            if there:
                removed = self._removed.pop(node, None)
                if removed is not None:  # else it left the scene by another way, and stays away
                    removed.bring_back(parameters)
            elif node in vessels_of(parameters):
                self._removed[node] = RemovedVessel(parameters, node)

    def undo(self) -> None:
        """Take back the last click."""
        if self._panel.parameters is not None and self._history.can_undo:
            self._take(self._history.undo())

    def redo(self) -> None:
        """Make the click again that was taken back last."""
        if self._panel.parameters is not None and self._history.can_redo:
            self._take(self._history.redo())

    def _take(self, setting: tuple[str, float | None]) -> None:
        parameters, (source, threshold) = self._panel.parameters, setting
        if setting != self._setting(parameters):
            if threshold is None:
                self._panel.threshold.choose_by(source)
            else:
                kinds = type(parameters.thresholdSource)
                parameters.threshold = threshold
                parameters.thresholdSource = kinds(source)
        self._panel.update_soon()

    @staticmethod
    def _setting(parameters: Any) -> tuple[str, float | None]:
        """What a person chose of the threshold: runs choose the other ones themselves."""
        source = parameters.thresholdSource.value
        return source, parameters.threshold if source == "manual" else None

    def react(self, parameters: Any) -> None:
        """Remember what has changed; while a point is dragged, its way is no step."""
        if self._panel.seeds.dragging:
            return
        lists = [*vessels_of(parameters), parameters.backgroundSeeds]
        self._history.record([each for each in lists if each], self._setting(parameters))

    def show(self, parameters: Any) -> None:
        nothing = _("Nothing to take back.")
        self._panel.enable(self.ui.undoSeedButton, "" if self._history.can_undo else nothing)
        nothing = _("Nothing was taken back.")
        self._panel.enable(self.ui.redoSeedButton, "" if self._history.can_redo else nothing)

    def forget(self) -> None:
        """The lists are gone."""
        self._forget()

    def _forget(self) -> None:
        self._history = ClickHistory(self._put)
        self._removed: dict[Any, RemovedVessel] = {}
