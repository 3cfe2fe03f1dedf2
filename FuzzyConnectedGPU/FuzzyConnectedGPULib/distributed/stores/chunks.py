"""The chunks of a zarr array in a folder: the voxels of each, and whether it has a file."""

import base64
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..partition import Box, Index

# Attribute of arrays that were written here: which chunks have a file. zarr stores no chunks of the
# fill value, so only whoever wrote the array knows which ones there are.
RECORD = "stored_chunks"


@dataclass(frozen=True)
class ChunkGrid:
    """Chunks (or shards) along K, J, I.

    Attributes
    ----------
    folder : Path or None
        Of the array; None where it lies elsewhere.
    sizes : tuple of int
        Voxels of a chunk.
    shape : tuple of int
        Numbers of chunks.
    voxels : tuple of int
        Of the array.
    name_of : callable
        From the chunk's position to its name in the folder.
    """

    folder: Path | None
    sizes: Index
    shape: Index
    voxels: Index
    name_of: Callable[[Index], str]

    @classmethod
    def of(cls, array: Any) -> "ChunkGrid | None":
        """The grid of a zarr array; None for other arrays."""
        encode = getattr(getattr(array, "metadata", None), "encode_chunk_key", None)
        if encode is None:
            return None
        k, j, i = (getattr(array, "shards", None) or array.chunks)[-3:]
        voxels = array.shape[-3:]
        counts = [-(-n // size) for n, size in zip(voxels, (k, j, i))]
        lead = (0,) * (len(array.shape) - 3)
        return cls(
            folder_of(array), (k, j, i), (counts[0], counts[1], counts[2]), tuple(voxels),
            lambda index: encode(lead + tuple(index)),
        )  # fmt: skip

    def meeting(self, box: Box) -> Iterator[tuple[Index, Box]]:
        """The chunks that a box meets: position, and voxels of the box in it."""
        ranges = [range(a // n, -(-b // n)) for a, b, n in zip(box.start, box.stop, self.sizes)]
        for k, j, i in product(*ranges):
            index = (k, j, i)
            start = [max(n * size, a) for n, size, a in zip(index, self.sizes, box.start)]
            stop = [min((n + 1) * size, b) for n, size, b in zip(index, self.sizes, box.stop)]
            yield index, Box((start[0], start[1], start[2]), (stop[0], stop[1], stop[2]))

    def box(self, index: Index) -> Box:
        """The voxels of a chunk."""
        start = (index[0] * self.sizes[0], index[1] * self.sizes[1], index[2] * self.sizes[2])
        k, j, i = (min(a + n, end) for a, n, end in zip(start, self.sizes, self.voxels))
        return Box(start, (k, j, i))

    def has_file(self, index: Index) -> bool:
        """Whether the folder has the chunk."""
        return self.folder is not None and (self.folder / self.name_of(index)).exists()

    def stored(self) -> np.ndarray:
        """Which chunks have a file; bool, of the grid's shape.

        Each folder is listed once: to ask for each of a million files takes minutes on a server.
        """
        found = np.zeros(self.shape, bool)
        if self.folder is None:
            return found
        listed, names = None, frozenset[str]()
        for k, j, i in np.ndindex(self.shape):
            within, _, name = self.name_of((k, j, i)).rpartition("/")
            if within != listed:
                listed, names = within, _names_in(self.folder / within)
            found[k, j, i] = name in names
        return found


def _names_in(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def folder_of(array: Any) -> Path | None:
    """The folder of a zarr array, or None where it is elsewhere."""
    root = getattr(getattr(array, "store", None), "root", None)
    return None if root is None else Path(root) / array.path


def packed(stored: np.ndarray) -> dict[str, Any]:
    """The attribute that says which chunks have a file.

    Examples
    --------
    >>> unpacked(packed(np.array([[[True, False]]])), (1, 1, 2)).tolist()
    [[[True, False]]]
    """
    content = zlib.compress(np.packbits(stored).tobytes())
    return {"grid": list(stored.shape), "bits": base64.b64encode(content).decode("ascii")}


def unpacked(attribute: Any, shape: Index) -> np.ndarray | None:
    """Which chunks have a file by an attribute; None if it does not say it of such a grid."""
    count = int(np.prod(shape, dtype=object))
    try:
        if tuple(attribute["grid"]) != tuple(shape):
            return None
        content = base64.b64decode(attribute["bits"], validate=True)
        bits = zlib.decompressobj().decompress(content, -(-count // 8))
    except (TypeError, KeyError, ValueError, zlib.error):
        return None
    if len(bits) * 8 < count:
        return None
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=count).astype(bool).reshape(shape)
