"""Runs that follow the points by themselves."""

import time
from typing import Any

import qt

REST = 60  # milliseconds from a change to its run: several changes make one
# A run that takes no longer than this ends before the next one begins, so that something is seen
# while the mouse moves; a longer one is cancelled, as its result would come too late.
PATIENCE = 3.0  # seconds


class AutomaticUpdate:
    """Lets the result follow the points and settings, one run at a time."""

    def __init__(self, panel: Any) -> None:
        self._panel, self._again = panel, False
        self._inputs: str | None = None  # of the run that was begun last
        self._begun: float | None = None  # when the run that goes on read its inputs
        self._timer = qt.QTimer()
        self._timer.setSingleShot(True)
        self._timer.setInterval(REST)
        self._timer.connect("timeout()", self._follow)

    @property
    def pending(self) -> bool:
        """Whether a run is about to begin."""
        return self._again or bool(self._timer.active)

    def begin(self, text: str) -> None:
        """A run of these inputs begins, whoever asked for it."""
        self._inputs, self._begun = text, time.perf_counter()

    def lost(self) -> None:
        """The run that goes on is cancelled, and not by the user: its inputs want another one."""
        self._inputs = None

    def react(self, parameters: Any) -> None:
        """Start a run where the user wants that and something has changed."""
        panel = self._panel
        if not panel.running.active:
            self._begun = None
        if not parameters.autoUpdate or panel.seeds.finding or panel.why_not():
            return
        if panel.live.follows:
            return  # the result comes when the point is let go
        text = panel.state_text()
        if text == self._inputs:
            return
        if panel.running.active:
            if self._begun is None:
                return  # it has yet to read its inputs
            self._again = True
            waited = time.perf_counter() - self._begun
            if max(waited, panel.running.seconds) > PATIENCE:
                panel.running.cancel()
        elif not panel.is_current() and not self._timer.active:
            self._timer.start()

    def _follow(self) -> None:
        panel = self._panel
        if panel.parameters is None or panel.running.busy or panel.closed or panel.why_not():
            return
        self._again = False
        panel.apply_quietly()
        if self._again:
            self._timer.start()

    def forget(self) -> None:
        """The scene is closed, or the panel ends."""
        self._timer.stop()
        self._inputs, self._begun, self._again = None, None, False
