"""Progress callbacks: how a long run tells where it stands, and how it is cancelled."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .errors import Cancelled

LOOK = 0.05  # seconds between two looks at the progress callback


def reporter(progress):
    """Return ``report(fraction)``, which raises `Cancelled` where `progress` asks for it.

    Parameters
    ----------
    progress : callable or None
        ``progress(fraction) -> bool``; False cancels, and a callback without a result does not.
    """

    def report(fraction):
        if progress is None:
            return
        go_on = progress(float(fraction))
        if go_on is not None and not go_on:  # numpy's False is not Python's
            raise Cancelled("Cancelled; nothing was changed.")

    return report


def ask_while(report, work, *args):
    """The result of ``work(*args, stop)``, which runs in a thread of its own; `report` is asked.

    Parameters
    ----------
    report : callable or None
        Called while the work goes on; what it raises is raised when the work has ended.
    work : callable
        Compiled code that lets go of the interpreter. It is to end early when ``stop[0]``, of an
        array of uint8, is not 0.
    """
    stop = np.zeros(1, np.uint8)
    if report is None:
        return work(*args, stop)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(work, *args, stop)
        try:
            while True:
                try:
                    return result.result(LOOK)
                except TimeoutError:
                    report()
        except BaseException:
            stop[0] = 1
            raise
