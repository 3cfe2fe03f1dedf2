"""An array of K, J, I that is read and written box by box."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import StepFolder
from FuzzyVesselCoreLib.files.zarr_guard import array_header, attributes_of, check_chunk, image_of

from ..partition import Box
from .chunks import ChunkGrid, folder_of
from .missing_chunks import TAKE_THEM, lacking, refuse_lost, refuse_seeds
from .opening import opened
from .pyramid import shown_elsewhere

CHUNKS = "chunks"  # kind of a run's file: which chunks there were when it began


@dataclass(frozen=True)
class Store:
    """An array of K, J, I that is opened where it is used, so that a task can name it by its path.

    Parameters
    ----------
    place : str or array
        Path of a zarr array, of an OME-NGFF image (its first resolution) or of a .npy file; or an
        array of NumPy, zarr or Dask. Axes before K must have length 1.
    name : str
        In messages: "source", "scene", "mask" or "target".
    missing_chunks : {"auto", "error", "fill"}
        Of a zarr array in a folder, where a chunk has no file: see `missing_chunks`.
    folder : StepFolder or None
        Of a run that keeps which chunks there were when it began.
    """

    place: Any
    name: str
    missing_chunks: str = "auto"
    folder: StepFolder | None = None
    _opened: dict = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, place: Any, name: str, missing_chunks: str = "auto") -> "Store":
        """The store of what a public function was given.

        Raises
        ------
        InputError
            If it cannot be opened, or is no volume.
        """
        if isinstance(place, Path) or (isinstance(place, str) and "://" not in place):
            place = str(Path(place).absolute())  # a worker may run in another folder
        store = cls(place, name, missing_chunks)
        array = store.array()
        shape = tuple(getattr(array, "shape", ()))
        if len(shape) < 3 or set(shape[:-3]) - {1} or 0 in shape:
            raise InputError(
                f"The {name} has shape {shape}; K x J x I voxels are needed (axes before them "
                "must have length 1: choose the channel and the time first)."
            )
        return store

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_opened": {}}  # a task opens it anew

    @property
    def shape(self) -> tuple[int, int, int]:
        """K, J, I."""
        k, j, i = self.array().shape[-3:]
        return int(k), int(j), int(i)

    @property
    def voxel_type(self) -> np.dtype:
        """Of the array."""
        return np.dtype(self.array().dtype)

    @property
    def is_label_image(self) -> bool:
        """Whether it is an OME-NGFF image that says that its values are labels."""
        if not isinstance(self.place, str) or not Path(self.place).is_dir():
            return False
        return "image-label" in image_of(attributes_of(Path(self.place)))

    def array(self, writable: bool = False) -> Any:
        """The array, opened once."""
        if not isinstance(self.place, str):
            return self.place
        if writable not in self._opened:
            self._opened[writable] = opened(self.place, self.name, "r+" if writable else "r")
        return self._opened[writable]

    def read(self, box: Box) -> np.ndarray:
        """The voxels of a box, C-contiguous, in native byte order.

        Raises
        ------
        InputError
            Names the chunk that is missing or cannot be read.
        """
        self._refuse_lost(box)
        try:
            self._check_chunks(box)
            return _values(self.array(), box)
        except Exception as error:
            where, reason = self._first_unreadable(box, error)
            raise InputError(
                f"The {self.name} cannot be read at {where}: {type(reason).__name__}: {reason}. "
                "Write it again; finished blocks are kept."
            ) from error

    def write(self, box: Box, values: np.ndarray) -> None:
        """Write the values of a box."""
        array = self.array(writable=True)
        array[(0,) * (len(array.shape) - 3) + box.slices] = values
        if hasattr(array, "flush"):
            array.flush()

    def refuse_missing(self, seeds: np.ndarray | None = None) -> int:
        """As `missing_chunks.refuse_lost`, and `refuse_seeds` of seeds (n, 3)."""
        count = refuse_lost(self.array(), self.name, self.missing_chunks)
        if count and seeds is not None:
            refuse_seeds(self.array(), seeds)
        if count and isinstance(self.place, str):
            self._refuse_shown_elsewhere(Path(self.place))
        return count

    def _refuse_shown_elsewhere(self, place: Path) -> None:
        """Refuse an image whose coarser resolutions show what a missing chunk should hold."""
        grid = ChunkGrid.of(self.array())
        assert grid is not None

        def read(folder: Path) -> np.ndarray:
            store = Store.of(folder, self.name)
            return store.read(Box((0, 0, 0), store.shape))

        try:
            found = shown_elsewhere(place, grid, self.array().metadata.fill_value, read)
        except (InputError, ValueError, LookupError, TypeError, OSError):
            return  # what is wrong with other resolutions is none of a run that does not read them
        if found is not None:
            why = f"though the image's resolution {found[1]!r} shows something there: copy it again"
            raise lacking(grid, found[0], self.name, f"{why}, or {TAKE_THEM}")

    def begun_in(self, folder: StepFolder) -> "Store":
        """The same for a run that was begun in a folder: no chunk may be lost from then on.

        Raises
        ------
        InputError
            A chunk was lost since an earlier run was begun there; it is named.
        """
        grid = ChunkGrid.of(self.array())
        if grid is None or grid.folder is None or self.missing_chunks == "fill":
            return self
        begun = replace(self, folder=folder, _opened={})
        if folder.has(CHUNKS, self.name):
            lost = begun._had(grid) & ~grid.stored()
            if lost.any():
                raise _lost(grid, np.argwhere(lost)[0], self.name)
        else:
            folder.put(CHUNKS, self.name, stored=np.packbits(grid.stored()))
        return begun

    def _refuse_lost(self, box: Box) -> None:
        """Refuse chunks of a box that have no file, but had one when the run began."""
        grid = None if self.folder is None else ChunkGrid.of(self.array())
        if self.folder is None or grid is None:
            return
        had = self._had(grid)
        for index, _part in grid.meeting(box):
            if had[index] and not grid.has_file(index):
                raise _lost(grid, index, self.name)

    def _had(self, grid: ChunkGrid) -> np.ndarray:
        """Which chunks there were when the run began."""
        if CHUNKS not in self._opened:
            assert self.folder is not None
            bits = self.folder.get(CHUNKS, self.name)["stored"]
            had = np.unpackbits(bits, count=math.prod(grid.shape)).astype(bool)
            self._opened[CHUNKS] = had.reshape(grid.shape)
        return self._opened[CHUNKS]

    def _chunks(self, box: Box) -> Iterator[tuple[Box, str]]:
        """The chunks that a box meets: voxels of the box, and names; none for other arrays."""
        grid = ChunkGrid.of(self.array())
        if grid is not None:
            for index, part in grid.meeting(box):
                yield part, grid.name_of(index)

    def _check_chunks(self, box: Box) -> None:
        """Look at a box's files before zarr unpacks them; `ValueError`."""
        folder = folder_of(self.array()) if isinstance(self.place, str) else None
        if folder is not None and folder.is_dir():
            header = array_header(folder)
            for _part, key in self._chunks(box):
                check_chunk(folder, key, header)

    def _first_unreadable(self, box: Box, error: Exception) -> tuple[str, Exception]:
        for part, key in self._chunks(box):
            try:
                self._check_chunks(part)
                _values(self.array(), part)
            except Exception as reason:
                return f"its chunk {key}, the voxels {part}", reason
        return f"the voxels {box}", error

    def fingerprint(self) -> str:
        """Of shape, type and, where the array lies in files, their names, sizes and times."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(json.dumps([self.shape, self.voxel_type.str]).encode())
        for path in self._files():
            status = path.stat()
            digest.update(f"{path.name} {status.st_size} {status.st_mtime_ns}\n".encode())
        return digest.hexdigest()

    def _files(self) -> list[Path]:
        folder = folder_of(self.array())
        if folder is not None:
            return sorted(path for path in folder.rglob("*") if path.is_file())
        return [Path(self.place)] if isinstance(self.place, str) else []

    @property
    def is_stamped(self) -> bool:
        """Whether `fingerprint` depends on the times of files."""
        return bool(self._files())


def _lost(grid: ChunkGrid, index: Any, name: str) -> InputError:
    why = "which it had when the run began: copy it again; finished blocks are kept"
    return lacking(grid, index, name, why)


def _values(array: Any, box: Box) -> np.ndarray:
    region = array[(0,) * (len(array.shape) - 3) + box.slices]
    if hasattr(region, "compute"):  # Dask: not on the cluster, whose worker may be reading this
        region = region.compute(scheduler="threads")
    region = np.asarray(region)
    return np.ascontiguousarray(region, region.dtype.newbyteorder("="))
