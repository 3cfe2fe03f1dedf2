"""Cleaning a segmentation before its skeleton is taken: islands and small tunnels."""

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import CUBE, label_pieces, sizes_of
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.topology import cycle_count, euler_characteristic

from ..thinning.thinning import thin
from .closing import covered
from .solids import fill_cavities


def drop_islands(mask, smallest, report=None):
    """Remove 26-connected components of fewer voxels than `smallest`; the largest always stays.

    `report` is called between slabs; it raises to cancel.

    Returns
    -------
    cleaned : ndarray of bool
    components : int
        How many were removed.
    voxels : int
    """
    labels, count = label_pieces(mask, report=report)
    sizes = sizes_of(labels, count, report)
    small = small_pieces(sizes, smallest)
    if not small.any():
        return mask, 0, 0
    return mask & ~small[labels], int(small.sum()), int(sizes[small].sum())


def small_pieces(sizes, smallest):
    """Which pieces (bool, by their numbers) have fewer voxels; not number 0 nor the largest."""
    small = sizes < smallest
    small[0] = False
    small[1 + np.argmax(sizes[1:])] = False
    return small


def close_tunnels(mask, width, spacing, report=None):
    """Close tunnels up to `width` mm wide by patches, one voxel thick, across them.

    The object, grown by half the width, is thinned back onto it, the voxels furthest from it first:
    what remains besides it are patches across the tunnels that growing had closed (after Aktouf,
    Bertrand and Perroton 2002, who begin with a box), and strands where it had bridged a gap. The
    strands are dropped.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        Without cavities.
    width : float
        mm. A tunnel is as wide as the largest ball that can be pushed through it, between the
        faces of the object's voxels: a straight one along the grid, of n voxels, closes from n
        voxels on. None that is wider is closed. The patch of one that winds between the voxels'
        axes is of whole voxels, and may need up to about a voxel more.
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
    tunnels = cycle_count(mask, report)
    if tunnels == 0:
        return mask, 0, 0
    # No tunnel is wider than the object.
    width = min(width, float(np.linalg.norm(np.array(mask.shape) * spacing)))
    margin = [2 + int(width / 2 / step) for step in spacing]
    inner = tuple(slice(n, -n) for n in margin)
    object_ = np.pad(mask, [(n, n) for n in margin])
    away = distance_to_outside((~object_).view(np.uint8), spacing, report)
    grown = covered(object_, away, width / 2, spacing, report)
    grown, _, _ = fill_cavities(grown, report)
    solid = _thinned(grown, away, object_, report)
    closed = (object_ | _without_strands(solid, object_, report))[inner]
    left = cycle_count(closed, report)
    return closed, tunnels - left, int(np.count_nonzero(closed & ~mask))


def _thinned(grown, away, kept, report):
    """Thin a grown object back to what is kept, the voxels furthest from it first; bool."""
    voxels = np.flatnonzero(grown)
    order = (away.max() - away).reshape(-1)[voxels]
    never = np.zeros(len(voxels), bool)
    progress = Progress.of(None if report is None else lambda share: report())
    left = thin(voxels, order, kept.reshape(-1)[voxels], never, grown.shape, progress)
    solid = np.zeros_like(grown)
    solid.reshape(-1)[left] = True
    return solid


def _without_strands(solid, mask, report=None):
    """The pieces of a solid beside the object that close more tunnels than they make.

    Pieces between two components of the object are dropped, too.
    """
    pieces, _ = label_pieces(solid & ~mask, report=report)
    components, _ = label_pieces(mask, report=report)
    kept = np.zeros_like(mask)
    for label, box in enumerate(ndimage.find_objects(pieces), start=1):
        if report is not None:
            report()
        around = tuple(slice(side.start - 1, side.stop + 1) for side in box)
        piece = pieces[around] == label
        touched = np.unique(components[around][ndimage.binary_dilation(piece, CUBE)])
        with_it = euler_characteristic(mask[around] | piece)
        if np.count_nonzero(touched) == 1 and with_it > euler_characteristic(mask[around]):
            kept[around] |= piece
    return kept
