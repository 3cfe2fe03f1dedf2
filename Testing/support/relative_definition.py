"""Relative connectedness from its definitions, for tiny volumes: no solver shares its code.

Levels are integers; a point's own connectedness is `POINT`, above that of every path.
"""

import heapq

import numpy as np

POINT = 65536


class Graph:
    """Voxels and the levels of the edges between them, 0 where there is none.

    Parameters
    ----------
    first, second : sequence of int
        The ends of each edge.
    levels : sequence of int
    count : int
        Of voxels.
    """

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
        rounds = 0
        while True:
            rounds += 1
            now = []
            for g in range(len(groups)):
                blocked = np.flatnonzero(has[g])
                against = [self.connectedness(points, blocked) for points in groups]
                against[g] = values[g]
                now.append(_above_others(np.array(against), g))
            assert all((new | old == new).all() for new, old in zip(now, has)), "it only grows"
            if all(map(np.array_equal, now, has)):
                return values, has, rounds
            has = now


def _above_others(values, g):
    return values[g] > np.delete(values, g, 0).max(0, initial=0)


def owners_of(values, has, several):
    """One label a voxel: 0, a group from 1 on, or `several`."""
    owners = np.where(values.max(0) > 0, several, 0)
    for label, voxels in enumerate(has, start=1):
        owners[voxels] = label
    return owners
