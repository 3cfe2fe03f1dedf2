"""How long each stage of a job takes."""

from time import perf_counter


class Stopwatch:
    """Times stages that follow each other, and tells the progress bar their names.

    Attributes
    ----------
    progress : ProgressBar
    seconds : dict of str to float
        Of the stages that have ended, in their order.
    """

    def __init__(self, progress):
        self.progress = progress
        self.seconds = {}
        self._began = perf_counter()
        self._name = None

    def stage(self, name):
        """End the running stage and begin the next; without a name there is none."""
        now = perf_counter()
        if self._name:
            self.seconds[self._name.lower()] = now - self._began
        self._name, self._began = name, now
        if name:
            self.progress.stage(name)
