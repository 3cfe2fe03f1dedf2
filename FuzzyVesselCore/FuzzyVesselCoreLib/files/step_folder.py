"""Folders that one run at a time works in."""

import json
import os
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from ..errors import InputError
from ..translation import tr as _

LOCK = ".in-use.lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """The folder belongs to this run alone; it is made, and removed if nothing is left in it.

    A lock of the operating system, which a process that was killed loses. An empty folder that was
    there stays. `InputError` where another run holds the folder, or it cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK, timeout=0)
    try:
        stays = folder.exists() and not others_in(folder)
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        text = _(
            "{folder} is in use by another run: wait until it is done or end it, or name "
            "another folder."
        )
        raise InputError(text.format(folder=folder)) from error
    except OSError as error:
        text = _("{folder} cannot be written: {reason}; name another folder.")
        raise InputError(text.format(folder=folder, reason=error.strerror or error)) from error
    try:
        yield
    finally:
        lock.release()
        with suppress(OSError):  # there are other files in it
            (folder / LOCK).unlink(missing_ok=True)
            if not stays:
                folder.rmdir()


def others_in(folder: Path) -> list[Path]:
    """What is in a folder but the file of a lock."""
    return [place for place in folder.iterdir() if place.name != LOCK]


# ---- The folder of a run of many steps: what these have found, so that an interrupted run resumes

# NumPy's parser of headers counts the depth of what it reads for all threads together (3.11).
_reading = threading.Lock()
PART = ".part-"  # of a file that is being written; a run that was killed leaves it


@dataclass(frozen=True)
class StepFolder:
    """Arrays by kind and key, one file for each step; a file is complete or absent."""

    path: Path
    KINDS: ClassVar[tuple[str, ...]] = ()
    MANIFEST: ClassVar[str] = "run.json"

    def begin(self, manifest: dict[str, Any]) -> None:
        """Write what the run is of; `InputError` names what differs from an earlier one's."""
        self.path.mkdir(parents=True, exist_ok=True)
        place = self.path / self.MANIFEST
        if not place.exists():
            if [other for other in others_in(self.path) if not other.name.startswith(PART)]:
                raise self._is_foreign()
            content = json.dumps(manifest, indent=1).encode()
            self._write(self.MANIFEST, lambda file: file.write(content))
            return
        wanted = json.loads(json.dumps(manifest))
        try:
            found = json.loads(place.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict) or not found.keys() & wanted.keys():
            raise self._is_foreign()
        differing = [name for name in wanted if found.get(name) != wanted[name]]
        if differing:
            text = _(
                "{folder} holds an unfinished run whose {names} differed: give the same again "
                "to resume, or delete the folder to start again."
            )
            raise InputError(text.format(folder=self.path, names=" and ".join(differing)))

    def _is_foreign(self) -> InputError:
        text = _("{folder} holds other files; name a new or an empty folder.")
        return InputError(text.format(folder=self.path))

    def has(self, kind: str, key: Any) -> bool:
        """Whether a step is finished."""
        return self._place(kind, key).exists()

    def put(self, kind: str, key: Any, **arrays: Any) -> None:
        """Keep what a step has found."""
        self._write(self._place(kind, key).name, lambda file: np.savez(file, **arrays))

    def get(self, kind: str, key: Any) -> dict[str, np.ndarray]:
        """What a step has found; `InputError` where the file is damaged."""
        place = self._place(kind, key)
        try:
            with _reading, np.load(place) as arrays:
                return dict(arrays)
        except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
            text = _(
                "The intermediate result {place} cannot be read ({reason}): delete this file, "
                "and run the same again; only its step is computed again."
            )
            raise InputError(text.format(place=place, reason=error)) from error

    def remove(self) -> None:
        """Delete the files of the run.

        What the run is of goes last: if this is ended, the same run can begin again.
        """
        for name in (*(f"{kind}-*.npz" for kind in self.KINDS), f"{PART}*", self.MANIFEST):
            for place in self.path.glob(name):
                place.unlink()

    def _place(self, kind: str, key: Any) -> Path:
        return self.path / f"{kind}-{key}.npz"

    def _write(self, name: str, write: Callable[[IO[bytes]], Any]) -> None:
        """Under another name, which is then replaced."""
        handle, temporary = tempfile.mkstemp(prefix=PART, dir=self.path)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            os.replace(temporary, self.path / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
