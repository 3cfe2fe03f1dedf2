"""Medians of repeated runs."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from FuzzyVesselCoreLib.gpu.early_compilation import wait_for_drafts


@dataclass(frozen=True)
class Measured:
    """The seconds of each run after the warm-up, and what the last of them returned."""

    runs: list[float]
    result: Any

    @property
    def seconds(self) -> float:
        """The median."""
        return median(self.runs)


PATIENCE = 90.0  # seconds after which a slow run is not repeated again


def measure(
    run: Callable[[], Any], repeats: int, wait: Callable[[], Any] = lambda: None
) -> Measured:
    """Run once to warm up, then `repeats` times, fewer where that would take minutes.

    Parameters
    ----------
    run : callable
    repeats : int
    wait : callable
        Called before the clock is read, for example to wait for the GPU.
    """
    run()
    wait_for_drafts()
    seconds: list[float] = []
    result = None
    while len(seconds) < repeats and sum(seconds) < PATIENCE:
        result = None  # so that two results are never held at a time
        wait()
        begin = perf_counter()
        result = run()
        wait()
        seconds.append(perf_counter() - begin)
    return Measured(seconds, result)


def measure_once(run: Callable[[], Any]) -> Measured:
    """A run without warm-up and repeats, for what takes minutes."""
    begin = perf_counter()
    result = run()
    return Measured([perf_counter() - begin], result)
