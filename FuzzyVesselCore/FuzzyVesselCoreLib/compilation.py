"""Code compiled by numba: a missing numba is named, its logger kept quiet, stale code forgotten."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import DeviceError
from .jit.stale_code import forget_stale_code

# What pip calls packages that not every installation of Slicer has.
PACKAGES = {"numba": "numba", "cc3d": "connected-components-3d", "edt": "edt"}


@contextmanager
def needs_numba() -> Iterator[None]:
    """Guard the import of numba or of a module that needs it, of cc3d, of edt.

    Raises
    ------
    DeviceError
        It is not installed.
    """
    prepare_numba()
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise DeviceError(
            f"{PACKAGES[error.name]} is not installed: pip install {PACKAGES[error.name]} (a panel "
            "of the extension asks before it installs it)."
        ) from error


def prepare_numba() -> None:
    """Forget stale code, and set the level of numba's logger to WARNING unless it was set before.

    The logger inherits the root logger's level, which is DEBUG in Slicer: each compiled function
    then writes thousands of lines, and compiling takes three times as long.
    """
    forget_stale_code()
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
