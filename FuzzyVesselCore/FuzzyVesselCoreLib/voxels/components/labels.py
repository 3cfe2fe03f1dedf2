"""Connected pieces of a mask, numbered slab by slab, so that a run can be cancelled in between."""

import numpy as np

from ...compilation import compiled_code

SLAB = 1 << 22  # voxels worked on by one call
CUBE = np.ones((3, 3, 3), bool)  # 26-neighbourhood as a structuring element


def label_pieces(mask, corners=True, report=None):
    """Number the connected pieces of a mask from 1, in the order of their first voxels.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    corners : bool
        Whether voxels are connected over edges and corners, too (26 neighbours), or over faces
        only (6 neighbours).
    report : callable, optional
        Called between slabs; raises to cancel.

    Returns
    -------
    labels : ndarray of int32, shape (K, J, I)
        0 outside of the mask.
    count : int
    """
    runs = runs_of(mask, 1, corners, False, report)
    labels = np.zeros(mask.shape, np.int32)
    runs.write(labels)
    return labels, runs.count


def count_pieces(mask, corners=True, report=None):
    """How many connected pieces a mask has; parameters as for `label_pieces`."""
    return runs_of(mask, 1, corners, False, report).count


def sizes_of(labels, count, report=None):
    """Voxels of each piece, from number 0 (outside of all) on; int64 (count + 1,)."""
    with compiled_code():
        from .run_length import count_labels
    sizes = np.zeros(count + 1, np.int64)
    for slab in _slabs(labels.shape):
        count_labels(labels[slab].reshape(-1), sizes)
        _pause(report)
    return sizes


def boxes_of(labels, count):
    """The box of each piece from number 1 on: tuples of 3 slices."""
    with compiled_code():
        from .run_length import find_boxes
    boxes = np.empty((count, 3, 2), np.int64)
    find_boxes(labels, boxes)
    return [tuple(slice(first, last + 1) for first, last in box) for box in boxes.tolist()]


def runs_of(mask, value, corners, with_outside, report=None):
    """The `Runs` of a mask (bool) that have some value; parameters as for them."""
    with compiled_code():
        from .run_length import Runs
    voxels = np.ascontiguousarray(mask).view(np.uint8)
    return Runs(voxels, value, corners, with_outside, _slabs(mask.shape), lambda: _pause(report))


def _slabs(shape):
    step = max(1, SLAB // max(shape[1] * shape[2], 1))
    return [slice(first, min(first + step, shape[0])) for first in range(0, shape[0], step)]


def _pause(report):
    if report is not None:
        report()
