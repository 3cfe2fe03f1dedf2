"""A progress bar on a terminal; nothing at all in a pipe."""

import sys

WIDTH = 30
NAME_WIDTH = 24


class ProgressBar:
    """Shows the stage and its fraction on standard error, if that is a terminal.

    Parameters
    ----------
    stream : file, optional
        Standard error by default.
    """

    def __init__(self, stream=None):
        self._stream = stream
        self._name = ""
        self._shown = None

    def stage(self, name):
        """Begin a stage."""
        self._name = name
        self(0.0)

    def __call__(self, fraction):
        """Show the fraction 0..1 of the current stage; return True: go on."""
        percent = round(100 * min(max(fraction, 0.0), 1.0))
        if (self._name, percent) != self._shown:
            self._shown = (self._name, percent)
            filled = WIDTH * percent // 100
            bar = "#" * filled + "." * (WIDTH - filled)
            self._write(f"\r{self._name:<{NAME_WIDTH}} [{bar}] {percent:3d} %")
        return True

    def clear(self):
        """Take the bar off the terminal."""
        if self._shown is not None:
            self._write("\r" + " " * (NAME_WIDTH + WIDTH + 9) + "\r")
            self._shown = None

    def _write(self, text):
        # Looked up each time: the standard streams are exchanged while libraries are kept quiet.
        stream = self._stream or sys.stderr
        if stream is not None and stream.isatty():
            stream.write(text)
            stream.flush()
