"""Cleaning a segmentation before its skeleton is taken: islands and small tunnels."""

import numpy as np
from scipy import ndimage

from .distance import distance_to_outside
from .thinning import thin
from .topology import CUBE, cycle_count, euler_characteristic


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
    besides the object are patches across its tunnels (Aktouf, Bertrand and Perroton 2002). What
    lies further from the object than half the width is cut out of them, and the thinning goes on:
    patches with one such hole shrink back onto the object, and strands that are left of patches
    with several are dropped.

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
    none = np.zeros_like(object_)
    solid = thin(box, nearest_last, object_, none, report)
    solid &= away <= width / 2
    solid = thin(solid.view(np.uint8), nearest_last, object_, none, report)
    closed = (object_ | _without_strands(solid, object_))[2:-2, 2:-2, 2:-2]
    return closed, tunnels - cycle_count(closed), int(np.count_nonzero(closed & ~mask))


def _without_strands(solid, mask):
    """The pieces of a solid beside the object that close more tunnels than they make."""
    pieces, _ = ndimage.label(solid & ~mask, CUBE)
    kept = np.zeros_like(mask)
    for label, box in enumerate(ndimage.find_objects(pieces), start=1):
        around = tuple(slice(side.start - 1, side.stop + 1) for side in box)
        piece = pieces[around] == label
        with_it = euler_characteristic(mask[around] | piece)
        if with_it > euler_characteristic(mask[around]):
            kept[around] |= piece
    return kept
