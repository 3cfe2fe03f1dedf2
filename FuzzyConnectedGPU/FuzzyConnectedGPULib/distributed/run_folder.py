"""The folder of a run: what its steps have found, so that a run that was ended can go on."""

import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .face_graph import FaceGraph
from .partition import Group

MANIFEST = "run.json"
FILES = "files"  # in the manifest: names, sizes and times of files
STOP = ".stop-"


@dataclass(frozen=True)
class RunFolder:
    """Face graphs, levels of face voxels and checksums of finished blocks, one file for each.

    A file is complete or absent: it is written under another name and renamed.
    """

    path: Path
    KINDS: ClassVar[tuple[str, ...]] = ("faces", "levels", "done")

    def begin(self, manifest: dict[str, Any]) -> bool:
        """Write what the run is of, or compare it with what is there.

        Returns
        -------
        bool
            Whether the files of the source and the mask are those of the run that was begun here;
            others may hold the same voxels, for example a chunk that was copied again.

        Raises
        ------
        InputError
            A run with other inputs was begun here; the message names what differs.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        place = self.path / MANIFEST
        wanted = json.loads(json.dumps(manifest))
        if not place.exists():
            if any(self.path.iterdir()):
                raise InputError(f"{self.path} holds other files; name a new or an empty folder.")
            self.put_manifest(manifest)
            return True
        try:
            found = json.loads(place.read_text(encoding="utf-8"))
        except ValueError:
            found = {}
        differing = [name for name in wanted if name != FILES and found.get(name) != wanted[name]]
        if differing:
            raise InputError(
                f"{self.path} holds an unfinished run whose {' and '.join(differing)} "
                "differed: give the same again to go on, or delete the folder to begin anew."
            )
        return found.get(FILES) == wanted.get(FILES)

    def put_manifest(self, manifest: dict[str, Any]) -> None:
        """Write what the run is of."""
        self._write(MANIFEST, lambda file: file.write(json.dumps(manifest, indent=1).encode()))

    def _write(self, name: str, write: Callable[[IO[bytes]], Any]) -> None:
        handle, temporary = tempfile.mkstemp(prefix=".part-", dir=self.path)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            os.replace(temporary, self.path / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def has(self, kind: str, group: Group) -> bool:
        """Whether a step is finished; of the `KINDS`."""
        return (self.path / _name(kind, group)).exists()

    def put_faces(self, group: Group, graph: FaceGraph) -> None:
        """Keep the face graph of a group."""
        arrays = graph._asdict()
        self._write(_name("faces", group), lambda file: np.savez(file, **arrays))

    def faces(self, group: Group) -> FaceGraph:
        """The face graph of a group."""
        return FaceGraph(**self._arrays("faces", group))

    def put_levels(self, group: Group, levels: np.ndarray) -> None:
        """Keep the final levels of a group's face voxels."""
        self._write(_name("levels", group), lambda file: np.savez(file, levels=levels))

    def levels(self, group: Group) -> np.ndarray:
        """The final levels of a group's face voxels."""
        return self._arrays("levels", group)["levels"]

    def put_done(self, group: Group, checksum: np.ndarray) -> None:
        """Keep that a block is written, and the checksum of its result."""
        self._write(_name("done", group), lambda file: np.savez(file, checksum=checksum))

    def done(self, group: Group) -> np.ndarray:
        """The checksum of a written block's result."""
        return self._arrays("done", group)["checksum"]

    def forget(self, kind: str, group: Group) -> None:
        """Have a step done again."""
        (self.path / _name(kind, group)).unlink(missing_ok=True)

    def _arrays(self, kind: str, group: Group) -> dict[str, np.ndarray]:
        place = self.path / _name(kind, group)
        try:
            with np.load(place) as file:  # zip: every array has a checksum
                return {name: file[name] for name in file.files}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise InputError(
                f"The intermediate result {place} cannot be read ({error}): delete this file, and "
                "run the same again; only its step is computed anew."
            ) from error

    def request_stop(self, run: str) -> None:
        """Have the steps of a run end early in other processes."""
        if self.path.is_dir():
            (self.path / f"{STOP}{run}").touch()

    def stop_requested(self, run: str) -> bool:
        """Whether the steps of a run are to end; also if the folder is gone."""
        return (self.path / f"{STOP}{run}").exists() or not self.path.is_dir()

    def remove(self) -> None:
        """Delete the files of the run, and the folder if nothing else is in it.

        What the run is of goes last: if this is ended, the same run can begin again.
        """
        names = [*(f"{kind}-*.npz" for kind in self.KINDS), ".part-*", f"{STOP}*", MANIFEST]
        for name in names:
            for place in self.path.glob(name):
                place.unlink()
        if not any(self.path.iterdir()):
            self.path.rmdir()


def _name(kind: str, group: Group) -> str:
    return f"{kind}-{group}.npz"
