"""Where a run writes: an array that was given, or a path that is complete or absent."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.folder_lock import FolderLock

from .needs import RunNeed, array_bytes, require_space
from .options import TARGET_TYPES
from .partition import Partition
from .run_folder import RunFolder
from .steps import naming
from .stores import Store, create, record_chunks

UNFINISHED = ".unfinished"


class Writing(Protocol):
    """What of a run's options says where it writes, and which type."""

    @property
    def folder(self) -> str | Path | None: ...
    @property
    def target_type(self) -> str: ...


class Making(Protocol):
    """How the array at a path is made; see `stores.create`."""

    def __call__(
        self, path: Path, shape: tuple[int, ...], voxel_type: Any, block: tuple[int, ...]
    ) -> None: ...


class Output:
    """Target and folder of a run.

    A target that is a path is written into the run's folder and moved at the end, so it is
    complete or absent. From `begin` to `close` no other run works in the folder.

    Attributes
    ----------
    target : Store
        Where the blocks are written.
    folder : RunFolder
        Of the class that was given.
    continues : bool
        Whether a run was begun there before.
    """

    target: Store

    def __init__(
        self,
        target: Any,
        options: Writing,
        partition: Partition,
        types: tuple[str, ...] = TARGET_TYPES,
        make: Making = create,
        folder: Callable[[Path], Any] = RunFolder,
    ) -> None:
        self._options, self._partition, self._make = options, partition, make
        self._final = Path(target).absolute() if isinstance(target, str | Path) else None
        self._temporary: Path | None = None
        if self._final is not None and self._final.exists():
            raise InputError(f"The target {self._final} exists: name another, or delete it first.")
        if self._final is None:
            self.target = Store.of(target, "target")
            _check_array(self.target, partition, types)
        place = options.folder
        if place is None and self._final is not None:
            place = self._final.with_name(self._final.name + UNFINISHED)
        if place is None:
            place = self._temporary = Path(tempfile.mkdtemp(prefix="connectedness-"))
        self.folder = folder(Path(place).absolute())
        self.continues = False
        self._lock: FolderLock | None = None

    @property
    def type(self) -> str:
        """Of the target's voxels."""
        return self._options.target_type if self._final else self.target.voxel_type.name

    def begin(self, manifest: dict[str, Any], need: RunNeed) -> bool:
        """Make the folder and, for a path, the array; returns what `continues_with` does.

        Raises
        ------
        InputError
            Another run works there, one with other inputs was begun there, or there is too little
            space.
        """
        self._lock = FolderLock(self.folder.path).__enter__()
        self.continues = self.folder.was_begun
        with naming(f"The folder {self.folder.path}"):
            return self._begin(manifest, need)

    def _begin(self, manifest: dict[str, Any], need: RunNeed) -> bool:
        size = array_bytes(self._partition.shape, np.dtype(self.type)) if self._final else 0
        require_space(self.folder.path, need.disk + size)
        same_files = self.folder.continues_with(manifest)
        if self._final is None:
            return same_files
        place = self.folder.path / self._final.name
        if not place.exists():  # moved into place by a run that was ended then, and deleted there
            for done in self.folder.path.glob("done-*.npz"):
                done.unlink()
        if not any(self.folder.path.glob("done-*.npz")):
            remove(place)
            self._make(place, self._partition.shape, self.type, self._partition.block)
        self.target = Store(str(place), "target", "fill")
        return same_files

    def finish(self) -> None:
        """Move the array into place and delete the intermediate results."""
        if self._lock is not None:
            self._lock.check()
        if self._final is not None:
            if self._final.exists():
                raise InputError(
                    f"The target {self._final} was made by another program during the run; the "
                    f"result is {self.folder.path / self._final.name}."
                )
            record_chunks(self.folder.path / self._final.name)
            (self.folder.path / self._final.name).rename(self._final)
        self.folder.remove()

    def close(self) -> None:
        """Let other runs into the folder, and delete what nobody can go on with."""
        if self._lock is not None:
            self._lock.__exit__(None, None, None)
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)


def remove(place: Path) -> None:
    """Delete a file or a folder, if it is there."""
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _check_array(target: Store, partition: Partition, types: tuple[str, ...]) -> None:
    if target.shape != partition.shape:
        raise InputError(
            f"The target has shape {target.shape}, the source {partition.shape}; they must agree."
        )
    if target.voxel_type.name not in types:
        raise InputError(
            f"The target's type is {target.voxel_type.name}, but must be {' or '.join(types)}."
        )
    array = target.array()
    if not hasattr(array, "__setitem__"):
        raise InputError(f"A {type(array).__name__} cannot be written as the target.")
    if getattr(array, "metadata", None) is None:
        return
    chunks = (getattr(array, "shards", None) or array.chunks)[-3:]
    wrong = [b % c and b < n for b, c, n in zip(partition.block, chunks, partition.shape)]
    if any(wrong):
        raise InputError(
            f"Blocks of {partition.block} voxels do not consist of whole chunks of the target, "
            f"{chunks}: two tasks would write one chunk. Give a multiple as the block."
        )
