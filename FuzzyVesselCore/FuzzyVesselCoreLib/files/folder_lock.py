"""Folders that one run at a time works in."""

from contextlib import suppress
from pathlib import Path

from ..errors import InputError
from ..translation import tr as _

LOCK = ".in-use.lock"


class FolderLock:
    """Context manager: the folder belongs to this run alone; it is made if it is not there.

    A lock of the operating system, which a process that was killed loses.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        On entry: another run holds the folder, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, FolderLock(Path(place)):
    ...     FolderLock(Path(place)).__enter__()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FuzzyVesselCoreLib.errors.InputError: ... is in use by another run: wait until ...
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock

        self.folder, self._made = folder, False
        self._lock = FileLock(folder / LOCK, timeout=0)

    def __enter__(self) -> "FolderLock":
        from filelock import Timeout

        try:
            self._made = not self.folder.exists()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            text = _(
                "{folder} is in use by another run: wait until it is done or end it, or name "
                "another folder."
            )
            raise InputError(text.format(folder=self.folder)) from error
        except OSError as error:
            self._remove()
            text = _("{folder} cannot be written: {reason}; name another folder.")
            reason = error.strerror or error
            raise InputError(text.format(folder=self.folder, reason=reason)) from error
        return self

    def __exit__(self, *_error: object) -> None:
        self._lock.release()
        with suppress(OSError):
            (self.folder / LOCK).unlink(missing_ok=True)
        self._remove()

    def _remove(self) -> None:
        """If this run made the folder, and nothing was left in it."""
        with suppress(OSError):
            if self._made:
                self.folder.rmdir()


def others_in(folder: Path) -> list[Path]:
    """What is in a folder but the file of a lock."""
    return [place for place in folder.iterdir() if place.name != LOCK]


def remove_if_empty(folder: Path) -> None:
    """Delete a folder in which nothing is left but the lock of the run that calls this."""
    with suppress(OSError):
        if not others_in(folder):
            (folder / LOCK).unlink(missing_ok=True)
            folder.rmdir()
