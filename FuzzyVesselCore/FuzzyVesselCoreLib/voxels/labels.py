"""Connected components of a mask, their sizes and boxes, and enclosed cavities."""

from typing import Literal

import numpy as np

from ..compilation import needs_numba
from ..progress import Progress
from .masks import Box, bounding_box

CUBE = np.ones((3, 3, 3), bool)  # 26-neighbourhood as a structuring element

Connectivity = Literal[6, 26]


def label_components(
    mask: np.ndarray, connectivity: Connectivity = 26, progress: Progress | None = None
) -> tuple[np.ndarray, int]:
    """Label the connected components of a mask from 1, in the order of their first voxels.

    The object of a mask (bool or uint8; K, J, I) is not 0; 26: over faces, edges and corners, 6:
    over faces only. Returns labels (int32; K, J, I; 0 outside of the mask) and their number.

    Examples
    --------
    >>> label_components(np.array([[[1, 0, 1, 1]]], bool))
    (array([[[1, 0, 2, 2]]], dtype=int32), 2)
    """
    progress = Progress.of(progress)
    progress.check()
    voxels = np.ascontiguousarray(mask) != 0
    if 1 in voxels.shape:  # cc3d 4.1 expects too few labels in some volumes one voxel thick
        from scipy import ndimage

        labels, count = ndimage.label(voxels, CUBE if connectivity == 26 else None)
    else:
        with needs_numba():
            import cc3d

        labels, count = cc3d.connected_components(
            voxels, connectivity=connectivity, return_N=True, out_dtype=np.uint32
        )
    progress.check()
    return labels.view(np.int32), count


def count_components(
    mask: np.ndarray, connectivity: Connectivity = 26, progress: Progress | None = None
) -> int:
    """Return the number of connected components; parameters as for `label_components`."""
    return label_components(mask, connectivity, progress)[1]


def component_sizes(labels: np.ndarray, count: int, progress: Progress | None = None) -> np.ndarray:
    """Return the number of voxels of each label from 0 on; int64 (count + 1,)."""
    Progress.of(progress).check()
    flat = labels.reshape(-1)
    sizes = np.bincount(flat[np.flatnonzero(flat)], minlength=count + 1)  # most voxels are 0
    sizes[0] = flat.size - sizes.sum()
    return sizes


def component_boxes(labels: np.ndarray, count: int) -> list[Box]:
    """Return the bounding box of each label from 1 on, as tuples of 3 slices."""
    if count == 1:
        box = bounding_box(labels)
        return [] if box is None else [box]
    from scipy import ndimage

    return ndimage.find_objects(labels, count)


def fill_cavities(
    mask: np.ndarray, progress: Progress | None = None
) -> tuple[np.ndarray, int, int]:
    """Fill cavities: background that is not 6-connected to the outside of the volume.

    Returns the filled mask (bool; K, J, I), which is the mask itself if it has no cavity, and the
    numbers of cavities and of their voxels.
    """
    box = bounding_box(mask)
    if box is None:
        Progress.of(progress).check()
        return mask, 0, 0
    # With a margin, all background outside of the object is the first component.
    background = np.pad(mask[box] == 0, 1, constant_values=True)
    labels, count = label_components(background, 6, progress)
    if count == 1:
        return mask, 0, 0
    cavities = labels[1:-1, 1:-1, 1:-1] > 1
    filled = np.array(mask, order="C")
    filled[box] |= cavities
    return filled, count - 1, int(np.count_nonzero(cavities))
