"""Places of a force field on the card that few voxels are; only these come to the host."""

from pathlib import Path

import numpy as np

from .field_seeds import TIE, highest_seed, lowest_first

KERNELS = Path(__file__).with_name("field_seeds.cu")
THREADS, MOST_BLOCKS = 64, 1 << 13  # each block has one atomic operation for the range of values
CELL = np.dtype([("voxel", np.int64), ("corners", np.float32, (8, 3))])
MINIMUM = np.dtype([("voxel", np.int64), ("value", np.float32), ("unused", np.int32)])
FIRST_ROOM = 4096  # records; where they do not suffice the search is done again with room for all


def cells_with_sign_changes(vectors, classes, lowest_class, gpu):
    """Cells of eight voxels in which all three components of the force change sign.

    As `zeros.cells_of_planes` finds them on the host.

    Parameters
    ----------
    vectors : CuPy's ndarray, float32, shape (K, J, I, 3)
    classes : CuPy's ndarray, uint8, shape (K, J, I)
    lowest_class : int
        All eight voxels have at least this class.
    gpu : CudaDevice

    Returns
    -------
    cells : ndarray of int64, (n, 3)
        Their first corners K, J, I, in rising order.
    corners : ndarray of float32, (n, 8, 3)
        The forces at their corners, I fastest.
    """
    if min(classes.shape) < 2:
        return np.empty((0, 3), np.int64), np.empty((0, 8, 3), np.float32)
    arguments = vectors, classes, *_sizes(classes), np.int32(lowest_class)
    found = _listed("find_cells", CELL, arguments, classes.shape, gpu)
    return _places(found, classes.shape), found["corners"]


def divergence_seeds(vectors, share, gpu):
    """Local minima of the unit force's divergence in the lowest part of its range.

    Equal to `seeds.divergence_seeds`; the forces are float32 on the card.
    """
    shape = vectors.shape[:3]
    if share <= 0 or min(shape) < 3:
        return np.empty((0, 3), np.int64)
    divergence = gpu.xp.empty(shape, np.float32)
    lowest, highest = -(2**31), 2**31 - 1
    limits = gpu.put(np.array([highest, lowest], np.int32))
    _launch("unit_divergence", shape, (vectors, *_sizes(divergence), divergence, limits), gpu)
    low, high = gpu.get(limits)
    if low > high:
        return np.empty((0, 3), np.int64)
    limit = highest_seed(*_as_float(np.array([low, high])), share)
    arguments = divergence, *_sizes(divergence), np.float64(limit), np.float64(TIE)
    found = _listed("find_minima", MINIMUM, arguments, shape, gpu)
    return _places(found, shape)[lowest_first(found["value"])]


def _listed(kernel, record, arguments, shape, gpu):
    """What a kernel lists, in rising order of voxels."""
    room, length = FIRST_ROOM, record.itemsize // 8
    while True:
        records = gpu.xp.empty((room + 1, length), np.int64)
        records[0] = 0
        _launch(kernel, shape, (*arguments, np.int64(room), records), gpu)
        found = gpu.get(records)
        count = int(found[0, 0])
        if count <= room:
            found = found[1 : count + 1].view(record)[:, 0]
            return found[np.argsort(found["voxel"])]
        room = count


def _places(found, shape):
    return np.stack(np.unravel_index(found["voxel"], shape), axis=1)


def _as_float(ordered):
    """Numbers from integers of the same order (`ordered` in the kernels)."""
    ordered = ordered.astype(np.int32)
    return np.where(ordered < 0, ordered ^ 0x7FFFFFFF, ordered).astype(np.int32).view(np.float32)


def _sizes(volume):
    return (np.int32(n) for n in volume.shape)


def _launch(kernel, shape, arguments, gpu):
    blocks = min(shape[0] * shape[1], MOST_BLOCKS)
    gpu.kernel(KERNELS, kernel)((blocks,), (THREADS,), arguments)
