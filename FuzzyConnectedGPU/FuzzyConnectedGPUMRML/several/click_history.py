"""Undo and redo of every click: the points of all lists together, and the threshold."""

from collections.abc import Sequence
from typing import Any

from ..point_history import PointStates

STEPS = 50


class ClickHistory:
    """The earlier and later states of all lists of points and of a setting.

    One step is what changed between two calls of `record`: so a point that goes from one list to
    another one is one step. A list that is chosen, or that leaves the scene, is none.
    """

    def __init__(self) -> None:
        self._lists: dict[str, PointStates] = {}
        self._states: list[tuple[dict[str, tuple], Any]] = []
        self._at = -1

    def record(self, lists: Sequence[Any], setting: Any = None) -> bool:
        """Remember what is now.

        Parameters
        ----------
        lists : sequence of vtkMRMLMarkupsNode
        setting : object, optional
            Compared by ``==``, such as the threshold that a person chose.

        Returns
        -------
        bool
            Whether it differs from the last step.
        """
        for node in lists:
            if node.GetID() not in self._lists:
                states = self._lists[node.GetID()] = PointStates(node)
                for points, _setting in self._states:
                    points[node.GetID()] = states.now()
        now = {node.GetID(): self._lists[node.GetID()].now() for node in lists}
        if not self._states:
            self._states, self._at = [(now, setting)], 0
            return False
        points, before = self._states[self._at]
        if setting == before and all(points[each] == state for each, state in now.items()):
            return False
        self._states = self._states[max(self._at + 1 - STEPS, 0) : self._at + 1]
        self._states.append(({**points, **now}, setting))
        self._at = len(self._states) - 1
        return True

    @property
    def can_undo(self) -> bool:
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        return self._at + 1 < len(self._states)

    def undo(self) -> Any:
        """Put the lists back to the step before; returns the setting of that step."""
        return self._go(-1)

    def redo(self) -> Any:
        """Put the lists forward to the step that was taken back; returns its setting."""
        return self._go(1)

    def _go(self, step: int) -> Any:
        import slicer

        if not 0 <= self._at + step < len(self._states):
            return self._states[self._at][1] if self._states else None
        self._at += step
        points, setting = self._states[self._at]
        for each, state in points.items():
            if slicer.mrmlScene.IsNodePresent(self._lists[each].node):
                self._lists[each].restore(state)
        return setting
