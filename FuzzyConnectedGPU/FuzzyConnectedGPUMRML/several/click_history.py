"""Undo and redo of every click: the points of all lists, their removal, and the threshold."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..point_history import PointStates

STEPS = 50


class _State(NamedTuple):
    """The points of each list by its ID, the setting, and the lists that were removed."""

    points: dict[str, tuple]
    setting: Any
    removed: frozenset[str]


def _put_nothing(_node: Any, _there: bool) -> None:
    """Lists that are gone stay so."""


class ClickHistory:
    """The earlier and later states of all lists of points and of a setting.

    One step is what changed between two calls of `record`: so a point that goes from one list to
    another one is one step. A list that is chosen, or that leaves the scene by itself, is none; a
    list that `removed` names is one.

    Parameters
    ----------
    put : callable, optional
        ``put(node, there)`` brings a list back that was removed, or removes it again.
    """

    def __init__(self, put: Callable[[Any, bool], None] = _put_nothing) -> None:
        self._put = put
        self._lists: dict[str, PointStates] = {}
        self._states: list[_State] = []
        self._removed: frozenset[str] = frozenset()
        self._at, self._going = -1, False

    def removed(self, node: Any) -> None:
        """A list was removed on purpose: the next call of `record` makes a step of it."""
        if node.GetID() in self._lists:
            self._removed |= {node.GetID()}

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
        if self._going:
            return False
        for node in lists:
            if node.GetID() not in self._lists:
                states = self._lists[node.GetID()] = PointStates(node)
                for state in self._states:
                    state.points[node.GetID()] = states.now()
        now = {node.GetID(): self._lists[node.GetID()].now() for node in lists}
        if not self._states:
            self._states, self._at = [_State(now, setting, self._removed)], 0
            return False
        before = self._states[self._at]
        same = setting == before.setting and self._removed == before.removed
        if same and all(before.points[each] == points for each, points in now.items()):
            return False
        self._states = self._states[max(self._at + 1 - STEPS, 0) : self._at + 1]
        self._states.append(_State({**before.points, **now}, setting, self._removed))
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
            return self._states[self._at].setting if self._states else None
        self._at += step
        state = self._states[self._at]
        put, self._removed = sorted(self._removed ^ state.removed), state.removed
        self._going = True  # who observes the lists may call `record` in the middle
        try:
            for each in put:
                self._put(self._lists[each].node, each not in state.removed)
            for each, points in state.points.items():
                if slicer.mrmlScene.IsNodePresent(self._lists[each].node):
                    self._lists[each].restore(points)
        finally:
            self._going = False
        return state.setting
