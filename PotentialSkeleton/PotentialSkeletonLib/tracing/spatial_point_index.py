"""Spatial index of curve points: later curves find the nearest point of earlier ones.

A sparse grid: blocks of voxels are allocated where points are, and each voxel holds a linked list
of its points.
"""

from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside, inlined
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled

NEAR = 0.5  # voxels within which a curve ends at a critical point or another curve
TIE = 1e-6  # squared voxels: of two points as near, the one that was inserted first counts
NO_POINT = NO_BLOCK = -1
SIDE = 3  # log2 of the voxels along the side of a block


class PointIndex(NamedTuple):
    """The index's arrays; compiled functions return it anew, as the arrays may have grown.

    Attributes
    ----------
    points : ndarray, (n, 3)
    following : ndarray of int, (n,)
        Next point in the same voxel.
    curve_of : ndarray of int, (n,)
    blocks : ndarray of int, (k, j, i)
        Number of each block, `NO_BLOCK` where it holds no point.
    first_in : ndarray of int, (blocks, voxels of a block)
    used : ndarray of int, (2,)
        Points and blocks in use.
    """

    points: np.ndarray
    following: np.ndarray
    curve_of: np.ndarray
    blocks: np.ndarray
    first_in: np.ndarray
    used: np.ndarray


def empty_index(shape: tuple[int, ...]) -> PointIndex:
    """Index of no points in a volume."""
    return PointIndex(
        np.empty((1024, 3)),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.full([(n >> SIDE) + 1 for n in shape], NO_BLOCK, np.int32),
        np.empty((16, 1 << 3 * SIDE), np.int32),
        np.zeros(2, np.int64),
    )


@compiled
def insert_points(new_points: np.ndarray, curve: int, index: PointIndex) -> PointIndex:
    """Insert the points (n, 3) of a curve; returns the index."""
    points, following, curve_of, blocks, first_in, used = index
    while used[0] + new_points.shape[0] > following.size:
        points, following, curve_of = doubled(points), doubled(following), doubled(curve_of)
    for n in range(new_points.shape[0]):
        k, j, i = round(new_points[n, 0]), round(new_points[n, 1]), round(new_points[n, 2])
        block = blocks[k >> SIDE, j >> SIDE, i >> SIDE]
        if block == NO_BLOCK:
            if used[1] == first_in.shape[0]:
                first_in = doubled(first_in)
            block = blocks[k >> SIDE, j >> SIDE, i >> SIDE] = used[1]
            for voxel in range(first_in.shape[1]):
                first_in[block, voxel] = NO_POINT
            used[1] += 1
        voxel, here = within_block(k, j, i), used[0]
        for axis in range(3):
            points[here, axis] = new_points[n, axis]
        curve_of[here] = curve
        following[here] = first_in[block, voxel]
        first_in[block, voxel] = here
        used[0] += 1
    return PointIndex(points, following, curve_of, blocks, first_in, used)


@inlined
def within_block(k: int, j: int, i: int) -> int:
    last = (1 << SIDE) - 1
    return (k & last) << 2 * SIDE | (j & last) << SIDE | i & last


@compiled_inside
def nearest_ahead(
    position: np.ndarray, step: np.ndarray, own: int, shape: tuple[int, ...], index: PointIndex
) -> int:
    """Number of the nearest point but `own` within `NEAR` of a position and not behind it.

    `NO_POINT` if there is none. What lies behind is where a curve comes from, not where it leads.
    """
    points, following, _, blocks, first_in, _ = index
    best, found = NEAR * NEAR, NO_POINT
    low_k, high_k = max(round(position[0] - NEAR), 0), min(round(position[0] + NEAR), shape[0] - 1)
    low_j, high_j = max(round(position[1] - NEAR), 0), min(round(position[1] + NEAR), shape[1] - 1)
    low_i, high_i = max(round(position[2] - NEAR), 0), min(round(position[2] + NEAR), shape[2] - 1)
    for k in range(low_k, high_k + 1):
        for j in range(low_j, high_j + 1):
            for i in range(low_i, high_i + 1):
                block = blocks[k >> SIDE, j >> SIDE, i >> SIDE]
                if block == NO_BLOCK:
                    continue
                n = first_in[block, within_block(k, j, i)]
                while n >= 0:
                    away_k, away_j = points[n, 0] - position[0], points[n, 1] - position[1]
                    away_i = points[n, 2] - position[2]
                    squared = away_k * away_k + away_j * away_j + away_i * away_i
                    if (
                        squared < best
                        and n != own
                        and (away_k * step[0] + away_j * step[1] + away_i * step[2] >= 0)
                    ):
                        best, found = squared - TIE, n
                    n = following[n]
    return found
