"""From voxels of all components to nodes and smooth branches with radii."""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .curve_skeleton import END, ISOLATED, JUNCTION, LOOP, Branch, Node
from .voxel_graph import VoxelGraph

SMOOTHING_PASSES = 4  # of (1, 2, 1) / 4 over a branch: a Gaussian of 1.4 points
SAME_POSITION = 1e-3  # voxels
# Of the lower or the upper corner along each axis; (3, 1, 8).
CHOICES = np.array(list(np.ndindex(2, 2, 2)), bool).T[:, None]
ON_FACE = 1e-6  # voxels from the face between two voxels


class SkeletonGraph(NamedTuple):
    """Nodes, branches, and the voxels (n, 3) of all components, in voxels of the volume."""

    nodes: list[Node]
    branches: list[Branch]
    voxels: np.ndarray


def skeleton_graph(
    voxels: np.ndarray,
    positions: np.ndarray,
    component: np.ndarray,
    mask: np.ndarray,
    radius_at: Callable[[np.ndarray], np.ndarray],
    progress: Progress,
) -> SkeletonGraph:
    """The graph of thin voxels.

    Parameters
    ----------
    voxels : ndarray of int, (n, 3)
        K, J, I.
    positions : ndarray of float, (n, 3)
        Where the skeleton passes in each voxel.
    component : ndarray of int, (n,)
        Number of each voxel's component, from 1.
    mask : ndarray, shape (K, J, I)
        Not 0 in the object.
    radius_at : callable
        ``radius_at(points)`` in mm, of points (m, 3).
    progress : Progress
    """
    order = np.argsort(np.ravel_multi_index(voxels.T, mask.shape))
    voxels, positions, component = voxels[order], positions[order], component[order]
    graph = VoxelGraph(voxels, progress)
    own = node_positions(graph, positions, mask)
    curves = branch_points(graph, positions, own, mask)
    progress.check()
    found = radius_at(np.concatenate([own, *curves]))
    radii = parted(found, [len(own), *map(len, curves)])
    progress.check()
    numbers = [int(component[members[0]]) for members in graph.nodes]
    branches = [
        Branch(points, radius, first, last, numbers[first])
        for (first, _, last), points, radius in zip(graph.chains, curves, radii[1:])
    ]
    degrees = np.bincount(
        [node for first, _, last in graph.chains for node in (first, last)],
        minlength=len(graph.nodes),
    )
    nodes = [
        Node(position, _kind(degree), float(radius), number)
        for position, degree, radius, number in zip(own, degrees, radii[0], numbers)
    ]
    return SkeletonGraph(nodes, branches, voxels)


def _kind(degree: int) -> str:
    if degree == 0:
        return ISOLATED
    if degree == 1:
        return END
    return JUNCTION if degree > 2 else LOOP


def node_positions(graph: VoxelGraph, positions: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Position of each node: the mean of its voxels' positions if that is inside the object."""
    counts = np.array([len(voxels) for voxels in graph.nodes])
    own = positions[list(chain.from_iterable(graph.nodes))]
    node = np.repeat(np.arange(len(counts)), counts)
    sums = [np.bincount(node, along, len(counts)) for along in own.T]
    means = np.stack(sums, axis=1) / counts[:, None]
    for number in np.flatnonzero(~is_inside(means, mask)):
        own = positions[graph.nodes[number]]
        means[number] = own[np.argmin(((own - means[number]) ** 2).sum(axis=1))]
    return means


def branch_points(
    graph: VoxelGraph, positions: np.ndarray, nodes: np.ndarray, mask: np.ndarray
) -> list[np.ndarray]:
    """Points (n, 3) in voxels of each chain, from node to node, smooth and in the object.

    The chains are worked on together, one behind the other.
    """
    if not graph.chains:
        return []
    counts = np.array([len(voxels) + 2 for _, voxels, _ in graph.chains])
    last = np.cumsum(counts) - 1
    first = last - counts + 1
    is_end = np.zeros(last[-1] + 1, bool)
    is_end[first] = is_end[last] = True
    rough = np.empty((len(is_end), 3))
    rough[first] = nodes[[node for node, _, _ in graph.chains]]
    rough[last] = nodes[[node for _, _, node in graph.chains]]
    rough[~is_end] = positions[list(chain.from_iterable(voxels for _, voxels, _ in graph.chains))]
    points = smoothed(rough, is_end)
    outside = ~is_inside(points, mask)
    points[outside] = rough[outside]
    keep = is_new(points, first, last)
    return parted(points[keep], np.add.reduceat(keep.astype(int), first).tolist())


def parted(values: np.ndarray, counts: Sequence[int]) -> list[np.ndarray]:
    """Values in parts of so many each; `np.split` takes four times as long for short ones."""
    return [values[first:last] for first, last in pairwise(accumulate(counts, initial=0))]


def smoothed(points: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Polylines after passes of (1, 2, 1) / 4 over all points that are not fixed, as their ends."""
    points = points.copy()
    inner, moves = points[1:-1], ~fixed[1:-1, None]
    for _ in range(SMOOTHING_PASSES):
        np.copyto(inner, (points[:-2] + 2 * inner + points[2:]) / 4, where=moves)
    return points


def is_inside(points: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Whether each point (n, 3) lies in voxels of the object; between voxels, in all of them."""
    along = np.ascontiguousarray(points.T)
    low = np.ceil(along - 0.5 - ON_FACE).astype(np.int64)
    high = np.floor(along + 0.5 + ON_FACE).astype(np.int64)
    inside = are_of(low, mask)
    between = np.flatnonzero((low != high).any(axis=0))
    corners = np.where(CHOICES, high[:, between, None], low[:, between, None])
    inside[between] = are_of(corners, mask).all(axis=1)
    return inside


def are_of(voxels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Whether each voxel (3, ...) is one of the object; none beyond the mask is."""
    sides = np.array(mask.shape).reshape(3, *[1] * (voxels.ndim - 1))
    found = np.logical_and.reduce((voxels >= 0) & (voxels < sides))
    found[found] = mask[tuple(voxels[:, found])] != 0
    return found


def is_new(points: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Which points of polylines to keep: the first, the last, and no other at the point before.

    `first` and `last` are the indices of the polylines' ends.
    """
    distance = np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1))
    keep = np.concatenate([[True], distance > SAME_POSITION])
    keep[first] = keep[last] = True
    repeated = last[(last - first > 1) & (distance[last - 1] <= SAME_POSITION)]
    keep[repeated - 1] = False
    return keep
