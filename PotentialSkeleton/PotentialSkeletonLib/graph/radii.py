"""Radii: distances from points inside an object to its border, in mm.

The border is where the nearest voxel centres outside are. On the axis of a round tube of any
direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
would be right between flat walls along the grid only.
"""

from collections.abc import Sequence

import numpy as np


def radius_at(points: np.ndarray, mask: np.ndarray, spacing: Sequence[float]) -> np.ndarray:
    """Distance (mm) of each point (n, 3), in voxels, to the nearest voxel centre outside an object.

    The object (bool) does not touch the array's border. The nearest voxel outside has one of the
    object at a face: else a step towards the point would be nearer.

    Examples
    --------
    >>> radius_at(np.array([[2.0, 2, 2.5]]), np.pad(np.ones((3, 3, 4), bool), 1), (1, 1, 0.5))
    array([1.25])
    """
    from scipy.spatial import cKDTree

    shell = np.zeros_like(mask)
    for axis in range(3):
        one, other = shell.swapaxes(0, axis), mask.swapaxes(0, axis)
        one[1:] |= other[:-1]
        one[:-1] |= other[1:]
    shell &= ~mask
    tree = cKDTree(
        np.argwhere(shell) * np.asarray(spacing), balanced_tree=False, compact_nodes=False
    )
    return tree.query(points * np.asarray(spacing), workers=-1)[0]
