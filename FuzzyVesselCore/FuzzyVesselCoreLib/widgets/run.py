"""Runs of a panel, and work in a thread that follows the mouse."""

import sys
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from ..compilation import load_numba
from ..errors import Cancelled
from ..progress import Progress

# The window's thread holds Python's lock. Between two rounds of events it waits, and so releases
# the lock, for this long: what the mouse waits at most.
EVENT_WAIT = 0.008  # seconds
# A step that is overtaken ends first if it takes no longer than this, so that something is seen
# while the mouse moves; a longer one is cancelled, as its result would come too late.
CANCEL_AFTER = 0.3  # seconds
# Of all panels; Reload of a module leaves this package loaded, so that they stay the same.
_working: "weakref.WeakSet[LatestRun]" = weakref.WeakSet()
_panel_runs: "weakref.WeakSet[PanelRun]" = weakref.WeakSet()


class LatestRun:
    """Recomputes a result whenever its inputs change, and skips inputs that are out of date.

    ``read() -> inputs``, ``show(result)`` and ``fail(error)``, for what `read` and `work` raise,
    are called in the window's thread; ``work(inputs, progress) -> result`` in another one: it
    touches no nodes and no widgets, and ends where ``progress(share)`` returns False.
    """

    def __init__(
        self,
        read: Callable[[], Any],
        work: Callable[[Any, Callable[[float], bool]], Any],
        show: Callable[[Any], None],
        fail: Callable[[Exception], None],
    ) -> None:
        self._read, self._work, self._show, self._fail = read, work, show, fail
        # A run is requested; the one that is computing shall end; its result shall not be shown.
        self._wanted = self._cancelled = self._dropped = False
        self._future: Future | None = None
        self._begun = 0.0
        self._pool = ThreadPoolExecutor(1)
        self._timer = qt.QTimer()
        self._timer.connect("timeout()", self._go_on)

    @property
    def working(self) -> bool:
        """Whether a run is computing."""
        return self._future is not None

    @property
    def pending(self) -> bool:
        """Whether a run is requested or computing."""
        return self._wanted or self.working

    def request(self) -> None:
        """The inputs have changed."""
        self._wanted = True
        if self.working and time.perf_counter() - self._begun > CANCEL_AFTER:
            self._cancelled = True
        self._timer.start()

    def stop(self) -> None:
        """Cancel: what is still running is told to end, and its result is not shown."""
        self._wanted, self._cancelled, self._dropped = False, True, True

    def _go_on(self) -> None:
        if self._future is not None:
            if not ended(self._future):
                return
            self._finish()
        busy = _working or any(run.active for run in _panel_runs)
        if self._wanted and not busy:
            self._begin()
        if not self.pending:
            self._timer.stop()

    def _begin(self) -> None:
        self._wanted = self._cancelled = self._dropped = False
        self._begun = time.perf_counter()
        try:
            inputs = self._read()
        except Exception as error:
            self._fail(error)
            return
        _working.add(self)
        self._future = self._pool.submit(self._work, inputs, lambda _share: not self._cancelled)

    def _finish(self) -> None:
        future, self._future = self._future, None
        _working.discard(self)
        if future is None or self._dropped:
            return
        error = future.exception()
        if error is None:
            self._show(future.result())
        elif isinstance(error, Exception) and not isinstance(error, Cancelled):
            self._fail(error)


def _end_latest_runs() -> None:
    """End all work of this kind, so that the cores are free; events are handled meanwhile.

    What was ended begins again after the run that waits, unless its owner stops it.
    """
    for run in list(_working):
        run.stop()
        run.request()
        while run.working:
            if run._future is None or ended(run._future):
                run._finish()
            slicer.app.processEvents()


def ended(future: Future) -> bool:
    """Wait a moment for a future; returns whether it has ended."""
    return bool(wait([future], EVENT_WAIT).done)


# ---- One run of a panel: it shows its progress, keeps the window alive, and can be cancelled

ROUND = 0.03  # seconds between two rounds of events, at least
STEPS = 1000  # of the progress bar


