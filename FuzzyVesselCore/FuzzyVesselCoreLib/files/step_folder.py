"""The folder of a run of many steps: what these have found, for a run that goes on."""

import json
import os
import tempfile
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from ..errors import InputError
from ..translation import tr as _
from .folder_lock import others_in, remove_if_empty

# NumPy's parser of headers counts the depth of what it reads for all threads together (3.11).
_reading = threading.Lock()
PART = ".part-"  # of a file that is being written; a run that was killed leaves it


@dataclass(frozen=True)
class StepFolder:
    """Arrays by kind and key, one file for each step; a file is complete or absent.

    A file is written under another name and renamed.

    Attributes
    ----------
    path : Path
    """

    path: Path
    KINDS: ClassVar[tuple[str, ...]] = ()
    MANIFEST: ClassVar[str] = "run.json"
    MARKS: ClassVar[tuple[str, ...]] = ()  # patterns of other files of the run

    @property
    def was_begun(self) -> bool:
        """Whether an earlier run was begun here."""
        return (self.path / self.MANIFEST).exists()

    def begin(self, manifest: dict[str, Any], free: str = "") -> dict[str, Any]:
        """Write what the run is of, or compare it with what is there.

        Parameters
        ----------
        manifest : dict
        free : str, optional
            A name in it that may differ.

        Returns
        -------
        dict
            The manifest that is there.

        Raises
        ------
        InputError
            A run with other inputs was begun here; the message names what differs.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        wanted = json.loads(json.dumps(manifest))
        if not self.was_begun:
            if [place for place in others_in(self.path) if not place.name.startswith(PART)]:
                raise self._is_foreign()
            self.put_manifest(manifest)
            return wanted
        try:
            found = json.loads((self.path / self.MANIFEST).read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict) or not found.keys() & wanted.keys():
            raise self._is_foreign()
        differing = [name for name in wanted if name != free and found.get(name) != wanted[name]]
        if differing:
            raise InputError(
                _(
                    "{folder} holds an unfinished run whose {names} differed: give the same again "
                    "to go on, or delete the folder to begin anew."
                ).format(folder=self.path, names=" and ".join(differing))
            )
        return found

    def _is_foreign(self) -> InputError:
        return InputError(
            _("{folder} holds other files; name a new or an empty folder.").format(folder=self.path)
        )

    def put_manifest(self, manifest: dict[str, Any]) -> None:
        """Write what the run is of."""
        self._write(self.MANIFEST, lambda file: file.write(json.dumps(manifest, indent=1).encode()))

    def has(self, kind: str, key: Any) -> bool:
        """Whether a step is finished."""
        return self._place(kind, key).exists()

    def put(self, kind: str, key: Any, **arrays: Any) -> None:
        """Keep what a step has found."""
        self._write(self._place(kind, key).name, lambda file: np.savez(file, **arrays))

    def get(self, kind: str, key: Any) -> dict[str, np.ndarray]:
        """What a step has found.

        Raises
        ------
        InputError
            The file is damaged.
        """
        place = self._place(kind, key)
        try:
            with _reading, np.load(place) as arrays:
                return dict(arrays)
        except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(
                _(
                    "The intermediate result {place} cannot be read ({reason}): delete this file, "
                    "and run the same again; only its step is computed anew."
                ).format(place=place, reason=error)
            ) from error

    def forget(self, kind: str, key: Any) -> None:
        """Have a step done again."""
        self._place(kind, key).unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the files of the run, and the folder if nothing else is in it.

        What the run is of goes last: if this is ended, the same run can begin again.
        """
        names = (*(f"{kind}-*.npz" for kind in self.KINDS), f"{PART}*", *self.MARKS, self.MANIFEST)
        for name in names:
            for place in self.path.glob(name):
                place.unlink()
        remove_if_empty(self.path)

    def _place(self, kind: str, key: Any) -> Path:
        return self.path / f"{kind}-{key}.npz"

    def _write(self, name: str, write: Callable[[IO[bytes]], Any]) -> None:
        handle, temporary = tempfile.mkstemp(prefix=PART, dir=self.path)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            os.replace(temporary, self.path / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
