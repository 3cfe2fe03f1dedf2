"""One run of a panel: it shows how far it is, lets the window work, and can be cancelled."""

import time
import weakref

import qt
import slicer
from slicer.i18n import tr as _

# Events are handled this often, at most: between two steps of a run, never inside one.
ROUND = 0.03  # seconds
STEPS = 1000  # of the progress bar
RUNS = "fuzzyVesselGPURuns"


class Run:
    """A run that is going on, or none.

    One run goes on at a time, in the panels of both modules together. As a context it shows the
    bar; its `progress` is what the algorithms call back. While events are handled anything can
    happen: nodes are removed, the scene or the panel is closed, Apply is pressed again. The panel
    looks at `busy` before it starts another one.

    Parameters
    ----------
    bar : QProgressBar
        Shown while a run goes on.
    changed : callable
        Called without arguments when a run begins and ends, also that of another panel.

    Attributes
    ----------
    active : bool
    seconds : float
        How long the last run took.
    """

    def __init__(self, bar, changed):
        self._bar, self._changed = bar, changed
        self._bar.setRange(0, STEPS)
        self._bar.setVisible(False)
        self._cancelled = self._left = False
        self._ran = False  # a first run compiles its code, too
        self.active, self.seconds = False, 0.0
        _runs().add(self)

    @property
    def busy(self):
        """Whether any run goes on, of this panel or of another one."""
        return any(run.active for run in _runs())

    def cancel(self):
        """End the run at its next step."""
        self._cancelled = True

    def leave(self):
        """The widgets are about to end: cancel, and touch them no more."""
        self._cancelled = self._left = True

    def __enter__(self):
        if self.busy:
            raise RuntimeError("a run is going on")
        self.active, self._cancelled = True, False
        self._start = self._round = time.perf_counter()
        try:
            self._show(0.0)
            self._bar.setVisible(True)
            self._tell()
            self._paint()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *error):
        self._end()
        self._tell()

    def _end(self):
        self.active = False
        self.seconds = time.perf_counter() - self._start
        if not self._left:
            self._bar.setVisible(False)

    def _tell(self):
        for run in list(_runs()):
            if not run._left:
                run._changed()

    def progress(self, fraction):
        """Show how far the run is and handle events; returns False after Cancel."""
        now = time.perf_counter()
        if now - self._round >= ROUND and not self._left:
            self._show(fraction)
            slicer.app.processEvents()
            self._round = time.perf_counter()
        return not self._cancelled

    def _show(self, fraction):
        step = round(STEPS * min(max(fraction, 0.0), 1.0))
        self._ran = self._ran or step > 0
        text = _("Preparing ...") if self._ran else _("Preparing (first use only) ...")
        text = "%p %" if step else text
        self._bar.setValue(step)
        self._bar.setFormat(f"{text}   {clock(time.perf_counter() - self._start)}")

    def _paint(self):
        """Show the bar at once, without handling any other event."""
        qt.QCoreApplication.sendPostedEvents()
        panel = self._bar.parentWidget()
        if panel is not None:
            panel.repaint()


def _runs():
    """The runs of all panels, in a place that outlives Reload of a module."""
    if not hasattr(slicer.modules, RUNS):
        setattr(slicer.modules, RUNS, weakref.WeakSet())
    return getattr(slicer.modules, RUNS)


def clock(seconds):
    """Seconds as minutes and seconds: 75 is 1:15."""
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}:{seconds:02}"
