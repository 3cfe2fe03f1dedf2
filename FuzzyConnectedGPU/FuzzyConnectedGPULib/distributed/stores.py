"""Volumes that are read and written box by box: NumPy, zarr and Dask arrays, and paths of them."""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import (
    array_header,
    attributes_of,
    check_chunk,
    path_inside,
    read_json,
)

from .partition import Box

MAX_CHUNK_BYTES = 1 << 34  # of an array that is read: zarr unpacks whole chunks
MAX_CHUNK, MIN_CHUNK = 128, 16  # voxels along an axis of a chunk of a new zarr array
# Attribute of zarr arrays that were made here: chunks of zeros, which zarr does not store, are no
# error in them.
MISSING_CHUNKS = "missing_chunks"


@dataclass(frozen=True)
class Store:
    """An array of K, J, I that is opened where it is used, so that a task can name it by its path.

    Parameters
    ----------
    place : str or array
        Path of a zarr array, of an OME-NGFF image (its first resolution) or of a .npy file; or an
        array of NumPy, zarr or Dask. Axes before K must have length 1.
    name : str
        In messages: "source", "mask" or "target".
    missing_chunks : {"error", "fill"}
        Of a zarr array in a folder: chunks that have no file are an error, or hold the fill value.
    """

    place: Any
    name: str
    missing_chunks: str = "error"
    _opened: dict = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, place: Any, name: str, missing_chunks: str = "error") -> "Store":
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

    def array(self, writable: bool = False) -> Any:
        """The array, opened once."""
        if not isinstance(self.place, str):
            return self.place
        if writable not in self._opened:
            self._opened[writable] = _open(self.place, self.name, "r+" if writable else "r")
        return self._opened[writable]

    def read(self, box: Box) -> np.ndarray:
        """The voxels of a box, C-contiguous, in native byte order.

        Raises
        ------
        InputError
            Names the chunk that is missing or cannot be read.
        """
        array = self.array()
        self.refuse_missing(box)
        try:
            self._check_chunks(box)
            return _values(array, box)
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

    def _chunks(self, box: Box) -> list[tuple[Box, str]]:
        """The stored chunks that a box meets, and their names; empty for other than zarr arrays."""
        array = self.array()
        key = getattr(getattr(array, "metadata", None), "encode_chunk_key", None)
        if key is None:
            return []
        sizes = (getattr(array, "shards", None) or array.chunks)[-3:]
        lead = (0,) * (len(array.shape) - 3)
        ranges = [range(a // n, -(-b // n)) for a, b, n in zip(box.start, box.stop, sizes)]
        found = []
        for index in product(*ranges):
            start = [max(n * size, a) for n, size, a in zip(index, sizes, box.start)]
            stop = [min((n + 1) * size, b) for n, size, b in zip(index, sizes, box.stop)]
            found.append((Box(tuple(start), tuple(stop)), key(lead + index)))
        return found

    def refuse_missing(self, box: Box) -> None:
        """Refuse chunks of a box that have no file, unless they are to hold the fill value.

        Raises
        ------
        InputError
            Names the chunk.
        """
        folder = folder_of(self.array())
        if folder is None or self.missing_chunks == "fill":
            return
        for part, key in self._chunks(box):
            if not (folder / key).exists():
                raise InputError(
                    f"The {self.name} lacks its chunk {key}, the voxels {part}: copy it again, or "
                    'give missing_chunks="fill" if chunks without a file hold the fill value.'
                )

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


def _values(array: Any, box: Box) -> np.ndarray:
    region = array[(0,) * (len(array.shape) - 3) + box.slices]
    if hasattr(region, "compute"):  # Dask: not on the cluster, whose worker may be reading this
        region = region.compute(scheduler="threads")
    region = np.asarray(region)
    return np.ascontiguousarray(region, region.dtype.newbyteorder("="))


def folder_of(array: Any) -> Path | None:
    """The folder of a zarr array, or None where it is elsewhere."""
    root = getattr(getattr(array, "store", None), "root", None)
    return None if root is None else Path(root) / array.path


def _open(path: str, name: str, mode: Literal["r", "r+"]) -> Any:
    if not Path(path).exists() and "://" not in path:
        raise InputError(f"The {name} {path} does not exist.")
    if path.endswith(".npy"):
        return _guarded(lambda: np.load(path, mmap_mode=mode), path, name)
    zarr = import_zarr(path)
    if Path(path).is_dir():
        folder = _guarded(lambda: _array_folder(Path(path)), path, name)
        return _guarded(lambda: zarr.open_array(str(folder), mode=mode), path, name)
    found = _guarded(lambda: zarr.open(path, mode=mode), path, name)
    if hasattr(found, "shape"):
        return found
    return _guarded(lambda: found[str(_first_resolution(dict(found.attrs)))], path, name)


def _array_folder(folder: Path) -> Path:
    """The folder of the array, or of an image's first resolution; its header is checked."""
    content = read_json(folder / "zarr.json") if (folder / "zarr.json").exists() else {}
    if not (folder / ".zarray").exists() and content.get("node_type") != "array":
        folder = folder / _first_resolution(attributes_of(folder))
    header = array_header(folder)
    size = math.prod(header.chunks) * header.value_bytes
    if size > MAX_CHUNK_BYTES and "sharding_indexed" not in header.codecs:
        raise InputError(f"one chunk of {header.chunks} voxels would have {size / 2**30:,.0f} GiB")
    return folder


def _first_resolution(attributes: dict) -> PurePosixPath:
    images = attributes.get("ome", attributes).get("multiscales")
    if not images:
        raise InputError("a group without OME-NGFF's multiscales: name the array in it")
    return path_inside(images[0]["datasets"][0]["path"])


def _guarded(opened: Callable[[], Any], path: str, name: str) -> Any:
    try:
        return opened()
    except Exception as error:
        raise InputError(f"The {name} {path} cannot be opened: {error}.") from error


def import_zarr(path: str) -> Any:
    """The package zarr.

    Raises
    ------
    InputError
        It is not installed.
    """
    try:
        import zarr
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path} is read and written by zarr, which is not installed: pip install 'zarr>=3' "
            "(or give a .npy file or an array)."
        ) from error
    return zarr


