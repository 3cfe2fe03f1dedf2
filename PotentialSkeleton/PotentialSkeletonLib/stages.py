"""Where a long run stands: seconds of each stage, the share that is done, and cancelling."""

from contextlib import contextmanager
from time import perf_counter

from FuzzyVesselCoreLib.progress import reporter


class Stages:
    """Times named stages and passes the share done on to a progress callback.

    Parameters
    ----------
    progress : callable or None
        ``progress(fraction) -> bool``; False cancels.
    """

    def __init__(self, progress):
        self.seconds = {}
        self._report = reporter(progress)
        self._start, self._span = 0.0, 1.0  # the share of the run that the stages below make up
        self._stage_start, self._stage_span = 0.0, 0.0
        self._fraction = 0.0

    def part(self, start, span):
        """The next stages together are the share `start` to `start + span` of the run."""
        self._start, self._span = start, span

    @contextmanager
    def __call__(self, name, start, span):
        """Time a stage that is the share `start` to `start + span` of the current part."""
        self._stage_start = self._start + start * self._span
        self._stage_span = span * self._span
        self.tick(0.0)
        began = perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began

    def tick(self, share=None):
        """Report the share of the current stage that is done; raises `Cancelled`."""
        if share is not None:
            fraction = self._stage_start + share * self._stage_span
            self._fraction = float(min(max(self._fraction, fraction), 1.0))
        self._report(self._fraction)

    def pass_on(self, share):
        """The progress callback for a function that reports shares of its own."""
        self.tick(share)
        return True
