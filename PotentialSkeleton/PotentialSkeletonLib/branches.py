"""From chains of voxels to smooth branches with radii in mm."""

import numpy as np
from scipy.spatial import cKDTree

SMOOTHINGS = 4  # passes of (1, 2, 1) / 4 over a branch: a Gaussian of 1.4 points
SAME_PLACE = 1e-3  # voxels
ON_THE_FACE = 1e-6  # voxels from the face between two voxels


def node_positions(graph, places, mask):
    """Where each node lies: the mean of its voxels' places if that is inside the object."""
    positions = np.array([places[voxels].mean(axis=0) for voxels in graph.nodes]).reshape(-1, 3)
    for number in np.flatnonzero(~is_inside(positions, mask)):
        own = places[graph.nodes[number]]
        positions[number] = own[np.argmin(((own - positions[number]) ** 2).sum(axis=1))]
    return positions


def branch_points(graph, places, positions, mask):
    """Yield points (n, 3) in voxels of each chain, from node to node, smooth and in the object."""
    for first, chain, last in graph.chains:
        rough = np.concatenate([positions[[first]], places[chain], positions[[last]]])
        curve = smoothed(rough)
        outside = ~is_inside(curve, mask)
        curve[outside] = rough[outside]
        yield _without_repeats(curve)


def smoothed(points):
    """A polyline after `SMOOTHINGS` passes of (1, 2, 1) / 4; its ends stay."""
    points = points.copy()
    for _ in range(SMOOTHINGS):
        points[1:-1] = (points[:-2] + 2 * points[1:-1] + points[2:]) / 4
    return points


def is_inside(points, mask):
    """Whether each point (n, 3) lies in voxels of the object; between voxels, in all of them."""
    inside = np.ones(len(points), bool)
    edges = np.ceil(points - 0.5 - ON_THE_FACE), np.floor(points + 0.5 + ON_THE_FACE)
    for corner in np.ndindex(2, 2, 2):
        voxels = np.stack([edges[side][:, n] for n, side in enumerate(corner)], axis=1).astype(int)
        valid = ((voxels >= 0) & (voxels < mask.shape)).all(axis=1)
        inside &= valid
        inside[valid] &= mask[tuple(voxels[valid].T)] != 0
    return inside


def _without_repeats(points):
    away = np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1))
    keep = np.concatenate([[True], away > SAME_PLACE])
    keep[-1] = True
    if len(keep) > 2 and away[-1] <= SAME_PLACE:
        keep[-2] = False
    return points[keep]


class Border:
    """Distances from points inside an object to its border, in mm.

    The border is where the nearest voxel centres outside are. On the axis of a round tube of any
    direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
    would be right between flat walls along the grid only.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The object.
    spacing : 3 floats K, J, I, in mm
    origin : 3 ints, optional
        Where the mask begins in the volume.
    """

    def __init__(self, mask, spacing, origin=(0, 0, 0)):
        self.spacing, self.origin = np.asarray(spacing, float), np.asarray(origin)
        padded = np.pad(mask, 1)
        beside = np.zeros_like(padded)
        for axis in range(3):
            here, there = [slice(None)] * 3, [slice(None)] * 3
            here[axis], there[axis] = slice(1, None), slice(None, -1)
            beside[tuple(here)] |= padded[tuple(there)]
            beside[tuple(there)] |= padded[tuple(here)]
        self.tree = cKDTree((np.argwhere(beside & ~padded) - 1) * self.spacing)

    def radius(self, points):
        """Distance of each point (n, 3, in voxels) to the nearest voxel centre outside."""
        return self.tree.query((points - self.origin) * self.spacing)[0]
