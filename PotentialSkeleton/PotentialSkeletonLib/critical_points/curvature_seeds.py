"""Seeds of curves at sharp places of the surface."""

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import CUBE

from .local_minima import inner_slabs, local_minima, lowest_first, spans_of

REACH = 3  # voxels on each side of the cube in which the surface's curvature is measured
SHARP = 0.28  # share of the cube inside the object: about 4/7 on a plane, 1/3 on an edge


def curvature_seeds(mask: np.ndarray, progress: Progress | None = None) -> np.ndarray:
    """Return surface voxels where the object takes up the least of a cube round them.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The object, which must not touch the border of the array.
    progress : Progress, optional
        Checked between slabs.

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I, the sharpest first.
    """
    progress = Progress.of(progress)
    share = np.full(mask.shape, np.inf, np.float32)
    for first, last in inner_slabs(mask.shape):
        low = max(first - REACH - 1, 0)
        share[first:last] = _share_inside(mask[low : last + REACH + 1])[first - low : last - low]
        progress.check()
    seeds = local_minima(share, spans_of(mask.view(np.uint8)), SHARP, progress)
    return seeds[lowest_first(share[tuple(seeds.T)])]


def _share_inside(mask: np.ndarray) -> np.ndarray:
    """Return the share of the cube round each surface voxel inside; infinite elsewhere."""
    share = ndimage.uniform_filter(mask.astype(np.float32), 2 * REACH + 1, mode="constant")
    share = ndimage.uniform_filter(share, 3, mode="constant")  # plateaus get one lowest voxel
    share[~mask | ndimage.binary_erosion(mask, CUBE)] = np.inf
    return share
