"""From the voxels of a component to nodes and smooth branches with radii."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.jit import compiled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts

from .curve_skeleton import Branch, Node, node_kind
from .voxel_graph import VoxelGraph

SMOOTHING_PASSES = 4  # of (1, 2, 1) / 4 over a branch: a Gaussian of 1.4 points
SAME_POSITION = 1e-3  # voxels
ON_FACE = 1e-6  # voxels from the face between two voxels


def skeleton_graph(
    voxels: np.ndarray,
    positions: np.ndarray,
    mask: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
) -> tuple[list[Node], list[Branch]]:
    """Nodes and branches of the thin voxels (n, 3), ascending, of one component (bool, K, J, I).

    `positions` (n, 3) are where the skeleton passes in each voxel.
    """
    graph = VoxelGraph(voxels, progress)
    places = _node_positions(graph, positions, mask)
    curves = _branch_points(graph, positions, places, mask)
    progress.check()
    found = radius_at(np.concatenate([places, *curves]), mask, spacing)
    own, *radii = np.split(found, np.cumsum([len(places), *map(len, curves)])[:-1])
    branches = [
        Branch(points, radius, first, last, 1)
        for (first, _, last), points, radius in zip(graph.chains, curves, radii)
    ]
    ends = [node for first, _, last in graph.chains for node in (first, last)]
    degrees = np.bincount(np.array(ends, int), minlength=len(places)).tolist()
    nodes = [
        Node(place, node_kind(degree, True), float(radius), 1)
        for place, degree, radius in zip(places, degrees, own)
    ]
    return nodes, branches


def _node_positions(graph: VoxelGraph, positions: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Position of each node: the mean of its voxels' positions if that is inside the object."""
    places = np.array([positions[members].sum(axis=0) / len(members) for members in graph.nodes])
    for number in np.flatnonzero(~is_inside(places, mask)):
        own = positions[graph.nodes[number]]
        places[number] = own[np.argmin(((own - places[number]) ** 2).sum(axis=1))]
    return places


def _branch_points(
    graph: VoxelGraph, positions: np.ndarray, nodes: np.ndarray, mask: np.ndarray
) -> list[np.ndarray]:
    """Points (n, 3) in voxels of each chain, from node to node, smooth and in the object."""
    if not graph.chains:
        return []
    rough = [
        np.concatenate([nodes[[first]], positions[chain].reshape(-1, 3), nodes[[last]]])
        for first, chain, last in graph.chains
    ]
    points, all_rough = np.concatenate([smoothed(each) for each in rough]), np.concatenate(rough)
    outside = ~is_inside(points, mask)
    points[outside] = all_rough[outside]
    return [_distinct(each) for each in np.split(points, np.cumsum([*map(len, rough)])[:-1])]


def smoothed(points: np.ndarray) -> np.ndarray:
    """A polyline after passes of (1, 2, 1) / 4 over all its points but the ends."""
    points = points.copy()
    for _ in range(SMOOTHING_PASSES):
        points[1:-1] = (points[:-2] + 2 * points[1:-1] + points[2:]) / 4
    return points


def _distinct(points: np.ndarray) -> np.ndarray:
    """The ends of a polyline, and of the other points those that are not at the point before."""
    is_new = np.linalg.norm(np.diff(points, axis=0), axis=1) > SAME_POSITION
    stays = np.concatenate([[True], is_new])
    if len(points) > 2 and not is_new[-1]:
        stays[-2] = False
    stays[[0, -1]] = True
    return points[stays]


def is_inside(points: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Whether each point (n, 3) lies in voxels of the object; between voxels, in all of them."""
    low = np.ceil(points - 0.5 - ON_FACE).astype(np.int64)
    high = np.floor(points + 0.5 + ON_FACE).astype(np.int64)
    inside = np.ones(len(points), bool)
    for corner in np.ndindex(2, 2, 2):
        other = np.where(corner, high, low)
        some = np.flatnonzero(inside & ((other != low).any(axis=1) | (not any(corner))))
        at = other[some]
        within = np.logical_and.reduce((at >= 0) & (at < mask.shape), axis=1)
        within[within] = mask[tuple(at[within].T)] != 0
        inside[some] = within
    return inside


# ---- Radii: distances from points inside an object to its border, in mm
# The border is where the nearest voxel centres outside are. On the axis of a round tube of any
# direction, of radius 1 to 8 voxels, that is its radius + 0.17 to 0.02 voxels; half a voxel less
# would be right between flat walls along the grid only.


def radius_at(points: np.ndarray, mask: np.ndarray, spacing: Sequence[float]) -> np.ndarray:
    """Distance (mm) of each point (n, 3), in voxels, to the nearest voxel centre outside an object.

    The object (bool) does not touch the array's border. The nearest voxel outside has one of the
    object at a face: else a step towards the point would be nearer.
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
