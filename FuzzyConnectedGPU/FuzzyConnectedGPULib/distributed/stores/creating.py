"""New arrays at a path, and the chunks that were written to them."""

from pathlib import Path
from typing import Any

import numpy as np

from .chunks import RECORD, ChunkGrid, packed
from .opening import array_folder, import_zarr

MAX_CHUNK, MIN_CHUNK = 128, 16  # voxels along an axis of a chunk of a new zarr array


def create(
    path: Path,
    shape: tuple[int, ...],
    voxel_type: Any,
    block: tuple[int, ...],
    attributes: dict[str, str] | None = None,
) -> None:
    """Create an array of zeros at a path: a .npy file or a zarr array whose chunks divide blocks.

    Without given attributes, those of a scene are written.
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
        attributes=attributes, dimension_names=["z", "y", "x"],
    )  # fmt: skip


def record_chunks(path: Path) -> None:
    """Have a zarr array or image say which chunks were written to it."""
    if path.suffix == ".npy":
        return
    array = import_zarr(str(path)).open_array(str(array_folder(path)), mode="r+")
    grid = ChunkGrid.of(array)
    assert grid is not None
    array.attrs[RECORD] = packed(grid.stored())


def chunk_length(block: int) -> int:
    """The largest divisor of a block's length up to 128, or the length if that is under 16.

    Examples
    --------
    >>> [chunk_length(n) for n in (512, 500, 509, 7)]
    [128, 125, 509, 7]
    """
    divisor = max(n for n in range(1, min(block, MAX_CHUNK) + 1) if block % n == 0)
    return divisor if divisor >= MIN_CHUNK else block
