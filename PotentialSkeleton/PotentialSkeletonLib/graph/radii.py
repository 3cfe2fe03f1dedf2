"""Radii: distances from points inside an object to its border, in mm.

The border is where the nearest voxel centres outside are. On the axis of a round tube of any
direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
would be right between flat walls along the grid only.
"""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree


def radius_at(points: np.ndarray, solid: np.ndarray, spacing: Sequence[float]) -> np.ndarray:
    """Distance (mm) of each point (n, 3), in voxels, to the nearest voxel centre outside an object.

    Beyond the array (bool) everything is outside. The nearest voxel outside has one of the object
    at a face: else a step towards the point would be nearer.

    Examples
    --------
    >>> radius_at(np.array([[1.0, 1, 1.5]]), np.ones((3, 3, 4), bool), (1, 1, 0.5))
    array([1.25])
    """
    inside = np.pad(solid, 1)
    shell = np.zeros_like(inside)
    for axis in range(3):
        one, other = np.moveaxis(shell, axis, 0), np.moveaxis(inside, axis, 0)
        one[1:] |= other[:-1]
        one[:-1] |= other[1:]
    places = (np.argwhere(shell & ~inside) - 1) * np.asarray(spacing)
    tree = cKDTree(places, balanced_tree=False, compact_nodes=False)
    return tree.query(points * np.asarray(spacing), workers=-1)[0]
