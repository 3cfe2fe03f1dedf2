"""Seconds of each named stage of a run, on top of its `Progress`."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from FuzzyVesselCoreLib.progress import Progress


class Stages:
    """Times stages, each a part of a run or of a part of it.

    Parameters
    ----------
    progress : Progress
        Of the run.

    Attributes
    ----------
    seconds : dict of str to float
        Of all stages so far, those of one name added up.

    Examples
    --------
    >>> shares = []
    >>> stages = Stages(Progress(shares.append))
    >>> with stages.part(0.5, 1.0).stage("thinning", 0.0, 0.5) as progress:
    ...     progress.advance(1.0)
    >>> shares
    [0.5, 0.75]
    >>> list(stages.seconds)
    ['thinning']
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}

    def part(self, start: float, end: float) -> "Stages":
        """Stages of a part of the run; their seconds count in `seconds`."""
        part = Stages(self.progress.part(start, end))
        part.seconds = self.seconds
        return part

    @contextmanager
    def stage(self, name: str, start: float, end: float) -> Iterator[Progress]:
        """Time a stage; it gets its own part of the progress."""
        progress = self.progress.part(start, end)
        progress.advance(0.0)
        began = perf_counter()
        yield progress
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began
