"""Skeletons whose trees are known: forks, loops, and random ones."""

import numpy as np

from PotentialSkeletonLib.tree import skeleton_of_polylines


def straight(start, end, first, last, count=40):
    """Points and radii of a straight tapering branch."""
    return np.linspace(start, end, count), np.linspace(first, last, count)


def skeleton_of(branches, spacing=(1.0, 1.0, 1.0)):
    points, radii = zip(*branches)
    return skeleton_of_polylines(points, radii, spacing)


def fork(spacing=(1.0, 1.0, 1.0)):
    """A trunk of 30 voxels along K and two limbs; the root is node 0, the junction node 1."""
    junction = (30, 50, 50)
    limbs = [
        straight((0, 50, 50), junction, 3, 2.5),
        straight(junction, (55, 70, 50), 2, 1.5),
        straight(junction, (55, 30, 50), 1.8, 1.2),
    ]
    return skeleton_of(limbs, spacing)


def ring_with_handle():
    """Two ends and a loop between nodes 1 and 2, whose branch 1 is the thinner."""
    first, last = (20, 40, 40), (60, 40, 40)
    turn = np.linspace(0, np.pi, 60)
    sides = [
        np.stack([40 - 20 * np.cos(turn), 40 + side * 20 * np.sin(turn), 0 * turn + 40], axis=1)
        for side in (1, -1)
    ]
    for side in sides:
        side[0], side[-1] = first, last
    thin = np.full(60, 1.5)
    thin[30] = 0.5
    return skeleton_of(
        [
            straight((0, 40, 40), first, 3, 3),
            (sides[0], thin),
            (sides[1], np.full(60, 1.2)),
            straight(last, (80, 40, 40), 1.5, 1.2),
        ]
    )


def closed_ring(radius=1.5):
    turn = np.linspace(0, 2 * np.pi, 100)
    points = np.stack([20 * np.cos(turn) + 30, 20 * np.sin(turn) + 30, 0 * turn + 5], axis=1)
    points[-1] = points[0]
    return skeleton_of([(points, np.full(100, radius))])


def random_tree(seed, length=(8, 14), levels=3):
    """A tree of gently bent branches, so many radii long, two or three at each junction."""
    rng = np.random.default_rng(seed)
    branches = []

    def grow(start, direction, radius, level):
        reach = radius * rng.uniform(*length)
        count = int(reach / (0.5 * min(radius, 2))) + 2
        bend = np.cross(direction, rng.normal(size=3))
        bend /= np.linalg.norm(bend)
        along = np.linspace(0, 1, count)[:, None]
        points = start + along * reach * direction
        points += bend * reach * 0.08 * np.sin(np.pi * along) ** 2
        branches.append((points, np.linspace(radius, 0.9 * radius, count)))
        if level == 0:
            return
        number = 2 if rng.random() < 0.8 else 3
        side = np.cross(direction, rng.normal(size=3))
        side /= np.linalg.norm(side)
        other, turn = np.cross(direction, side), rng.uniform(0, 2 * np.pi)
        for n in range(number):
            angle = turn + 2 * np.pi * n / number
            tilt = np.deg2rad(rng.uniform(30, 55))
            across = np.cos(angle) * side + np.sin(angle) * other
            child = np.cos(tilt) * direction + np.sin(tilt) * across
            grow(points[-1], child, 0.9 * radius * rng.uniform(0.6, 0.85), level - 1)

    grow(np.zeros(3), np.array([1.0, 0, 0]), 4.0, levels)
    return skeleton_of(branches)


OBLIQUE = np.array(
    [[0.0, -1.2, 0.0, 15.0], [0.8, 0.0, 0.0, -40.0], [0.0, 0.0, 2.0, 7.0], [0, 0, 0, 1]]
)  # from I, J, K; voxels of 0.8 x 1.2 x 2 mm
OBLIQUE_SPACING = (2.0, 1.2, 0.8)  # K, J, I
