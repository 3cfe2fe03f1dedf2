"""Points of curves, filed by the voxel they lie in, so that later curves find them: compiled."""

import numpy as np
from numba import njit

NEAR = 0.5  # voxels within which a curve ends at a critical point or another curve
TIE = 1e-6  # squared voxels: of two points as near, the one that was filed first counts
NO_POINT = NO_BLOCK = -1
SIDE = 3  # power of 2 of the voxels along the side of a block


def empty_file(shape):
    """A file of points in a volume, as the functions below take it.

    Returns
    -------
    points : ndarray, (n, 3)
    following : ndarray of int, (n,)
        Next point in the same voxel.
    curve_of : ndarray of int, (n,)
    blocks : ndarray of int
        Points lie in few blocks of voxels: only those have room for each voxel's first point.
    first_in : ndarray of int, (blocks, voxels of a block)
    used : ndarray of int, (2,)
        Points and blocks that are used.
    """
    return (
        np.empty((1024, 3)),
        np.empty(1024, np.int64),
        np.empty(1024, np.int64),
        np.full([(n >> SIDE) + 1 for n in shape], NO_BLOCK, np.int32),
        np.empty((16, 1 << 3 * SIDE), np.int32),
        np.zeros(2, np.int64),
    )


@njit(cache=True)
def file_points(points, curve, file):
    """File the points (n, 3) of a curve; the file, whose arrays may be larger than before."""
    filed, following, curve_of, blocks, first_in, used = file
    while used[0] + points.shape[0] > following.size:
        filed = np.concatenate((filed, np.empty_like(filed)))
        following = np.concatenate((following, np.empty_like(following)))
        curve_of = np.concatenate((curve_of, np.empty_like(curve_of)))
    for n in range(points.shape[0]):
        k, j, i = round(points[n, 0]), round(points[n, 1]), round(points[n, 2])
        block = blocks[k >> SIDE, j >> SIDE, i >> SIDE]
        if block == NO_BLOCK:
            if used[1] == first_in.shape[0]:
                first_in = np.concatenate((first_in, np.empty_like(first_in)))
            block = blocks[k >> SIDE, j >> SIDE, i >> SIDE] = used[1]
            first_in[block] = NO_POINT
            used[1] += 1
        voxel, here = within_block(k, j, i), used[0]
        filed[here] = points[n]
        curve_of[here] = curve
        following[here] = first_in[block, voxel]
        first_in[block, voxel] = here
        used[0] += 1
    return filed, following, curve_of, blocks, first_in, used


@njit(cache=True, inline="always")
def within_block(k, j, i):
    last = (1 << SIDE) - 1
    return (k & last) << 2 * SIDE | (j & last) << SIDE | i & last


@njit(cache=True)
def nearest_ahead(place, step, own, shape, file):
    """Index of the nearest filed point but `own` within `NEAR` of a place and not behind it.

    `NO_POINT` if there is none. What lies behind is where a curve comes from, not where it leads.
    """
    filed, following, _, blocks, first_in, _ = file
    best, found = NEAR * NEAR, NO_POINT
    first_k, last_k = max(round(place[0] - NEAR), 0), min(round(place[0] + NEAR), shape[0] - 1)
    first_j, last_j = max(round(place[1] - NEAR), 0), min(round(place[1] + NEAR), shape[1] - 1)
    first_i, last_i = max(round(place[2] - NEAR), 0), min(round(place[2] + NEAR), shape[2] - 1)
    for k in range(first_k, last_k + 1):
        for j in range(first_j, last_j + 1):
            for i in range(first_i, last_i + 1):
                block = blocks[k >> SIDE, j >> SIDE, i >> SIDE]
                if block == NO_BLOCK:
                    continue
                n = first_in[block, within_block(k, j, i)]
                while n >= 0:
                    way_k, way_j = filed[n, 0] - place[0], filed[n, 1] - place[1]
                    way_i = filed[n, 2] - place[2]
                    away = way_k * way_k + way_j * way_j + way_i * way_i
                    if (
                        away < best
                        and n != own
                        and (way_k * step[0] + way_j * step[1] + way_i * step[2] >= 0)
                    ):
                        best, found = away - TIE, n
                    n = following[n]
    return found
