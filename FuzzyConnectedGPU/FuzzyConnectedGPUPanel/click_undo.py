"""Undo and redo of all clicks while the module is open, with Slicer's keys."""

from collections.abc import Callable
from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.history import ClickHistory, RemovedVessel
from FuzzyConnectedGPUMRML.vessels import vessels_of


class ClickUndo:
    """Points placed, moved, deleted and given away, branches handed over, vessels, thresholds.

    It comes after all other sections, so that one act of a person is one step. Each volume has a
    history of its own.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.forget()
        self.ui.undoSeedButton.connect("clicked()", self.undo)
        self.ui.redoSeedButton.connect("clicked()", self.redo)

    @property
    def _history(self) -> ClickHistory:
        parameters = self._panel.parameters
        volume = parameters.inputVolume if parameters is not None else None
        return self._histories.setdefault(volume and volume.GetID(), ClickHistory(self._put))

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
        self._go(ClickHistory.undo)

    def redo(self) -> None:
        """Make the click again that was taken back last."""
        self._go(ClickHistory.redo)

    def _go(self, step: Callable[[ClickHistory], Any]) -> None:
        parameters = self._panel.parameters
        if parameters is None:
            return
        self.react(parameters)
        setting = step(self._history)
        source, threshold = setting
        if setting != self._setting(parameters):
            if threshold is None:
                self._panel.threshold.choose_by(source)
            else:
                parameters.threshold = threshold
                parameters.thresholdSource = type(parameters.thresholdSource)(source)
        self._panel.update_soon()

    @staticmethod
    def _setting(parameters: Any) -> tuple[str, float | None]:
        """What a person chose of the threshold: runs choose the other ones themselves."""
        source = parameters.thresholdSource.value
        return source, parameters.threshold if source == "manual" else None

    def react(self, parameters: Any) -> None:
        """Remember what has changed; while a point is dragged, its way is no step."""
        if not self._panel.seeds.dragging:
            lists = [*vessels_of(parameters), parameters.backgroundSeeds]
            self._history.record([each for each in lists if each], self._setting(parameters))

    def show(self, parameters: Any) -> None:
        why = "" if self._history.can_undo else _("Nothing to take back.")
        self._panel.enable(self.ui.undoSeedButton, why)
        why = "" if self._history.can_redo else _("Nothing was taken back.")
        self._panel.enable(self.ui.redoSeedButton, why)

    def forget(self) -> None:
        """The lists are gone."""
        self._histories: dict[Any, ClickHistory] = {}
        self._removed: dict[Any, RemovedVessel] = {}
