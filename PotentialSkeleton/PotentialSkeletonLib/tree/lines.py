"""Lines from the root to each tip, which overlap where they share branches."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from .rooting import Forest

MAX_POINTS = 20_000_000  # of all lines together: about 1 GB with their arrays


@dataclass(frozen=True)
class RootedLine:
    """The way from a root to one tip.

    Attributes
    ----------
    points : ndarray of float, (n, 3)
        Voxels K, J, I.
    radius : ndarray of float, (n,)
        mm.
    branches : tuple of int
        Positions among the forest's branches, from the root on.
    starts : ndarray of int, (branches + 1,)
        Index of the point at which each branch begins, and of the last point.
    root, tip : int
        Nodes.
    """

    points: np.ndarray
    radius: np.ndarray
    branches: tuple
    starts: np.ndarray
    root: int
    tip: int


def root_to_tip_lines(forest: Forest) -> list[RootedLine]:
    """The line from the root to each tip.

    Parameters
    ----------
    forest : Forest

    Returns
    -------
    list of RootedLine
        Tree by tree, depth first. Empty for a forest without branches.

    Raises
    ------
    InputError
        If the lines together would have more than `MAX_POINTS` points.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import rooted_forest, skeleton_of_polylines
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [15, 8, 0]], [[9, 0, 0], [15, -8, 0]]],
    ...     [[2, 2], [1.5, 1], [1.5, 1]],
    ... )
    >>> [line.branches for line in root_to_tip_lines(rooted_forest(fork))]
    [(0, 1), (0, 2)]
    """
    tips = [n for n, branch in enumerate(forest.branches) if not branch.children]
    ways = [way_to(forest, tip) for tip in tips]
    sizes = [len(branch.points) - 1 for branch in forest.branches]
    count = sum(1 + sum(sizes[n] for n in way) for way in ways)
    if count > MAX_POINTS:
        raise InputError(
            _(
                "The lines from the root to {tips:,} tips would have {count:,} points, more "
                "than {most:,}: prune the tree first, or use the network, which has each "
                "branch once."
            ).format(tips=len(tips), count=count, most=MAX_POINTS)
        )
    return [_line(forest, way) for way in ways]


def way_to(forest: Forest, position: int) -> tuple:
    """Positions of the branches from the root to one branch, both included."""
    way = []
    while position >= 0:
        way.append(position)
        position = forest.branches[position].parent
    return tuple(way[::-1])


def _line(forest, way):
    branches = [forest.branches[n] for n in way]
    points = [branches[0].points[:1], *(branch.points[1:] for branch in branches)]
    radius = [branches[0].radius[:1], *(branch.radius[1:] for branch in branches)]
    starts = np.cumsum([0, *(len(branch.points) - 1 for branch in branches)])
    return RootedLine(
        np.concatenate(points), np.concatenate(radius), way, starts,
        branches[0].start, branches[-1].end,
    )  # fmt: skip
