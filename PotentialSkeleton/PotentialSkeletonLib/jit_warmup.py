"""The first use in a process, in which numba loads its compiled code, or makes it.

That takes a second, and up to a minute where the code was never compiled on the machine. So a small
solid is worked on in a thread of its own, and meanwhile the progress callback is asked. Where a run
is cancelled nobody waits for that thread; the next run does, as numba's parallel loops must not run
in two threads at a time on every machine.
"""

import threading
from contextlib import suppress

import numpy as np

LOOK = 0.05  # seconds between two looks at the progress callback
SPACING = (1.5, 1.0, 1.0)

_lock = threading.Lock()
_threads: list[threading.Thread] = []  # the one that was begun


def make_ready(work, report):
    """Run `work` once in this process; ask `report` until it has ended.

    Parameters
    ----------
    work : callable
        Its errors are not passed on: the run that follows meets them again.
    report : callable
        Called with 0.0; raises to cancel.
    """
    with _lock:
        if not _threads:
            _threads.append(threading.Thread(target=_run, args=(work,), daemon=True))
            _threads[0].start()
    wait_until_ready(report)


def wait_until_ready(report):
    """Ask `report` until the thread has ended, if one was begun."""
    while _threads and _threads[0].is_alive():
        report(0.0)
        _threads[0].join(LOOK)


def _run(work):
    with suppress(Exception):
        work()


def small_object():
    """A ball with a cavity, a bent limb, a ring and an island (bool, K, J, I)."""
    k, j, i = np.indices((34, 40, 56))
    ball = (k - 16) ** 2 + (j - 14) ** 2 + (i - 14) ** 2 <= 81
    cavity = (k - 16) ** 2 + (j - 10) ** 2 + (i - 9) ** 2 <= 2
    limb = (k - 16 - i // 9) ** 2 + (j - 14) ** 2 <= 9
    across = np.hypot(j - 26, i - 40)
    ring = (k - 20) ** 2 + (across - 9) ** 2 <= 12
    island = (k <= 1) & (j <= 1) & (i <= 1)
    return (ball & ~cavity) | (limb & (i > 10) & (i < 54)) | ring | island
