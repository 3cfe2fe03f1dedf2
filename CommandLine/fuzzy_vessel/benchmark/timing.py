"""Medians of repeated runs."""

from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True)
class Measured:
    """The seconds of each run after the warm-up, and what the last of them returned."""

    runs: list
    result: object

    @property
    def seconds(self):
        """The median."""
        return median(self.runs)


PATIENCE = 90.0  # seconds after which a slow run is not repeated again


def measure(run, repeats, wait=lambda: None):
    """Run once to warm up, then `repeats` times, fewer where that would take minutes.

    Parameters
    ----------
    run : callable
    repeats : int
    wait : callable
        Called before the clock is read, for example to wait for a card.
    """
    run()
    seconds, result = [], None
    while len(seconds) < repeats and sum(seconds) < PATIENCE:
        result = None  # so that two results are never held at a time
        wait()
        begin = perf_counter()
        result = run()
        wait()
        seconds.append(perf_counter() - begin)
    return Measured(seconds, result)


def measure_once(run):
    """A run without warm-up and repeats, for what takes minutes."""
    begin = perf_counter()
    result = run()
    return Measured([perf_counter() - begin], result)
