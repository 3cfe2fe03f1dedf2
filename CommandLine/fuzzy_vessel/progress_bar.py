"""Stages of a job: their progress on a terminal (tqdm) and their seconds."""

import sys
from time import perf_counter
from typing import Any, TextIO

from tqdm import tqdm


class ProgressBar:
    """Shows the stage and its share done on a stream (standard error), if that is a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._name = ""
        self._bar: Any = None

    def stage(self, name: str) -> None:
        """Begin a stage."""
        self._name = name
        self.clear()
        self(0.0)

    def __call__(self, share: float) -> bool:
        """Show the share done (0..1) of the current stage; return True: go on."""
        if self._bar is None:
            # The stream is looked up for each stage: VTK's messages are caught by exchanging it.
            self._bar = tqdm(
                total=100, desc=self._name, file=self._stream or sys.stderr, disable=None,
                leave=False, miniters=1, mininterval=0, ascii=".#",
                bar_format="{desc:<24} [{bar:30}] {percentage:3.0f} %",
            )  # fmt: skip
        if not self._bar.disable:
            self._bar.update(round(100 * min(max(share, 0.0), 1.0)) - self._bar.n)
        return True

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Stopwatch:
    """Times stages that follow each other (`seconds`), and names them on the progress bar."""

    def __init__(self, progress: ProgressBar) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self._began = perf_counter()
        self._name: str | None = None

    def stage(self, name: str | None) -> None:
        """End the running stage and begin the next; without a name there is none."""
        now = perf_counter()
        if self._name:
            self.seconds[self._name.lower()] = now - self._began
        self._name, self._began = name, now
        if name:
            self.progress.stage(name)
