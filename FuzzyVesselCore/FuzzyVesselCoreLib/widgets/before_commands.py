"""What is to be done before a command of Slicer's Python console reads the scene."""

from collections.abc import Callable

import slicer

SIGNAL = "aboutToExecute(QString)"


class BeforeCommands:
    """Calls a function before each command, where there is a console.

    Parameters
    ----------
    function : callable
        Without arguments; what it raises is shown in the console, and the command is run.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._console = getattr(slicer.app, "pythonConsole", lambda: None)()
        if self._console is not None:
            self._console.connect(SIGNAL, self._call)

    def end(self) -> None:
        """Call it no more."""
        if self._console is not None:
            self._console.disconnect(SIGNAL, self._call)
            self._console = None

    def _call(self, _command: str) -> None:
        self._function()
