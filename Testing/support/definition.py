"""Fuzzy connectedness from its definitions, for tiny volumes: no solver shares its code."""

import heapq

import numpy as np

# Levels are integers; a point's own connectedness is above that of every path.
POINT = 65536


class Graph:
    """Voxels and the levels of the edges between them, 0 where there is none."""

    def __init__(self, first, second, levels, count):
        self.edges = [[] for _ in range(count)]
        for a, b, level in zip(map(int, first), map(int, second), map(int, levels)):
            if level:
                self.edges[a].append((b, level))
                self.edges[b].append((a, level))

    def connectedness(self, points, blocked=()):
        """Of all voxels, by paths from the points that keep out of blocked voxels."""
        values = [0] * len(self.edges)
        heap = [(-POINT, int(point)) for point in points]
        for _, point in heap:
            values[point] = POINT
        heapq.heapify(heap)
        blocked = set(map(int, blocked))
        while heap:
            value, voxel = heapq.heappop(heap)
            if -value < values[voxel]:
                continue
            for other, level in self.edges[voxel]:
                reached = min(-value, level)
                if reached > values[other] and other not in blocked:
                    values[other] = reached
                    heapq.heappush(heap, (-reached, other))
        return np.array(values)

    def relative(self, groups):
        """Values of all groups, shape (n, voxels), and for each the voxels that it has."""
        values = np.array([self.connectedness(points) for points in groups])
        return values, [_above_others(values, g) for g in range(len(groups))]

    def iterative(self, groups):
        """The same by rounds: what a group has, the others' paths avoid."""
        values, has = self.relative(groups)
        while True:
            now = []
            for g in range(len(groups)):
                blocked = np.flatnonzero(has[g])
                against = [self.connectedness(points, blocked) for points in groups]
                against[g] = values[g]
                now.append(_above_others(np.array(against), g))
            assert all((new | old == new).all() for new, old in zip(now, has)), "it only grows"
            if all(map(np.array_equal, now, has)):
                return values, has
            has = now


def _above_others(values, g):
    return values[g] > np.delete(values, g, 0).max(0, initial=0)


def grid_pairs(shape):
    """All pairs of 6-neighbours as two arrays of flat indices."""
    index = np.arange(np.prod(shape)).reshape(shape)
    pairs = [
        (np.delete(index, -1, axis).ravel(), np.delete(index, 0, axis).ravel()) for axis in range(3)
    ]
    return tuple(np.concatenate(side) for side in zip(*pairs))


def graph_of(volume, affinity, cut=0.0, mask=None):
    """The graph of a volume's edges, of at least the cut and within the mask."""
    first, second = grid_pairs(volume.shape)
    levels = affinity.levels(volume.ravel()[first], volume.ravel()[second]).astype(int)
    levels[(levels / 65535).astype(np.float32) < np.float32(cut)] = 0
    if mask is not None:
        levels[(mask.ravel()[first] == 0) | (mask.ravel()[second] == 0)] = 0
    return Graph(first, second, levels, volume.size)
