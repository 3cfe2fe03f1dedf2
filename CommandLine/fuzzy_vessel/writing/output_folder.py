"""A folder of results that is complete or absent."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .report_file import OF_FILE_MANAGERS, files_in, list_files, result_in


class OutputFolder:
    """Context manager: results are written beside the folder and moved into place at the end.

    >>> with OutputFolder("results") as place:
    ...     (place / "report.json").write_text(...)

    An existing folder is replaced if it is empty or holds an earlier result of this program, as it
    was written, and nothing else: the report names its files and has their checksums. If the block
    ends with an exception, nothing of it is left. Where a person changed the folder meanwhile, or
    it cannot be replaced any more, the results are moved beside it, under its name with a number.
    While folders are exchanged, the earlier and the new result exist at every moment.

    Raises
    ------
    InputError
        On entry, if the folder must not be replaced or cannot be written; on leaving, if the
        results could not be moved into place. The message names the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        self._made_parents: list[Path] = []
        self._place: Path | None = None

    def __enter__(self) -> Path:
        try:
            if reason := self._foreign():
                raise InputError(f"{reason}; name a new or an empty folder with --out.")
            for folder in reversed([self.path.parent, *self.path.parent.parents]):
                if not folder.exists():
                    folder.mkdir()
                    self._made_parents.append(folder)
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
        own, edited = result_in(self.path)
        known = {name.split("/")[0] for name in own} | OF_FILE_MANAGERS
        foreign = sorted({entry.name for entry in self.path.iterdir()} - known)
        foreign = foreign or sorted(set(files_in(self.path)) - own)
        if foreign:
            return f"{self.path}: the folder holds other files ({foreign[0]}) and is left alone"
        if edited:
            return (
                f"{self.path}: {edited[0]} was changed after it was written, so the folder is left "
                "alone"
            )
        return ""

    def _new_folder(self, purpose):
        name = f".{self.path.name}-{purpose}-"
        return Path(tempfile.mkdtemp(prefix=name, dir=self.path.parent))

    def _move_into_place(self):
        """Replace the folder; returns why it cannot be replaced, else nothing."""
        umask = os.umask(0)
        os.umask(umask)
        self._place.chmod(0o777 & ~umask)  # temporary folders are their owner's alone
        try:
            if reason := self._foreign():  # a person may have saved something there meanwhile
                return reason
            earlier, moved = self._new_folder("earlier"), self.path.exists()
            try:
                if moved:
                    self.path.rename(earlier / "result")
                self._place.rename(self.path)
            except BaseException:
                if (earlier / "result").exists() and not self.path.exists():
                    (earlier / "result").rename(self.path)
                raise
            finally:
                if not self._place.exists():  # it is where it belongs
                    self._place = None
                    shutil.rmtree(earlier, ignore_errors=True)
                elif not any(earlier.iterdir()):
                    earlier.rmdir()
        except OSError as error:
            return f"{self.path}: the folder cannot be replaced: {error.strerror or error}"
        self._made_parents.clear()
        return ""

    def _keep(self):
        """Move the results to a new folder beside the one that they were meant for."""
        place, self._place = self._place, None  # no trace that is removed
        number = 2
        while os.path.lexists(beside := self.path.with_name(f"{self.path.name}-{number}")):
            number += 1
        try:
            return place.rename(beside)
        except OSError:
            return place

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
