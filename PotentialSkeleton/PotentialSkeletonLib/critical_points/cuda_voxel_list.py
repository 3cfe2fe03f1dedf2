"""Stream compaction on a CUDA device: records of those voxels that fulfil a condition."""

from pathlib import Path
from typing import Any

import numpy as np

THREADS, MAX_BLOCKS = 64, 1 << 13  # each block has one atomic operation for the range of values
FIRST_CAPACITY = 4096  # records; with more records the search is repeated


def list_records(
    path: Path, kernel: str, record: np.dtype, arguments: tuple[Any, ...], shape: Any, gpu: Any
) -> np.ndarray:
    """Return the records that a kernel lists, in rising order of their field "voxel".

    Parameters
    ----------
    path : Path
        The `.cu` file.
    kernel : str
        Its last parameters are the capacity and the list; see voxel_list.cuh.
    record : dtype
        A multiple of 8 bytes.
    arguments : tuple
        The kernel's other arguments.
    shape : tuple of int
        Of the volume K, J, I; a block takes whole rows.
    gpu : CudaDevice
    """
    capacity, length = FIRST_CAPACITY, record.itemsize // 8
    while True:
        records = gpu.xp.empty((capacity + 1, length), np.int64)
        records[0] = 0
        launch_rows(path, kernel, shape, (*arguments, np.int64(capacity), records), gpu)
        found = gpu.get(records)
        count = int(found[0, 0])
        if count <= capacity:
            found = found[1 : count + 1].view(record)[:, 0]
            return found[np.argsort(found["voxel"])]
        capacity = count


def voxels_of_records(records: np.ndarray, shape: Any) -> np.ndarray:
    """Return the voxels K, J, I of records; int64 (n, 3)."""
    return np.stack(np.unravel_index(records["voxel"], shape), axis=1)


def launch_rows(path: Path, kernel: str, shape: Any, arguments: tuple[Any, ...], gpu: Any) -> None:
    """Launch a kernel whose blocks take whole rows of a volume."""
    blocks = min(shape[0] * shape[1], MAX_BLOCKS)
    gpu.kernel(path, kernel)((blocks,), (THREADS,), arguments)


def int32_shape(volume: Any) -> tuple[np.int32, ...]:
    """Return the shape of a volume in the type of a kernel's parameters."""
    return tuple(np.int32(n) for n in volume.shape)
