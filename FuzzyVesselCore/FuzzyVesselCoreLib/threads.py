"""How many threads to work with."""

import os


def thread_count():
    """For copying and converting large arrays: at most 8, as more are bound by the memory."""
    return min(usable_cores(), 8)


def usable_cores():
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
