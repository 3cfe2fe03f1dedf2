"""Bounding boxes along the axes of a volume, as tuples of slices."""

from collections.abc import Sequence

import numpy as np

Box = tuple[slice, ...]


def bounding_box(mask: np.ndarray) -> Box | None:
    """Return the smallest box that holds all voxels that are not 0.

    Parameters
    ----------
    mask : ndarray of any number of axes

    Returns
    -------
    tuple of slice, or None if there is no such voxel

    Examples
    --------
    >>> mask = np.zeros((4, 5, 6), bool)
    >>> mask[1:3, 2, 4:] = True
    >>> bounding_box(mask)
    (slice(1, 3, None), slice(2, 3, None), slice(4, 6, None))
    >>> bounding_box(np.zeros((2, 2), bool)) is None
    True
    """
    # The greatest of unsigned numbers is found several at a time, whether any is not 0 is not.
    union = np.maximum if mask.dtype.kind in "bu" else np.logical_or
    box = []
    while mask.ndim:
        used = np.flatnonzero(mask.any(axis=tuple(range(1, mask.ndim))))
        if not used.size:
            return None
        box.append(slice(int(used[0]), int(used[-1]) + 1))
        mask = union.reduce(mask[box[-1]], axis=0)  # what is left has one axis less
    return tuple(box)


def padded_box(box: Sequence[slice], margin: Sequence[int], shape: Sequence[int]) -> Box:
    """Return a box enlarged on every side by a margin along each axis, within the volume.

    Examples
    --------
    >>> padded_box((slice(1, 3), slice(5, 8)), (2, 1), (9, 8))
    (slice(0, 5, None), slice(4, 8, None))
    """
    return tuple(
        slice(max(side.start - layers, 0), min(side.stop + layers, length))
        for side, layers, length in zip(box, margin, shape, strict=True)
    )


def full_box(shape: Sequence[int]) -> Box:
    """Return the box that holds the whole volume."""
    return tuple(slice(0, length) for length in shape)


def box_size(box: Sequence[slice]) -> int:
    """Return the number of voxels in a box."""
    return int(np.prod([side.stop - side.start for side in box], dtype=np.int64))
