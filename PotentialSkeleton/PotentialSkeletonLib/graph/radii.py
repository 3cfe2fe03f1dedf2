"""Radii: distances from points inside an object to its border, in mm.

The border is where the nearest voxel centres outside are. On the axis of a round tube of any
direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
would be right between flat walls along the grid only.
"""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from FuzzyVesselCoreLib.progress import Progress


def radius_at(
    points: np.ndarray,
    solid: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    start: Sequence[int] = (0, 0, 0),
) -> np.ndarray:
    """Distance of each point to the nearest voxel centre outside an object.

    That voxel has one of the object at a face: else a step towards the point would be nearer.

    Parameters
    ----------
    points : ndarray of float, (n, 3)
        In the array, in voxels.
    solid : ndarray, shape (K, J, I)
        Not 0 in the object. Beyond the array everything is outside.
    spacing : 3 floats K, J, I, in mm
    progress : Progress
    start : 3 ints K, J, I
        The voxel, as points count, at which the array begins.

    Returns
    -------
    ndarray of float64, (n,), in mm
    """
    if not len(points):
        return np.zeros(0)
    inside = np.pad(solid != 0, 1)
    shell = np.zeros_like(inside)
    for axis in range(3):
        one, other = np.moveaxis(shell, axis, 0), np.moveaxis(inside, axis, 0)
        one[1:] |= other[:-1]
        one[:-1] |= other[1:]
    places = np.argwhere(shell & ~inside) + (np.array(start) - 1)
    progress.check()
    tree = cKDTree(places * np.asarray(spacing), balanced_tree=False, compact_nodes=False)
    return tree.query(points * np.asarray(spacing), workers=-1)[0]