class PanelRun:
    """A panel's run, if there is one: one at a time in the panels of all modules together.

    As a context it shows the bar (QProgressBar) and gives the run's `Progress`. While events are
    handled anything can happen: nodes are removed, the scene or the panel is closed, Apply is
    pressed again. `changed` is called when a run begins and ends, also that of another panel; the
    title is the module's, for the other one's panel.
    """

    def __init__(self, bar: Any, changed: Callable[[], None], title: str = "") -> None:
        self._bar, self._changed, self.title = bar, changed, title
        bar.setRange(0, STEPS)
        policy = bar.sizePolicy
        policy.setRetainSizeWhenHidden(True)
        bar.setSizePolicy(policy)
        bar.setVisible(False)
        self._cancelled = self._left = False
        self._ran = False  # a first run compiles its code, too
        self.active, self.seconds = False, 0.0
        _panel_runs.add(self)

    @property
    def busy(self) -> bool:
        """Whether any run is in progress, in this panel or in another one."""
        return any(run.active for run in _panel_runs)

    def why_busy(self) -> str:
        """Which run is in progress, as a sentence; an empty text where none is."""
        if self.active:
            return _("A run is in progress.")
        for run in _panel_runs:
            if run.active:
                text = _("{title} is running: wait, or cancel it there.")
                return text.format(title=run.title)
        return ""

    def cancel(self) -> None:
        """End the run at its next step."""
        self._cancelled = True

    def leave(self) -> None:
        """The widgets are about to end: cancel, and touch them no more."""
        self._cancelled = self._left = True

    def __enter__(self) -> Progress:
        if self.busy:
            raise RuntimeError("a run is going on")
        self.active, self._cancelled = True, False
        _end_latest_runs()
        self._start = self._round = time.perf_counter()
        self._show(0.0)
        self._bar.setVisible(True)
        self._tell()
        # Painted at once, without handling any other event.
        qt.QCoreApplication.sendPostedEvents()
        panel = self._bar.parentWidget()
        if panel is not None:
            panel.repaint()
        return Progress(self._report, self._in_thread)

    def __exit__(self, *_error: object) -> None:
        self.active = False
        self.seconds = time.perf_counter() - self._start
        if not self._left:
            self._bar.setVisible(False)
        self._tell()

    def _tell(self) -> None:
        """Tell all panels; an error in one of them ends no run."""
        for run in list(_panel_runs):
            if not run._left:
                try:
                    run._changed()
                except Exception:
                    sys.excepthook(*sys.exc_info())

    def _report(self, fraction: float) -> bool:
        """Show how far the run is and handle events; returns False after Cancel."""
        now = time.perf_counter()
        if now - self._round >= ROUND and not self._left:
            self._show(fraction)
            slicer.app.processEvents()
            self._round = time.perf_counter()
        return not self._cancelled

    def _in_thread(
        self, work: Callable[[Callable[[float], bool]], Any], progress: Callable[[float], Any]
    ) -> Any:
        """Call ``work(told)`` in another thread, and ``progress(share)`` here until it has ended.

        The work touches no node and no widget. ``told(share)`` says how far it is, and returns
        False once `progress`, which handles events, has raised an error.
        """
        latest, goes_on = 0.0, True

        def told(share: float) -> bool:
            nonlocal latest
            latest = share
            return goes_on

        load_numba()
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(work, told)
            try:
                progress(latest)  # also where the work has ended already
                while not ended(future):
                    progress(latest)
            except BaseException:
                goes_on = False
                raise
        return future.result()

    def _show(self, fraction: float) -> None:
        step = round(STEPS * min(max(fraction, 0.0), 1.0))
        self._ran = self._ran or step > 0
        first = _("Preparing ...") if self._ran else _("Preparing (first use only) ...")
        text = "%p %" if step else first
        self._bar.setValue(step)
        self._bar.setFormat(f"{text}   {clock(time.perf_counter() - self._start)}")


def clock(seconds: float) -> str:
    """Write seconds as minutes and seconds: 75 is 1:15."""
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}:{seconds:02}"
