"""Stages of a job: their progress on a terminal, and their seconds."""

import sys
from time import perf_counter
from typing import Any

from tqdm import tqdm


class Progress:
    """Shows the stage and its share done on standard error, if that is a terminal.

    `seconds` holds what each finished stage took.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._name = ""
        self._began = perf_counter()
        self._bar: Any = None

    def stage(self, name: str) -> None:
        """End the current stage and begin another one; an empty name only ends it."""
        now = perf_counter()
        if self._name:
            self.seconds[self._name.lower()] = now - self._began
        self._name, self._began = name, now
        self.clear()
        if name:
            self(0.0)

    def __call__(self, share: float) -> bool:
        """Show the share done (0..1) of the current stage; return True: go on."""
        if self._bar is None:
            self._bar = tqdm(
                total=100, desc=self._name, disable=None, leave=False, miniters=1, mininterval=0,
                ascii=".#", bar_format="{desc:<24} [{bar:30}] {percentage:3.0f} %", file=sys.stderr,
            )  # fmt: skip
        if not self._bar.disable:
            self._bar.update(round(100 * min(max(share, 0.0), 1.0)) - self._bar.n)
        return True

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