def create(
    path: Path,
    shape: tuple[int, ...],
    voxel_type: Any,
    block: tuple[int, ...],
    attributes: dict[str, str] | None = None,
) -> None:
    """Create an array of zeros at a path: a .npy file or a zarr array whose chunks divide blocks.

    zarr does not store chunks of zeros, which an attribute says. Without given attributes, those of
    a scene are written.
    """
    if path.suffix == ".npy":
        np.lib.format.open_memmap(path, mode="w+", dtype=voxel_type, shape=shape).flush()
        return
    zarr = import_zarr(str(path))
    chunks = tuple(
        chunk_length(min(b, n)) if b < n else min(n, MAX_CHUNK) for b, n in zip(block, shape)
    )
    if attributes is None:
        unit = "value / 65535" if np.dtype(voxel_type).kind == "u" else "value"
        attributes = {"connectedness": unit}
    zarr.create_array(
        str(path), shape=shape, dtype=np.dtype(voxel_type).name, chunks=chunks, fill_value=0,
        attributes={**attributes, MISSING_CHUNKS: "fill"}, dimension_names=["z", "y", "x"],
    )  # fmt: skip


def chunk_length(block: int) -> int:
    """The largest divisor of a block's length up to 128, or the length if that is under 16.

    Examples
    --------
    >>> [chunk_length(n) for n in (512, 500, 509, 7)]
    [128, 125, 509, 7]
    """
    divisor = max(n for n in range(1, min(block, MAX_CHUNK) + 1) if block % n == 0)
    return divisor if divisor >= MIN_CHUNK else block
