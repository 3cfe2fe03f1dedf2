"""Progress as Slicer reads it from the standard output of a CLI module."""

import sys
from typing import TextIO

from ..progress_bar import ProgressBar

# Share of the whole at which a stage begins and ends; the others belong to the end.
STAGES = {
    "Reading": (0.0, 0.1),
    "Finding seeds": (0.1, 0.3),
    "Computing connectedness": (0.3, 0.9),
    "Finding centrelines": (0.1, 0.9),
}
LAST = (0.9, 1.0)
STEP = 0.01


class FilterProgress(ProgressBar):
    """Writes `<filter-progress>`, which never falls.

    Parameters
    ----------
    stream : file, optional
        Standard output by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream or sys.stdout)
        self._first, self._last = 0.0, 0.0
        self._written = -1.0

    def stage(self, name: str) -> None:
        """Begin a stage."""
        self._first, self._last = STAGES.get(name, LAST)
        self._write(f"<filter-comment>{name}</filter-comment>")
        self(0.0)

    def __call__(self, share: float) -> bool:
        """Report the share done (0..1) of the stage; return True: go on."""
        share = min(max(share, 0.0), 1.0)
        done = max(self._first + share * (self._last - self._first), self._written)
        if done >= self._written + STEP or self._written < 0 or done == 1 != self._written:
            self._written = done
            self._write(f"<filter-progress>{done:.3f}</filter-progress>")
        return True

    def clear(self) -> None:
        """There is nothing to take off a terminal."""

    def _write(self, line):
        print(line, file=self._stream, flush=True)
