"""Work that follows the mouse: in a thread, and only for the latest inputs."""

import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import qt
import slicer

from ..errors import Cancelled

# The interpreter belongs to the window's thread, which lends it for so long between two rounds of
# events: what the mouse waits at most.
LENT = 0.008  # seconds
# A step that is overtaken ends first if it takes no longer than this, so that something is seen
# while the mouse moves; a longer one is cancelled, as its result would come too late.
PATIENCE = 0.3  # seconds
WORKING, RUNS = "fuzzyVesselGPUWorking", "fuzzyVesselGPURuns"  # of `slicer.modules`


class LatestRun:
    """Computes something anew whenever its inputs change, and skips those that are overtaken.

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
        self._wanted = self._cancelled = self._dropped = False
        self._future: Future | None = None
        self._begun = 0.0
        self._pool: ThreadPoolExecutor | None = None
        self._timer = qt.QTimer()
        self._timer.setInterval(0)
        self._timer.connect("timeout()", self._go_on)

    @property
    def working(self) -> bool:
        return self._future is not None

    @property
    def pending(self) -> bool:
        """Whether it works, or is about to."""
        return self._wanted or self.working

    def request(self) -> None:
        """The inputs have changed."""
        self._wanted = True
        if self.working and time.perf_counter() - self._begun > PATIENCE:
            self._cancelled = True
        self._timer.start()

    def stop(self) -> None:
        """Nothing is wanted any more; what still works is told to end and not shown."""
        self._wanted, self._cancelled, self._dropped = False, True, True

    def _go_on(self) -> None:
        if self._future is not None:
            if not ended(self._future):
                return
            self._finish()
        others = getattr(slicer.modules, RUNS, ())  # runs of panels
        if self._wanted and not _working() and not any(run.active for run in others):
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
        self._pool = self._pool or ThreadPoolExecutor(1)
        _working().add(self)
        self._future = self._pool.submit(self._work, inputs, lambda _share: not self._cancelled)

    def _finish(self) -> None:
        future, self._future = self._future, None
        _working().discard(self)
        if future is None or self._dropped:
            return
        error = future.exception()
        if error is None:
            self._show(future.result())
        elif isinstance(error, Exception) and not isinstance(error, Cancelled):
            self._fail(error)


def wait_for_latest_runs(handle_events: Callable[[], Any]) -> None:
    """End all work of this kind, so that the cores are free; events are handled meanwhile."""
    for run in list(_working()):
        run.stop()
        while run.working:
            if run._future is None or ended(run._future):
                run._finish()
            handle_events()


def ended(future: Future) -> bool:
    """Wait a moment for a future; returns whether it has ended."""
    try:
        future.exception(LENT)
    except TimeoutError:
        return False
    return True


def _working() -> "weakref.WeakSet[LatestRun]":
    """Those that work now, in a place that outlives Reload of a module."""
    if not hasattr(slicer.modules, WORKING):
        setattr(slicer.modules, WORKING, weakref.WeakSet())
    return getattr(slicer.modules, WORKING)
