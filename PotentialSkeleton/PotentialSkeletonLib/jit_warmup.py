"""JIT warm-up: numba's code is compiled, or loaded from its cache, before the first run.

That takes a second, and up to a minute where the code was never compiled on the machine. So a small
object is worked on in a thread, and meanwhile the progress callback is called. A run that is
cancelled does not wait for that thread; the next run does, as numba's parallel loops must not run
in two threads at a time on every machine.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

POLL_INTERVAL = 0.05  # seconds between two calls of the progress callback
SPACING = (1.5, 1.0, 1.0)

_lock = threading.Lock()
_threads: list[threading.Thread] = []  # at most one


def warm_up(work: Callable[[], Any], progress: Progress) -> None:
    """Run `work` once in this process, in a thread, and wait until it has ended.

    Parameters
    ----------
    work : callable
        Its errors are not passed on: the run that follows meets them again.
    progress : Progress
        Checked while it runs.

    Raises
    ------
    Cancelled
        The progress callback returned False; the thread goes on.
    """
    with _lock:
        if not _threads:
            _threads.append(threading.Thread(target=_run, args=(work,), daemon=True))
            _threads[0].start()
    wait_for_warm_up(progress)


def wait_for_warm_up(progress: Progress) -> None:
    """Wait until the thread has ended, if one was started; the progress is checked."""
    while _threads and _threads[0].is_alive():
        progress.check()
        _threads[0].join(POLL_INTERVAL)


def _run(work: Callable[[], Any]) -> None:
    with suppress(Exception):
        work()


def small_object() -> np.ndarray:
    """Return a ball with a cavity, a bent branch, a ring and an island (bool, K, J, I)."""
    k, j, i = np.indices((34, 40, 56))
    ball = (k - 16) ** 2 + (j - 14) ** 2 + (i - 14) ** 2 <= 81
    cavity = (k - 16) ** 2 + (j - 10) ** 2 + (i - 9) ** 2 <= 2
    branch = (k - 16 - i // 9) ** 2 + (j - 14) ** 2 <= 9
    across = np.hypot(j - 26, i - 40)
    ring = (k - 20) ** 2 + (across - 9) ** 2 <= 12
    island = (k <= 1) & (j <= 1) & (i <= 1)
    return (ball & ~cavity) | (branch & (i > 10) & (i < 54)) | ring | island
