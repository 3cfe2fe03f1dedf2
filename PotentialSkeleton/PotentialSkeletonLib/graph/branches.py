"""From chains of voxels to smooth branches."""

from itertools import chain

import numpy as np

SMOOTHINGS = 4  # passes of (1, 2, 1) / 4 over a branch: a Gaussian of 1.4 points
SAME_PLACE = 1e-3  # voxels
ON_THE_FACE = 1e-6  # voxels from the face between two voxels


def node_positions(graph, places, mask):
    """Where each node lies: the mean of its voxels' places if that is inside the object."""
    counts = np.array([len(voxels) for voxels in graph.nodes])
    own = places[list(chain.from_iterable(graph.nodes))]
    node = np.repeat(np.arange(len(counts)), counts)
    sums = [np.bincount(node, along, len(counts)) for along in own.T]
    positions = np.stack(sums, axis=1) / counts[:, None]
    for number in np.flatnonzero(~is_inside(positions, mask)):
        own = places[graph.nodes[number]]
        positions[number] = own[np.argmin(((own - positions[number]) ** 2).sum(axis=1))]
    return positions


def branch_points(graph, places, positions, mask):
    """Points (n, 3) in voxels of each chain, from node to node, smooth and in the object; a list.

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
    rough[first] = positions[[node for node, _, _ in graph.chains]]
    rough[last] = positions[[node for _, _, node in graph.chains]]
    rough[~is_end] = places[list(chain.from_iterable(voxels for _, voxels, _ in graph.chains))]
    points = smoothed(rough, is_end)
    outside = ~is_inside(points, mask)
    points[outside] = rough[outside]
    keep = is_new(points, first, last)
    return np.split(points[keep], np.cumsum(np.add.reduceat(keep.astype(int), first))[:-1])


def smoothed(points, stays):
    """Polylines after `SMOOTHINGS` passes of (1, 2, 1) / 4 over all points but those that stay."""
    points = points.copy()
    moves = np.flatnonzero(~stays)
    for _ in range(SMOOTHINGS):
        points[moves] = (points[moves - 1] + 2 * points[moves] + points[moves + 1]) / 4
    return points


def is_inside(points, mask):
    """Whether each point (n, 3) lies in voxels of the object; between voxels, in all of them."""
    inside = np.ones(len(points), bool)
    edges = np.ceil(points - 0.5 - ON_THE_FACE), np.floor(points + 0.5 + ON_THE_FACE)
    edges = [edge.astype(int).T for edge in edges]
    for edge in edges:
        inside &= (edge >= 0).all(axis=0) & (edge < np.array(mask.shape)[:, None]).all(axis=0)
    within = np.flatnonzero(inside)
    edges = [edge[:, within] for edge in edges]
    for k, j, i in np.ndindex(2, 2, 2):
        inside[within] &= mask[edges[k][0], edges[j][1], edges[i][2]] != 0
    return inside


def is_new(points, first, last):
    """Which points of polylines to keep: the first, the last, and no other at the place before.

    `first` and `last` are the indices of the polylines' ends.
    """
    away = np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1))
    keep = np.concatenate([[True], away > SAME_PLACE])
    keep[first] = keep[last] = True
    repeated = last[(last - first > 1) & (away[last - 1] <= SAME_PLACE)]
    keep[repeated - 1] = False
    return keep
