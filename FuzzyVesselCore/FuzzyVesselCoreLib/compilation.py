"""Code compiled by numba: a missing numba is named, and numba's logger kept quiet."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import DeviceError


@contextmanager
def needs_numba() -> Iterator[None]:
    """Guard the import of a compiled module.

    Raises
    ------
    DeviceError
        If numba is not installed.
    """
    quiet_numba()
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise DeviceError(
            "This is computed by code that numba compiles, and numba is not installed: pip install "
            "numba (a panel of the extension asks before it installs it)."
        ) from error


def quiet_numba() -> None:
    """Set the level of numba's logger to WARNING, unless it was set before.

    The logger inherits the root logger's level, which is DEBUG in Slicer: each compiled function
    then writes thousands of lines, and compiling takes three times as long.
    """
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
