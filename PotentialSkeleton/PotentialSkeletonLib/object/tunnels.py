"""Tunnels of an object that are closed before its skeleton is taken."""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import distance_to_outside
from FuzzyVesselCoreLib.voxels.labels import CUBE, component_boxes, fill_cavities, label_components
from FuzzyVesselCoreLib.voxels.topology import cycle_count, euler_characteristic

VOXELS_AT_ONCE = 1 << 22  # whose distances are computed at once, on a grid of half voxels
ROUNDING = 1e-5  # share of the distance


def close_tunnels(
    mask: np.ndarray, width: float, spacing: Sequence[float], progress: Progress | None = None
) -> tuple[np.ndarray, int, int]:
    """Close tunnels up to `width` mm wide by patches, one voxel thick, across them.

    The object (bool, without cavities), dilated by half the width, is thinned back onto it, the
    voxels furthest from it first: what remains besides it are patches across the tunnels that the
    dilation had closed (after Aktouf, Bertrand and Perroton 2002, who begin with a box), and
    strands across gaps, which are dropped.

    A tunnel is as wide as the largest ball that can be pushed through it, between the faces of the
    object's voxels: a straight one along the grid, of n voxels, closes from n voxels on. None that
    is wider is closed. The patch of one that winds between the voxels' axes is of whole voxels, and
    may need up to about a voxel more. Returned are the closed object, and how many tunnels were
    closed and voxels added.
    """
    from ..thinning import thin

    progress = Progress.of(progress)
    tunnels = cycle_count(mask, progress)
    if tunnels == 0:
        return mask, 0, 0
    # No tunnel is wider than the object.
    width = min(width, float(np.linalg.norm(np.array(mask.shape) * spacing)))
    margin = [2 + int(width / 2 / step) for step in spacing]
    inner = tuple(slice(n, -n) for n in margin)
    object_ = np.pad(mask, [(n, n) for n in margin])
    dilated, _, _ = fill_cavities(covered(object_, width / 2, spacing, progress), progress)
    distance = distance_to_outside((~object_).view(np.uint8), spacing, progress)
    voxels = np.flatnonzero(dilated)
    order = (distance.max() - distance).reshape(-1)[voxels]
    stays, never = object_.reshape(-1)[voxels], np.zeros(len(voxels), bool)
    solid = np.zeros_like(object_)
    solid.reshape(-1)[thin(voxels, order, stays, never, solid.shape)] = True
    progress.check()
    closed = (object_ | _patches(solid, object_, progress))[inner]
    left = cycle_count(closed, progress)
    return closed, tunnels - left, int(np.count_nonzero(closed & ~mask))


def covered(
    mask: np.ndarray, distance: float, spacing: Sequence[float], progress: Progress | None = None
) -> np.ndarray:
    """The voxels no point of which is further than `distance` (mm) from the object, and the object.

    The object is the union of its voxels' closed boxes. So a slit, or a straight tunnel along the
    grid, of n voxels is full from a distance of n / 2 voxels on, whether n is even or odd. The
    distance is largest at the centre of a voxel and of its faces and edges, or at its corners: on a
    grid of half voxels, on which the nearest point of a box lies, too.
    """
    progress, found = Progress.of(progress), mask.copy()
    limit = distance * (1 + ROUNDING)
    reach = int(limit / spacing[0]) + 2
    planes = max(VOXELS_AT_ONCE // (mask.shape[1] * mask.shape[2]), 1)
    for first in range(0, len(mask), planes):
        low, last = max(first - reach, 0), min(first + planes, len(mask))
        part = mask[low : last + reach]
        if part.any():
            fine = np.ones([2 * n + 1 for n in part.shape], np.uint8)
            for corner in np.ndindex(3, 3, 3):
                place = tuple(slice(at, at + 2 * n - 1, 2) for at, n in zip(corner, part.shape))
                fine[place] &= ~part
            half = [step / 2 for step in spacing]
            near = distance_to_outside(fine, half, progress) <= limit
            for axis in range(3):
                near = np.moveaxis(near, axis, 0)
                near = np.moveaxis(near[:-2:2] & near[1:-1:2] & near[2::2], 0, axis)
            found[first:last] |= near[first - low : last - low]
    return found


def _patches(solid: np.ndarray, mask: np.ndarray, progress: Progress) -> np.ndarray:
    """The components of a solid beside the object that close more tunnels than they make.

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
