"""Connected components of a mask on the CPU, slab by slab, so that a run can be cancelled.

This is not `scipy.ndimage.label`, which cannot be cancelled: one call labels a whole volume. It is
faster, too: 0.035 s instead of 0.20 s for a tube of 256 x 256 x 487 voxels, 0.014 s instead of
0.13 s for thin branches in 300 x 300 x 300 voxels (two cores of an AMD EPYC; least of 3 to 5 runs;
the labels are identical).
"""

from typing import TYPE_CHECKING, Literal

import numpy as np

from ...compilation import needs_numba
from ...progress import Progress
from ..bounding_box import bounding_box

if TYPE_CHECKING:
    from .run_length import RunLengthEncoding

SLAB_VOXELS = 1 << 22  # of one call
CUBE = np.ones((3, 3, 3), bool)  # 26-neighbourhood as a structuring element

Connectivity = Literal[6, 26]


def label_components(
    mask: np.ndarray, connectivity: Connectivity = 26, progress: Progress | None = None
) -> tuple[np.ndarray, int]:
    """Label the connected components of a mask from 1, in the order of their first voxels.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    connectivity : int
        26: over faces, edges and corners; 6: over faces only.
    progress : Progress, optional
        Checked between slabs.

    Returns
    -------
    labels : ndarray of int32, shape (K, J, I)
        0 outside of the mask.
    count : int

    Raises
    ------
    Cancelled
        The progress callback returned False.

    Examples
    --------
    >>> label_components(np.array([[[1, 0, 1, 1]]], bool))
    (array([[[1, 0, 2, 2]]], dtype=int32), 2)
    """
    runs = encode_runs(mask, 1, connectivity, False, progress)
    labels = np.zeros(mask.shape, np.int32)
    runs.write(labels)
    return labels, runs.count


def count_components(
    mask: np.ndarray, connectivity: Connectivity = 26, progress: Progress | None = None
) -> int:
    """Return the number of connected components; parameters as for `label_components`."""
    return encode_runs(mask, 1, connectivity, False, progress).count


def component_sizes(labels: np.ndarray, count: int, progress: Progress | None = None) -> np.ndarray:
    """Return the number of voxels of each label from 0 on; int64 (count + 1,)."""
    with needs_numba():
        from .label_measures import count_labels
    progress = Progress.of(progress)
    sizes = np.zeros(count + 1, np.int64)
    for slab in _slabs(labels.shape):
        count_labels(labels[slab].reshape(-1), sizes)
        progress.check()
    return sizes


def component_boxes(labels: np.ndarray, count: int) -> list[tuple[slice, ...]]:
    """Return the bounding box of each label from 1 on, as tuples of 3 slices."""
    if count == 1 and labels.dtype == np.uint8:  # a mask: that type alone would be compiled for it
        box = bounding_box(labels)
        return [] if box is None else [box]
    with needs_numba():
        from .label_measures import find_boxes
    boxes = np.empty((count, 3, 2), np.int64)
    find_boxes(labels, boxes)
    return [tuple(slice(first, last + 1) for first, last in box) for box in boxes.tolist()]


def fill_cavities(
    mask: np.ndarray, progress: Progress | None = None
) -> tuple[np.ndarray, int, int]:
    """Fill cavities: background that is not 6-connected to the outside of the volume.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    progress : Progress, optional
        Checked between slabs.

    Returns
    -------
    filled : ndarray of bool, shape (K, J, I)
        The mask itself if it has no cavity.
    count : int
        Number of cavities.
    voxels : int
        Number of their voxels.

    Raises
    ------
    Cancelled
        The progress callback returned False.
    """
    background = encode_runs(mask, 0, 6, True, progress)
    if background.count == 0:
        return mask, 0, 0
    filled = np.array(mask, order="C")
    return filled, background.count, int(background.fill(filled.view(np.uint8)))


def encode_runs(
    mask: np.ndarray,
    value: int,
    connectivity: Connectivity,
    with_outside: bool,
    progress: Progress | None = None,
) -> "RunLengthEncoding":
    """Return the `RunLengthEncoding` of the voxels of a mask (bool) that have some value."""
    with needs_numba():
        from .run_length import RunLengthEncoding
    voxels = np.ascontiguousarray(mask).view(np.uint8)
    slabs = _slabs(mask.shape)
    return RunLengthEncoding(
        voxels, value, connectivity == 26, with_outside, slabs, Progress.of(progress)
    )


def _slabs(shape: tuple[int, ...]) -> list[slice]:
    step = max(1, SLAB_VOXELS // max(shape[1] * shape[2], 1))
    return [slice(first, min(first + step, shape[0])) for first in range(0, shape[0], step)]
