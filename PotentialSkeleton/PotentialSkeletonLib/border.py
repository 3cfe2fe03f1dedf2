"""The border of a component: distances to the nearest voxel centre outside, in mm.

On the axis of a round tube of any direction, of radius 1 to 8 voxels, that is its radius + 0.17 to
0.02 voxels; half a voxel less would be right between flat walls along the grid only.
"""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import distance_to_outside

SPARSE = 20  # voxels of the box for one of the component: there points are faster than the box


class Border:
    """The voxels that have one of a component at a face: among them is the nearest of any point.

    Else a step from the nearest voxel outside towards the point would be nearer.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The component; it does not touch the array's border.
    spacing : 3 floats K, J, I, in mm

    Examples
    --------
    >>> border = Border(np.pad(np.ones((3, 3, 4), bool), 1), (1, 1, 0.5))
    >>> border.distances(np.array([[2.0, 2, 2.5]]))
    array([1.25])
    """

    def __init__(self, mask: np.ndarray, spacing: Sequence[float]) -> None:
        from scipy.spatial import cKDTree

        self._mask, self._spacing = mask, tuple(spacing)
        shell = np.zeros_like(mask)
        for axis in range(3):
            one, other = shell.swapaxes(0, axis), mask.swapaxes(0, axis)
            one[1:] |= other[:-1]
            one[:-1] |= other[1:]
        shell &= ~mask
        places = np.argwhere(shell) * self._spacing
        self._tree = cKDTree(places, balanced_tree=False, compact_nodes=False)

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Distance of each point (n, 3), in voxels, of the component."""
        return self._tree.query(points * self._spacing, workers=-1)[0]

    def depth(self, progress: Progress) -> np.ndarray:
        """Distance of each voxel; float32 (K, J, I), 0 outside of the component."""
        if SPARSE * np.count_nonzero(self._mask) > self._mask.size:
            return distance_to_outside(self._mask, self._spacing, progress)
        voxels = np.argwhere(self._mask)
        depth = np.zeros(self._mask.shape, np.float32)
        depth[tuple(voxels.T)] = self.distances(voxels)
        return depth
