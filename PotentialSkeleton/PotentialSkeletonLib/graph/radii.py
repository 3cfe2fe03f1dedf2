"""Radii: distances from points inside an object to its border, in mm.

The border is where the nearest voxel centres outside are. On the axis of a round tube of any
direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
would be right between flat walls along the grid only.
"""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.jit import compiled
from FuzzyVesselCoreLib.threads import in_parts


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

    solid = mask.view(np.uint8)
    shells = in_parts(lambda a, b: shell_of_planes(solid, a, b), len(solid), solid.size)
    shell = np.stack(np.unravel_index(np.concatenate(shells), mask.shape), axis=1)
    tree = cKDTree(shell * np.asarray(spacing), balanced_tree=False, compact_nodes=False)
    return tree.query(points * np.asarray(spacing), workers=-1)[0]


@compiled
def shell_of_planes(solid, first, last):
    """Flat indices of those voxels outside, in some planes, that have the object at a face."""
    depth, rows, width = solid.shape
    near, found = np.empty(width, np.uint8), [0]
    for k in range(first, last):
        for j in range(rows):
            here = solid[k, j]
            before, behind = solid[max(k - 1, 0), j], solid[min(k + 1, depth - 1), j]
            above, below = solid[k, max(j - 1, 0)], solid[k, min(j + 1, rows - 1)]
            for i in range(width):
                near[i] = before[i] | behind[i] | above[i] | below[i]
            for i in range(1, width):
                near[i] |= here[i - 1]
                near[i - 1] |= here[i]
            for i in range(width):
                if near[i] > here[i]:
                    found.append((k * rows + j) * width + i)
    return np.array(found)[1:]
