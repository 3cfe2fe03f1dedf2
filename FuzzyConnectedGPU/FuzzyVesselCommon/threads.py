"""How many threads copy and convert large arrays."""

import os


def thread_count():
    """As many as there are processors, at most 8: more are bound by the memory."""
    return min(os.cpu_count() or 1, 8)
