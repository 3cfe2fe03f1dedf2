"""What numba writes to the log."""

import logging


def quiet_numba():
    """Let numba log warnings only, unless somebody chose a level for it.

    Its logger inherits the root logger's level, which is DEBUG in Slicer: each compiled function
    then writes thousands of lines, and compiling takes three times as long.
    """
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
