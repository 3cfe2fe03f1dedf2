"""A folder of results that is there as a whole or not at all."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .report_file import (
    OF_FILE_MANAGERS,
    REPORT,
    edited_files,
    files_in,
    files_of_result,
    list_files,
)


class OutputFolder:
    """Context manager: results are written beside the folder and moved into place at the end.

    >>> with OutputFolder("results") as place:
    ...     (place / "report.json").write_text(...)

    An existing folder is replaced if it is empty or holds an earlier result of this program, as it
    was written, and nothing else: the report names its files and has their checksums. If the block
    ends with an exception, nothing of it is left. Where a person changed the folder meanwhile, or
    it cannot be replaced any more, the results are kept: beside it under its name with a number, or
    where they were written.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        On entry, if the folder must not be replaced or cannot be written; on leaving, if the
        results could not be moved into place, or were kept beside it. The message names the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        self._made_parents: list[Path] = []
        self._place: Path | None = None

    def __enter__(self) -> Path:
        try:
            if reason := self._foreign():
                raise InputError(f"{reason}; name a new or an empty folder with --out.")
            self._make_parents()
            self._place = self._new_folder("partial")
        except OSError as error:
            self._remove_traces()
            raise self._cannot_write(error) from error
        return self._place

    def __exit__(self, _kind: Any, error: Any, _traceback: Any) -> None:
        try:
            if error is None and self._place is not None:
                list_files(self._place, checksums=True)
                if reason := self._move_into_place():
                    raise InputError(f"{reason}; the results are in {self._keep()}.")
        except OSError as failure:
            raise self._cannot_write(failure) from failure
        finally:
            self._remove_traces()
        if isinstance(error, OSError):
            raise self._cannot_write(error) from error

    def _foreign(self):
        """Why the folder must not be replaced; empty where it may be."""
        if not self.path.exists():
            return ""
        if not self.path.is_dir():
            return f"{self.path}: this is a file"
        own = files_of_result(self.path / REPORT)
        known = {name.split("/")[0] for name in own} | OF_FILE_MANAGERS
        if self._place is not None:
            known.add(self._place.name)
        foreign = sorted({entry.name for entry in self.path.iterdir()} - known)
        foreign = foreign or sorted(set(files_in(self.path, but=self._place)) - own)
        edited = edited_files(self.path)
        if foreign:
            return f"{self.path}: the folder holds other files ({foreign[0]}) and is left alone"
        if edited:
            return (
                f"{self.path}: {edited[0]} was changed after it was written, so the folder is left "
                "alone"
            )
        return ""

    def _keep(self):
        """Move the results to a new folder beside the one that they were meant for, if possible."""
        place, self._place = self._place, None  # no trace that is removed
        number = 1
        while True:
            number += 1
            beside = place.with_name(f"{self.path.name}-{number}")
            if os.path.lexists(beside):
                continue
            try:
                return place.rename(beside)
            except OSError:
                if not os.path.lexists(beside):  # else another run was faster
                    return place

    def _make_parents(self):
        missing = [self.path.parent, *self.path.parent.parents]
        missing = [folder for folder in missing if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir()
            self._made_parents.append(folder)

    def _new_folder(self, purpose):
        return Path(tempfile.mkdtemp(prefix=f".{self.path.name}-{purpose}-", dir=self._beside()))

    def _beside(self):
        """The folder in which to write: beside the result, or in it where that cannot be moved."""
        fixed = self.path.exists() and (
            os.path.ismount(self.path) or not os.access(self.path.parent, os.W_OK)
        )
        return self.path if fixed else self.path.parent

    def _move_into_place(self):
        """Replace the folder; returns why it cannot be replaced, else nothing."""
        self._open_to_others()
        try:
            if reason := self._foreign():  # a person may have saved something there meanwhile
                return reason
            if self._beside() == self.path:
                self._move_files()
            else:
                self._replace_folder()
        except OSError as error:
            return f"{self.path}: the folder cannot be replaced: {error.strerror or error}"
        self._made_parents.clear()
        return ""

    def _replace_folder(self):
        earlier = None
        if self.path.exists():
            earlier = self._new_folder("earlier")
            self.path.rename(earlier / "result")
        try:
            self._place.rename(self.path)
        except OSError:
            if earlier:
                (earlier / "result").rename(self.path)
            raise
        finally:
            if earlier:
                shutil.rmtree(earlier, ignore_errors=True)

    def _open_to_others(self):
        """Temporary folders are their owner's alone."""
        umask = os.umask(0)
        os.umask(umask)
        self._place.chmod(0o777 & ~umask)

    def _move_files(self):
        for entry in self.path.iterdir():
            if entry != self._place:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for entry in self._place.iterdir():
            entry.rename(self.path / entry.name)

    def _remove_traces(self):
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)
        for folder in reversed(self._made_parents):
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._made_parents.clear()

    def _cannot_write(self, error):
        reason = error.strerror or str(error)
        return InputError(
            f"{self.path}: the results cannot be written: {reason}. Nothing was left there; "
            "choose another folder with --out."
        )
