"""JIT warm-up: a trial run in a thread, begun as soon as it is known what will be run."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..compilation import prepare_numba
from ..progress import Progress

POLL_INTERVAL = 0.05  # seconds between two checks of the progress

# numba compiles for one thread at a time: two of them would only wait for each other.
_one_at_a_time = threading.Lock()


class WarmUp:
    """Some work that is done once in this process, in a thread.

    A run that is cancelled does not wait for that thread; the next run does. Errors of the work are
    not passed on: the run that follows meets them again.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work, self._lock = work, threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start the thread, unless that was done before or numba cannot be imported (yet).

        numba is imported here, not by the thread: where two threads import it, each can wait for
        the other for ever, as its locks and those of the imports are taken in either order.
        """
        prepare_numba()
        try:
            import numba  # noqa: F401
        except ImportError:  # also one that knows no NumPy as new as this: the run tells
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def wait(self, progress: Progress) -> None:
        """Wait until the thread has ended, if it was started; the thread itself does not wait.

        `Cancelled` where the progress callback returns False; the thread goes on.
        """
        thread = self._thread
        while thread not in (None, threading.current_thread()) and thread.is_alive():
            progress.check()
            thread.join(POLL_INTERVAL)

    def _run(self) -> None:
        with _one_at_a_time, suppress(Exception):
            self._work()
