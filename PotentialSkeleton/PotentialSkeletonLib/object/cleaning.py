"""Cleaning of a segmentation before its skeleton is taken: islands and small tunnels."""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import (
    CUBE,
    component_boxes,
    component_sizes,
    fill_cavities,
    label_components,
)
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.topology.euler import cycle_count, euler_characteristic

from ..thinning.thinning import thin
from .closing import covered


def drop_islands(
    mask: np.ndarray, smallest: int, progress: Progress | None = None
) -> tuple[np.ndarray, int, int]:
    """Remove 26-connected components of fewer voxels than `smallest`; the largest always stays.

    Returns
    -------
    cleaned : ndarray of bool
    components : int
        Number of components that were removed.
    voxels : int
        Number of their voxels.
    """
    labels, count = label_components(mask, progress=progress)
    sizes = component_sizes(labels, count, progress)
    small = small_components(sizes, smallest)
    if not small.any():
        return mask, 0, 0
    return mask & ~small[labels], int(small.sum()), int(sizes[small].sum())


def small_components(sizes: np.ndarray, smallest: int) -> np.ndarray:
    """Return which labels (bool) have fewer voxels; not label 0 nor the largest component."""
    small = sizes < smallest
    small[0] = False
    small[1 + np.argmax(sizes[1:])] = False
    return small


def close_tunnels(
    mask: np.ndarray, width: float, spacing: Sequence[float], progress: Progress | None = None
) -> tuple[np.ndarray, int, int]:
    """Close tunnels up to `width` mm wide by patches, one voxel thick, across them.

    The object, dilated by half the width, is thinned back onto it, the voxels furthest from it
    first: what remains besides it are patches across the tunnels that the dilation had closed
    (after Aktouf, Bertrand and Perroton 2002, who begin with a box), and strands across gaps, which
    are dropped.

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
    progress : Progress, optional
        Checked between slices.

    Returns
    -------
    closed : ndarray of bool
    tunnels : int
        Number of tunnels that were closed.
    voxels : int
        Number of voxels that were added.

    Raises
    ------
    Cancelled
        The progress callback returned False.
    """
    progress = Progress.of(progress)
    tunnels = cycle_count(mask, progress)
    if tunnels == 0:
        return mask, 0, 0
    # No tunnel is wider than the object.
    width = min(width, float(np.linalg.norm(np.array(mask.shape) * spacing)))
    margin = [2 + int(width / 2 / step) for step in spacing]
    inner = tuple(slice(n, -n) for n in margin)
    object_ = np.pad(mask, [(n, n) for n in margin])
    distance = distance_to_outside((~object_).view(np.uint8), spacing, progress)
    dilated = covered(object_, distance, width / 2, spacing, progress)
    dilated, _, _ = fill_cavities(dilated, progress)
    solid = _thinned(dilated, distance, object_, progress)
    closed = (object_ | _patches(solid, object_, progress))[inner]
    left = cycle_count(closed, progress)
    return closed, tunnels - left, int(np.count_nonzero(closed & ~mask))


def _thinned(
    dilated: np.ndarray, distance: np.ndarray, kept: np.ndarray, progress: Progress
) -> np.ndarray:
    """Thin a dilated object back to what is kept, the voxels furthest from it first; bool."""
    voxels = np.flatnonzero(dilated)
    order = (distance.max() - distance).reshape(-1)[voxels]
    never = np.zeros(len(voxels), bool)
    left = thin(voxels, order, kept.reshape(-1)[voxels], never, dilated.shape, progress)
    solid = np.zeros_like(dilated)
    solid.reshape(-1)[left] = True
    return solid


def _patches(solid: np.ndarray, mask: np.ndarray, progress: Progress) -> np.ndarray:
    """Return the components of a solid beside the object that close more tunnels than they make.

    Those that touch two components of the object are left out, too.
    """
    added, count = label_components(solid & ~mask, progress=progress)
    components, _ = label_components(mask, progress=progress)
    patches = np.zeros_like(mask)
    for label, box in enumerate(component_boxes(added, count), start=1):
        progress.check()
        around = tuple(slice(side.start - 1, side.stop + 1) for side in box)
        patch = added[around] == label
        touched = np.unique(components[around][ndimage.binary_dilation(patch, CUBE)])
        with_patch = euler_characteristic(mask[around] | patch)
        if np.count_nonzero(touched) == 1 and with_patch > euler_characteristic(mask[around]):
            patches[around] |= patch
    return patches
