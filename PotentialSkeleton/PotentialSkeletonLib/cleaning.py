"""Cleaning a segmentation before its skeleton is taken: islands and small tunnels."""

import numpy as np
from scipy import ndimage

from .distance import distance_to_outside
from .thinning import thin
from .topology import CUBE, cycle_count


def drop_islands(mask, smallest):
    """Remove 26-connected components of fewer voxels than `smallest`; the largest always stays.

    Returns
    -------
    cleaned : ndarray of bool
    components : int
        How many were removed.
    voxels : int
    """
    labels, count = ndimage.label(mask, CUBE)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    sizes[0] = 0
    small = (sizes < smallest) & (sizes > 0)
    small[np.argmax(sizes)] = False
    return mask & ~small[labels], int(small.sum()), int(sizes[small].sum())


def close_tunnels(mask, width, spacing, report=None):
    """Close tunnels up to `width` mm wide by patches, one voxel thick, across them.

    A box round the object is thinned onto it, the voxels furthest from it first: what remains
    besides the object are patches across its tunnels (Aktouf, Bertrand and Perroton 2002). Those
    whose voxels are all within half the width of the object are kept.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        Without cavities.
    width : float
        mm.
    spacing : 3 floats K, J, I, in mm
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    closed : ndarray of bool
    tunnels : int
        How many were closed.
    voxels : int
        How many were added.
    """
    tunnels = cycle_count(mask)
    if tunnels == 0:
        return mask, 0, 0
    box = np.pad(np.ones([n + 2 for n in mask.shape], np.uint8), 1)
    object_ = np.pad(mask, 2)
    away = distance_to_outside((~object_).astype(np.uint8), spacing, report)
    nearest_last = away.max() - away
    solid = thin(box, nearest_last, object_, np.zeros_like(object_), report)
    patches, count = ndimage.label(solid & ~object_, CUBE)
    furthest = ndimage.maximum(away, patches, np.arange(1, count + 1))
    keep = np.concatenate([[False], np.asarray(furthest).reshape(-1) <= width / 2])
    closed = (object_ | keep[patches])[2:-2, 2:-2, 2:-2]
    return closed, tunnels - cycle_count(closed), int(np.count_nonzero(closed & ~mask))
