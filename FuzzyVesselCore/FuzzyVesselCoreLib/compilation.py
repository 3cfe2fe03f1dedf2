"""numba and other packages of algorithms: named where they are missing; numba's cache and log."""

import functools
import hashlib
import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from .errors import PackageMissing

# What pip calls packages that not every installation of Slicer has.
PACKAGES = {"numba": "numba", "cc3d": "connected-components-3d"}
SOURCES = ("FuzzyVesselCoreLib", "FuzzyConnectedGPULib", "PotentialSkeletonLib")
ABANDONED = 30 * 86400.0  # seconds after which an unused cache is removed


@contextmanager
def needs_numba() -> Iterator[None]:
    """Guard the import of numba, or of what needs it, and of cc3d: `PackageMissing` without it."""
    prepare_numba()
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise PackageMissing(
            f"{PACKAGES[error.name]} is not installed: pip install {PACKAGES[error.name]} (a panel "
            "of the extension asks before it installs it)."
        ) from error


def prepare_numba() -> None:
    """Give numba a cache for the sources as they are, and let its logger tell warnings only.

    The logger inherits the root logger's level, which is DEBUG in Slicer: each compiled function
    then writes thousands of lines, and compiling takes three times as long.
    """
    _use_own_cache()
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)


def load_numba() -> None:
    """Import numba in this thread, if it is installed.

    Two threads that import it can wait for each other for ever.
    """
    prepare_numba()
    with suppress(ImportError):  # also of one that knows no NumPy as new as this: the run tells
        import numba  # noqa: F401


@functools.cache
def _use_own_cache() -> None:
    """Name numba's cache by the sources: numba compares a function with its own file alone.

    What was compiled into it from other files, functions and constants, would stay as it was after
    an update that leaves that file alone. A folder that the user names is left alone, too.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    caches = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = Path(caches).expanduser() / "fuzzy-vessel" / source_digest(SOURCES)
    with suppress(OSError):  # nothing may be written there: numba looks for another place
        own.mkdir(parents=True, exist_ok=True)
        os.utime(own)
        for other in own.parent.iterdir():
            if other.stat().st_mtime < time.time() - ABANDONED:
                shutil.rmtree(other, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(own)
    if sys.modules.get("numba"):
        sys.modules["numba"].config.CACHE_DIR = str(own)


def source_digest(packages: tuple[str, ...]) -> str:
    """A number in hexadecimal digits for the Python files of packages, by names and contents."""
    digest = hashlib.sha256()
    for package in packages:
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
